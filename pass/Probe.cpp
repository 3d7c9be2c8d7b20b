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

// The largest offset that every target's instruction can hold.
static constexpr unsigned LargestOffset = 0xfff;

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
  unsigned Ours = T.limitWithCounters(CounterPairs);
  if (Limit <= SpecialRegisters || Limit > Ours)
    F.addFnAttr("amdgpu-num-sgpr", utostr(Ours));
  // "At most N waves" asks for more registers than N waves leave to each, and
  // the back end then ignores the limit. Keep the minimum of waves only.
  auto [Least, Most] =
      F.getFnAttribute("amdgpu-waves-per-eu").getValueAsString().split(',');
  if (!Most.empty())
    F.addFnAttr("amdgpu-waves-per-eu", Least);
}

// Where the slot is, is computed here, behind the choice if there is one: a wave
// that is not sampled does not pay for it.
void ProbeEmitter::initState(IRBuilderBase &Builder, const Claim &Slot) const {
  Type *I32 = Builder.getInt32Ty();
  Value *Low = Builder.CreateTrunc(Slot.Slots, I32);
  Value *High = Builder.CreateTrunc(Builder.CreateLShr(Slot.Slots, 32), I32);
  Value *Offset = Builder.CreateMul(Slot.Slot, Slot.SlotBytes);
  SmallVector<Type *, 4> Results{FixedVectorType::get(I32, 4)};
  SmallVector<Value *, 4> Arguments{Low, High, Offset};
  std::string Outputs = "=&{" + T.slot() + "}", Inputs = "s,s,s", Zeros;
  auto Declare = [&](const std::string &Registers, Type *Result) {
    Outputs += ",=&{" + Registers + "}";
    Results.push_back(Result);
  };
  if (HasCursor) {
    Declare(T.cursor(), I32);
    Declare(T.mask(), I32);
    Arguments.push_back(Slot.Mask);
    Inputs += ",s";
  }
  for (unsigned Pair = 0; Pair < CounterPairs; ++Pair) {
    Declare(T.counter(Pair), Builder.getInt64Ty());
    Zeros += "s_mov_b64 " + T.counter(Pair) + ", 0\n\t";
  }
  // Inputs are numbered behind the outputs.
  auto Input = [&](unsigned I) { return "$" + utostr(Results.size() + I); };
  std::string Text =
      "s_add_u32 " + T.slotWord(0) + ", " + Input(0) + ", " + Input(2) +
      "\n\ts_addc_u32 " + T.slotWord(1) + ", " + Input(1) + ", 0\n\t" + Zeros;
  if (HasCursor)
    Text += "s_mov_b32 " + T.mask() + ", " + Input(3) + "\n\ts_mov_b32 " +
            T.cursor() + ", 0\n\t";
  Text += "s_mov_b32 " + T.slotWord(2) + ", -1\n\ts_mov_b32 " + T.slotWord(3) +
          ", 0x" + utohexstr(T.bufferFormat(), /*LowerCase=*/true);
  assembly(Builder,
           Results.size() == 1
               ? Results.front()
               : StructType::get(Builder.getContext(), Results),
           Arguments, Text, Outputs, Inputs);
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
  // Not a ballot: where that is all a vector holds, LLVM 15 puts EXEC in its place.
  Type *I32 = Builder.getInt32Ty();
  Value *Lanes = assembly(Builder, StructType::get(I32, I32), {},
                          std::string("v_mov_b32 $0, exec_lo\n\tv_mov_b32 $1, ") +
                              (T.WaveSize == 64 ? "exec_hi" : "0"),
                          "=v,=v", "");
  Value *Exec[] = {Builder.CreateExtractValue(Lanes, 0),
                   Builder.CreateExtractValue(Lanes, 1)};
  Value *Clocks = words(Builder, {Begin.Cycles, Begin.Ticks});
  Value *Place0 = T.readPlace0(Builder);
  std::string Text =
      T.storeToSlot(4, "$0", "", offsetof(KprobeWaveHeader, BeginCycles)) + "\n\t";
  constexpr unsigned Place = offsetof(KprobeWaveHeader, HardwareId);
  if (T.Place1 < 0) {
    assembly(Builder, Builder.getVoidTy(),
             {Clocks, Place0, words(Builder, Exec)},
             Text + T.storeToSlot(1, "$1", "", Place) + "\n\t" +
                 T.storeToSlot(2, "$2", "",
                               offsetof(KprobeWaveHeader, BeginExec)),
             "", "v,v,v");
    return;
  }
  // What a wide store without an offset in a register stores must not change in
  // the next instruction.
  assembly(Builder, Builder.getVoidTy(),
           {Clocks, words(Builder, {Place0, T.readPlace1(Builder), Exec[0],
                                    Exec[1]})},
           Text + T.storeToSlot(4, "$1", "", Place) + "\n\ts_nop 0", "", "v,v");
}

void ProbeEmitter::waveEnded(IRBuilderBase &Builder, WaveClocks End) const {
  std::string Text =
      T.storeToSlot(4, "$0", "", offsetof(KprobeWaveHeader, EndCycles));
  SmallVector<Value *, 2> Inputs{words(Builder, {End.Cycles, End.Ticks})};
  if (HasCursor) {
    Inputs.push_back(assembly(Builder, Builder.getInt32Ty(), {},
                              "v_mov_b32 $0, " + T.cursor(), "=v", ""));
    Text += "\n\t" + T.storeToSlot(1, "$1", "", offsetof(KprobeWaveHeader, Cursor));
  }
  assembly(Builder, Builder.getVoidTy(), Inputs, Text, "",
           HasCursor ? "v,v" : "v");
}

// The high word of an event, and the cursor where that is its low one (or null),
// in vector registers. Constants are in the text: out of a loop they would cost
// registers, and without one the texts of two sites would be alike, and one of them
// removed.
std::pair<Value *, Value *> ProbeEmitter::readTag(IRBuilderBase &Builder,
                                                  unsigned Kind,
                                                  unsigned Site) const {
  Type *I32 = Builder.getInt32Ty();
  bool AllLanes = Kind & KPROBE_EVENT_ALL_LANES;
  bool NeedsCursor = HasCursor && Kind & KPROBE_EVENT_UNTIMED;
  bool Wide = T.WaveSize == 64;
  std::string Outputs = "=v";
  SmallVector<Type *, 3> Results{I32};
  auto Add = [&](const char *Output) {
    Outputs += std::string(",") + Output;
    Results.push_back(I32);
    return "$" + utostr(Results.size() - 1);
  };
  std::string Text;
  if (AllLanes) {
    Text = "v_mov_b32 $0, " + utostr(KPROBE_TAG_WHOLE(Kind, Site));
  } else {
    std::string Lanes = Add("=&s");
    Text = (Twine("s_bcnt1_i32_") + (Wide ? "b64 " : "b32 ") + Lanes + ", exec" +
            (Wide ? "" : "_lo") + "\n\ts_lshl4_add_u32 " + Lanes + ", " + Lanes +
            ", " + Twine(KPROBE_TAG_BASE(Kind, Site)) + "\n\tv_mov_b32 $0, " +
            Lanes)
               .str();
  }
  if (NeedsCursor)
    Text += "\n\tv_mov_b32 " + Add("=v") + ", " + T.cursor();
  if (Results.size() == 1)
    return {assembly(Builder, I32, {}, Text, Outputs, ""), nullptr};
  Value *Result =
      assembly(Builder, StructType::get(Builder.getContext(), Results), {}, Text,
               Outputs, "");
  return {Builder.CreateExtractValue(Result, 0),
          NeedsCursor ? Builder.CreateExtractValue(Result, Results.size() - 1)
                      : nullptr};
}

void ProbeEmitter::commit(IRBuilderBase &Builder,
                          const ProbeEvent &Event) const {
  unsigned Kind = KPROBE_EVENT_BLOCK |
                  (Event.Clock ? 0 : KPROBE_EVENT_UNTIMED) |
                  (Event.AllLanes ? KPROBE_EVENT_ALL_LANES : 0);
  auto [Tag, Low] = readTag(Builder, Kind, Event.Site);
  if (Event.Clock)
    Low = Builder.CreateZExtOrTrunc(Event.Clock, Builder.getInt32Ty());
  else if (!Low)
    Low = PoisonValue::get(Builder.getInt32Ty());
  store(Builder, Event, words(Builder, {Low, Tag}));
}

void ProbeEmitter::store(IRBuilderBase &Builder, const ProbeEvent &Event,
                         Value *Data) const {
  Type *I32 = Builder.getInt32Ty();
  SmallVector<Value *, 3> Inputs;
  std::string Constraints;
  auto Need = [&](Value *Input, const char *Constraint) {
    Inputs.push_back(Input);
    Constraints += (Constraints.empty() ? "" : ",") + std::string(Constraint);
  };
  // Not with vector inputs: the state would be taken for one value a lane.
  assert(!(Event.InSight && Event.Behind) &&
         "a visible store cannot wait for a value");
  if (!Event.InSight)
    Need(Data, "v");
  // The clock is an input although the text does not read it: both its halves
  // then live up to here, or the dead upper one would be reused at once, at
  // the price of a wait.
  if (Event.Clock)
    Need(Event.Clock, "s");
  if (Event.Behind)
    Need(Event.Behind, "v");
  // Where to: a constant and, for what is in a register, its name and the text
  // that computes it.
  unsigned Constant = sizeof(KprobeWaveHeader);
  std::string Advance;
  if (Event.Place == ProbeEvent::AtCursor) {
    // With the mask as the last place of all, what comes too late to be kept
    // comes there.
    Advance = (Mode == KPROBE_MODE_DROP ? "s_min_u32" : "s_and_b32") +
              std::string(" $0, ") + T.cursor() + ", " + T.mask() +
              "\n\ts_add_u32 " + T.cursor() + ", " + T.cursor() + ", 8\n\t";
  } else {
    static_assert(sizeof(KprobeEvent) == sizeof(KprobeCounter),
                  "events and counters have the same places");
    Constant += Event.Place * sizeof(KprobeEvent);
    if (unsigned High = Constant & ~LargestOffset) {
      Constant &= LargestOffset;
      Advance = "s_mov_b32 $0, " + utostr(High) + "\n\t";
    }
  }
  bool InRegister = !Advance.empty();
  if (!Event.InSight) {
    StringRef Operand = InRegister ? "$1" : "$0";
    assembly(Builder, InRegister ? I32 : Builder.getVoidTy(), Inputs,
             Advance +
                 T.storeToSlot(2, Operand, InRegister ? "$0" : "", Constant),
             InRegister ? "=&s" : "", Constraints);
    return;
  }
  // The resource is used where it is. The comment keeps the texts of two sites from
  // being alike (readTag).
  auto *Resource = FixedVectorType::get(I32, 4);
  std::string Output = "={" + T.slot() + "}";
  Value *State =
      InRegister
          ? assembly(Builder, StructType::get(I32, Resource), Inputs,
                     StringRef(Advance).rtrim(), "=&s," + Output, Constraints)
          : assembly(Builder, Resource, Inputs, "; site " + Twine(Event.Site),
                     Output, Constraints);
  Value *Offset = Builder.getInt32(0);
  if (InRegister) {
    Offset = Builder.CreateExtractValue(State, 0);
    State = Builder.CreateExtractValue(State, 1);
  }
  Builder.CreateIntrinsic(Intrinsic::amdgcn_raw_buffer_store,
                          ArrayRef<Type *>{Data->getType()},
                          ArrayRef<Value *>{Data, State,
                                            Builder.getInt32(Constant), Offset,
                                            Builder.getInt32(0)});
}

static constexpr unsigned VisitsInHigh = 1u
                                         << (KPROBE_COUNTER_VISITS_SHIFT - 32);

static std::string countLanes(const Target &T, const char *To) {
  return std::string("s_bcnt1_i32_") + (T.WaveSize == 64 ? "b64 " : "b32 ") + To +
         (T.WaveSize == 64 ? ", exec" : ", exec_lo") + "\n\t";
}

// What a visit adds, in vector registers. The comment, here and below, keeps the
// texts of two sites from being alike (readTag).
Value *ProbeEmitter::readVisit(IRBuilderBase &Builder, unsigned Site) const {
  Type *I32 = Builder.getInt32Ty();
  Value *Parts = assembly(Builder, StructType::get(I32, I32, I32), {},
                          countLanes(T, "$2") +
                              "v_mov_b32 $0, $2\n\tv_mov_b32 $1, " +
                              utostr(VisitsInHigh) + "\n\t; site " +
                              utostr(Site),
                          "=&v,=v,=&s", "");
  return words(Builder, {Builder.CreateExtractValue(Parts, 0),
                         Builder.CreateExtractValue(Parts, 1)});
}

void ProbeEmitter::countInMemory(IRBuilderBase &Builder, unsigned Site) const {
  Type *I32 = Builder.getInt32Ty();
  Value *Data = readVisit(Builder, Site);
  unsigned Constant = sizeof(KprobeWaveHeader) + Site * sizeof(KprobeCounter);
  unsigned InRegister = Constant & ~LargestOffset;
  Type *Saved = Builder.getIntNTy(T.WaveSize);
  std::string Text;
  if (InRegister)
    Text = "s_mov_b32 $2, " + utostr(InRegister) + "\n\t";
  assembly(Builder, StructType::get(Saved, I32, I32), {Data},
           Text + T.addToSlot("$3", InRegister ? "$2" : "",
                              Constant - InRegister, "$0", "$1"),
           "=&s,=&s,=&s", "v");
}

void ProbeEmitter::countOnce(IRBuilderBase &Builder,
                             const ProbeEvent &Visit) const {
  store(Builder, Visit, readVisit(Builder, Visit.Place));
}

void ProbeEmitter::countInRegisters(IRBuilderBase &Builder, unsigned Pair,
                                    unsigned Site) const {
  std::string Low = T.counterWord(Pair, 0), High = T.counterWord(Pair, 1);
  assembly(Builder, Builder.getInt32Ty(), {},
           countLanes(T, "$0") + "s_add_u32 " + Low + ", " + Low +
               ", $0\n\ts_addc_u32 " + High + ", " + High + ", " +
               utostr(VisitsInHigh) + "\n\t; site " + utostr(Site),
           "=&s", "");
}

void ProbeEmitter::storeCounter(IRBuilderBase &Builder, unsigned Pair,
                                unsigned Site) const {
  Type *I32 = Builder.getInt32Ty();
  Value *Parts = assembly(Builder, StructType::get(I32, I32), {},
                          "v_mov_b32 $0, " + T.counterWord(Pair, 0) +
                              "\n\tv_mov_b32 $1, " + T.counterWord(Pair, 1) +
                              "\n\t; site " + utostr(Site),
                          "=v,=v", "");
  ProbeEvent Visits;
  Visits.Place = Site;
  store(Builder, Visits,
        words(Builder, {Builder.CreateExtractValue(Parts, 0),
                        Builder.CreateExtractValue(Parts, 1)}));
}

} // namespace kprobe
