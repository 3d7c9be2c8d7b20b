// Emission of probes as inline assembly.
//
// The state lives in reserved scalar registers and nowhere else: an SSA value
// would be one per lane, and a cursor that both arms of a divergent branch
// advance must advance twice. In kernels the assembly that sets the state
// declares its registers as outputs, so that the kernel descriptor counts them;
// in functions nothing does, because a function that "changes" callee-saved
// registers would restore them on return, and its events with them.
//
// The stores are inside the assembly too, out of the compiler's sight. It need
// not wait for them, at barriers for example, and does not take them for a
// reason to load the program's data in another way. What is in flight unseen can
// make the compiler's waits for loads longer, never too short: counters of
// outstanding memory operations are waited for to fall. Where that would be
// felt, because loads and stores share a counter and a load is in flight, the
// store is the compiler's own.
#include "Probe.h"
#include "kprobe/wire.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/CallingConv.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

using namespace llvm;

namespace kprobe {

CallInst *ProbeEmitter::assembly(IRBuilderBase &Builder, Type *Result,
                                 ArrayRef<Value *> Arguments, const Twine &Text,
                                 StringRef Outputs, StringRef Inputs) const {
  SmallVector<Type *, 4> Types;
  for (Value *Argument : Arguments)
    Types.push_back(Argument->getType());
  std::string Constraints;
  for (StringRef Part : {Outputs, Inputs, StringRef("~{scc}")})
    if (!Part.empty())
      Constraints += (Constraints.empty() ? "" : ",") + Part.str();
  InlineAsm *Asm = InlineAsm::get(FunctionType::get(Result, Types, false),
                                  Text.str(), Constraints,
                                  /*hasSideEffects=*/true);
  CallInst *Call = Builder.CreateCall(Asm, Arguments);
  // Convergent: never duplicated into, or merged from, the arms of a branch.
  // No memory: none that the program could see.
  Call->addFnAttr(Attribute::Convergent);
  Call->addFnAttr(Attribute::NoUnwind);
  Call->setDoesNotAccessMemory();
  return Call;
}

void ProbeEmitter::reserveState(Function &F) const {
  // A lower limit that the user set reserves these registers as well.
  unsigned Limit = 0;
  F.getFnAttribute("amdgpu-num-sgpr").getValueAsString().getAsInteger(0, Limit);
  constexpr unsigned SpecialRegisters = 6;
  if (Limit <= SpecialRegisters || Limit > T.StateLimit)
    F.addFnAttr("amdgpu-num-sgpr", utostr(T.StateLimit));
  // "At most N waves" asks for more registers than N waves leave to each, and
  // the back end then ignores the limit. Keep the minimum of waves only.
  auto [Least, Most] =
      F.getFnAttribute("amdgpu-waves-per-eu").getValueAsString().split(',');
  if (!Most.empty())
    F.addFnAttr("amdgpu-waves-per-eu", Least);
}

// Where the slot is, is computed here, behind the choice: a wave that is not
// sampled does not pay for it.
void ProbeEmitter::initState(IRBuilderBase &Builder, const Claim &Slot) const {
  Type *I32 = Builder.getInt32Ty();
  Value *Address = Builder.CreateAdd(
      Slot.Slots,
      Builder.CreateZExt(Builder.CreateMul(Slot.Slot, Slot.SlotBytes),
                         Builder.getInt64Ty()));
  assembly(Builder, StructType::get(FixedVectorType::get(I32, 4), I32, I32),
           {Address, Slot.Mask},
           "s_mov_b64 " + T.slotAddress() + ", $3\n\ts_mov_b32 " + T.mask() +
               ", $4\n\ts_mov_b32 " + T.cursor() + ", 0\n\ts_mov_b32 " +
               T.slotWord(2) + ", -1\n\ts_mov_b32 " + T.slotWord(3) + ", 0x" +
               utohexstr(T.bufferFormat(), /*LowerCase=*/true),
           "=&{" + T.slot() + "},=&{" + T.cursor() + "},=&{" + T.mask() + "}",
           "s,s");
}

WaveClocks ProbeEmitter::readWaveClocks(IRBuilderBase &Builder) const {
  // Next to one another: the decoder takes them for one instant.
  Value *Cycles = T.readCycles(Builder);
  return {Cycles, T.Ticks == T.Cycles ? Cycles : T.readTicks(Builder)};
}

// Values of one or two words each as a vector of words.
static Value *words(IRBuilderBase &Builder, ArrayRef<Value *> Values) {
  SmallVector<Value *, 4> Parts;
  Type *I32 = Builder.getInt32Ty();
  for (Value *V : Values) {
    Parts.push_back(Builder.CreateTrunc(V, I32));
    if (V->getType()->isIntegerTy(64))
      Parts.push_back(Builder.CreateTrunc(Builder.CreateLShr(V, 32), I32));
  }
  Value *Vector = PoisonValue::get(FixedVectorType::get(I32, Parts.size()));
  for (unsigned I = 0; I < Parts.size(); ++I)
    Vector = Builder.CreateInsertElement(Vector, Parts[I], uint64_t(I));
  return Vector;
}

void ProbeEmitter::waveBegun(IRBuilderBase &Builder, WaveClocks Begin) const {
  Type *Lanes = Builder.getIntNTy(T.WaveSize);
  Value *Exec = Builder.CreateZExt(
      Builder.CreateIntrinsic(Intrinsic::amdgcn_ballot, ArrayRef<Type *>{Lanes},
                              ArrayRef<Value *>{Builder.getTrue()}),
      Builder.getInt64Ty());
  // The cursor is zero here. With it as offset the stores do not delay a
  // change of their data (a hazard of wide stores without one).
  assembly(Builder, Builder.getVoidTy(),
           {words(Builder, {Begin.Cycles, Begin.Ticks}),
            words(Builder, {T.readPlace0(Builder), T.readPlace1(Builder), Exec})},
           T.storeToSlot(4, "$0", T.cursor(),
                         offsetof(KprobeWaveHeader, BeginCycles)) +
               "\n\t" +
               T.storeToSlot(4, "$1", T.cursor(),
                             offsetof(KprobeWaveHeader, HardwareId)),
           "", "v,v");
}

void ProbeEmitter::waveEnded(IRBuilderBase &Builder, WaveClocks End) const {
  Value *Cursor = assembly(Builder, Builder.getInt32Ty(), {},
                           "v_mov_b32 $0, " + T.cursor(), "=v", "");
  assembly(Builder, Builder.getVoidTy(),
           {words(Builder, {End.Cycles, End.Ticks}), Cursor},
           T.storeToSlot(4, "$0", "", offsetof(KprobeWaveHeader, EndCycles)) +
               "\n\t" +
               T.storeToSlot(1, "$1", "", offsetof(KprobeWaveHeader, Cursor)),
           "", "v,v");
}

// The high word of an event, and the low one where that is not a clock, in vector
// registers. Constants are in the text: out of a loop they would cost registers,
// and without one the texts of two sites would be alike, and one of them removed.
std::pair<Value *, Value *> ProbeEmitter::readTag(IRBuilderBase &Builder,
                                                  unsigned Kind,
                                                  unsigned Site) const {
  Type *I32 = Builder.getInt32Ty();
  bool AllLanes = Kind & KPROBE_EVENT_ALL_LANES;
  bool Wide = T.WaveSize == 64;
  std::string Text;
  if (AllLanes)
    Text = "v_mov_b32 $0, " + utostr(KPROBE_TAG_WHOLE(Kind, Site));
  else
    Text = (Twine("s_bcnt1_i32_") + (Wide ? "b64" : "b32") + " $2, exec" +
            (Wide ? "" : "_lo") + "\n\ts_lshl4_add_u32 $2, $2, " +
            Twine(KPROBE_TAG_BASE(Kind, Site)) + "\n\tv_mov_b32 $0, $2")
               .str();
  if (Kind & KPROBE_EVENT_UNTIMED)
    Text += "\n\tv_mov_b32 $1, " + T.cursor();
  SmallVector<Type *, 3> Results(AllLanes ? 2 : 3, I32);
  Value *Result = assembly(Builder, StructType::get(Builder.getContext(), Results),
                           {}, Text, AllLanes ? "=v,=v" : "=v,=v,=&s", "");
  return {Builder.CreateExtractValue(Result, 0),
          Builder.CreateExtractValue(Result, 1)};
}

void ProbeEmitter::commit(IRBuilderBase &Builder, Value *Clock, unsigned Site,
                          bool AllLanes, bool InSight,
                          Value *Behind) const {
  unsigned Kind = KPROBE_EVENT_BLOCK | (Clock ? 0 : KPROBE_EVENT_UNTIMED) |
                  (AllLanes ? KPROBE_EVENT_ALL_LANES : 0);
  Type *I32 = Builder.getInt32Ty();
  auto [Tag, Cursor] = readTag(Builder, Kind, Site);
  Value *Low = Clock ? Builder.CreateZExtOrTrunc(Clock, I32) : Cursor;
  Value *Data = words(Builder, {Low, Tag});
  SmallVector<Value *, 3> Inputs;
  std::string Constraints;
  auto Need = [&](Value *Input, const char *Constraint) {
    Inputs.push_back(Input);
    Constraints += (Constraints.empty() ? "" : ",") + std::string(Constraint);
  };
  // Not with vector inputs: the state would be taken for one value a lane.
  assert(!(InSight && Behind) && "a visible store cannot wait for a value");
  if (!InSight)
    Need(Data, "v");
  // The clock is an input although the text does not read it: both its halves
  // then live up to here, or the dead upper one would be reused at once, at
  // the price of a wait.
  if (Clock)
    Need(Clock, "s");
  if (Behind)
    Need(Behind, "v");
  std::string Advance =
      // With the mask as the last place of all, what comes too late to be kept
      // comes there.
      (Mode == KPROBE_MODE_DROP ? "s_min_u32" : "s_and_b32") +
      std::string(" $0, ") + T.cursor() + ", " + T.mask() + "\n\ts_add_u32 " +
      T.cursor() + ", " + T.cursor() + ", 8";
  if (!InSight) {
    assembly(Builder, I32, Inputs,
             Advance + "\n\t" +
                 T.storeToSlot(2, "$1", "$0", sizeof(KprobeWaveHeader)),
             "=&s", Constraints);
    return;
  }
  // The resource is used where it is.
  auto *Resource = FixedVectorType::get(I32, 4);
  Value *State =
      assembly(Builder, StructType::get(I32, Resource), Inputs, Advance,
               "=&s,={" + T.slot() + "}", Constraints);
  Builder.CreateIntrinsic(
      Intrinsic::amdgcn_raw_buffer_store, ArrayRef<Type *>{Data->getType()},
      ArrayRef<Value *>{Data, Builder.CreateExtractValue(State, 1),
                        Builder.getInt32(sizeof(KprobeWaveHeader)),
                        Builder.CreateExtractValue(State, 0),
                        Builder.getInt32(0)});
}

void ProbeEmitter::count(IRBuilderBase &Builder, unsigned SiteOfKernel) const {
  Type *I32 = Builder.getInt32Ty();
  bool Wide = T.WaveSize == 64;
  constexpr unsigned VisitsInHigh = 1u << (KPROBE_COUNTER_VISITS_SHIFT - 32);
  // The comment keeps the texts of two sites from being alike (readTag).
  Value *Parts = assembly(
      Builder, StructType::get(I32, I32, I32), {},
      Twine("s_bcnt1_i32_") + (Wide ? "b64" : "b32") + " $2, exec" +
          (Wide ? "" : "_lo") + "\n\tv_mov_b32 $0, $2\n\tv_mov_b32 $1, " +
          Twine(VisitsInHigh) + "\n\t; site " + Twine(SiteOfKernel),
      "=&v,=v,=&s", "");
  Value *Data = words(Builder, {Builder.CreateExtractValue(Parts, 0),
                                Builder.CreateExtractValue(Parts, 1)});
  unsigned Constant =
      sizeof(KprobeWaveHeader) + SiteOfKernel * sizeof(KprobeCounter);
  // The largest offset that every target's instruction can hold.
  constexpr unsigned Largest = 0xfff;
  unsigned InRegister = Constant > Largest ? Constant & ~Largest : 0;
  Type *Saved = Builder.getIntNTy(T.WaveSize);
  std::string Text;
  if (InRegister)
    Text = "s_mov_b32 $2, " + utostr(InRegister) + "\n\t";
  assembly(Builder, StructType::get(Saved, I32, I32), {Data},
           Text + T.addToSlot("$3", InRegister ? "$2" : "",
                              Constant - InRegister, "$0", "$1"),
           "=&s,=&s,=&s", "v");
}

} // namespace kprobe
