// Emission of probes as inline assembly and a plain store.
//
// The state lives in reserved scalar registers and nowhere else: an SSA value
// would be one per lane, and a cursor that both arms of a divergent branch
// advance must advance twice. The assembly declares the registers it uses as
// outputs, so that the kernel descriptor counts them; it does so in kernels
// only, because a function that "changes" callee-saved registers would restore
// them on return, and its events with them. The kernel's declaration covers
// its callees.
//
// The store stays visible to the compiler, which then knows how many memory
// operations are in flight and waits for no more than it must.
#include "Probe.h"
#include "kprobe/wire.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/CallingConv.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/MDBuilder.h"

using namespace llvm;

namespace kprobe {

TraceMemory::TraceMemory(LLVMContext &Context) {
  MDBuilder Builder(Context);
  MDNode *Domain = Builder.createAnonymousAliasScopeDomain("kprobe");
  Scopes = MDNode::get(
      Context, Builder.createAnonymousAliasScope(Domain, "kprobe.trace"));
}

void TraceMemory::markOwn(Instruction &Store) const {
  Store.setMetadata(LLVMContext::MD_alias_scope, Scopes);
}

void TraceMemory::markForeign(Instruction &Access) const {
  MDNode *Before = Access.getMetadata(LLVMContext::MD_noalias);
  Access.setMetadata(LLVMContext::MD_noalias,
                     MDNode::concatenate(Before, Scopes));
}

static bool isKernel(const IRBuilderBase &Builder) {
  return Builder.GetInsertBlock()->getParent()->getCallingConv() ==
         CallingConv::AMDGPU_KERNEL;
}

static CallInst *assembly(IRBuilderBase &Builder, Type *Result,
                          ArrayRef<Value *> Arguments, const Twine &Text,
                          const Twine &Constraints) {
  SmallVector<Type *, 4> Types;
  for (Value *Argument : Arguments)
    Types.push_back(Argument->getType());
  InlineAsm *Asm =
      InlineAsm::get(FunctionType::get(Result, Types, false), Text.str(),
                     Constraints.str(), /*hasSideEffects=*/true);
  CallInst *Call = Builder.CreateCall(Asm, Arguments);
  // Convergent: never duplicated into, or merged from, the arms of a branch.
  // No memory: the registers are not memory, and a claim to write some would
  // cost the kernel its scalar loads.
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

// Where the ring is, is computed here, behind the choice: a wave that is not
// sampled does not pay for it.
Value *ProbeEmitter::initState(IRBuilderBase &Builder,
                               const Claim &Slot) const {
  Type *Result = StructType::get(Builder.getInt64Ty(), Builder.getInt32Ty(),
                                 Builder.getInt32Ty());
  Value *Header = Builder.getInt32(sizeof(KprobeWaveHeader));
  Value *Stride = Builder.CreateAdd(Slot.RingBytes, Header);
  Type *I64 = Builder.getInt64Ty();
  Value *Ring = Builder.CreateAdd(
      Builder.CreateAdd(Slot.Slots, Builder.CreateZExt(Header, I64)),
      Builder.CreateMul(Builder.CreateZExt(Slot.Slot, I64),
                        Builder.CreateZExt(Stride, I64)));
  Value *Mask = Builder.CreateSub(Slot.RingBytes,
                                  Builder.getInt32(sizeof(KprobeEvent)));
  Value *State = assembly(
      Builder, Result, {Ring, Mask},
      "s_mov_b64 " + T.ring() + ", $3\n\ts_mov_b32 " + T.mask() +
          ", $4\n\ts_mov_b32 " + T.cursor() + ", 0",
      "=&{" + T.ring() + "},=&{" + T.cursor() + "},=&{" + T.mask() + "},s,s");
  return Builder.CreateExtractValue(State, 0);
}

// The ring is used where it is; the cursor is copied.
std::pair<Value *, Value *>
ProbeEmitter::readState(IRBuilderBase &Builder) const {
  Type *Result = StructType::get(Builder.getInt64Ty(), Builder.getInt32Ty());
  Value *State = assembly(Builder, Result, {}, "s_mov_b32 $1, " + T.cursor(),
                          "={" + T.ring() + "},=s");
  return {Builder.CreateExtractValue(State, 0),
          Builder.CreateExtractValue(State, 1)};
}

WaveClocks ProbeEmitter::readWaveClocks(IRBuilderBase &Builder) const {
  // Next to one another: the decoder takes them for one instant.
  Value *Cycles = T.readCycles(Builder);
  return {Cycles, T.Ticks == T.Cycles ? Cycles : T.readTicks(Builder)};
}

std::string ProbeEmitter::countLanes(StringRef Result) const {
  return ("s_bcnt1_i32_" + Twine(T.WaveSize == 64 ? "b64 " : "b32 ") + Result +
          (T.WaveSize == 64 ? ", exec" : ", exec_lo"))
      .str();
}

void ProbeEmitter::commit(IRBuilderBase &Builder, Value *Clock,
                          unsigned Site) const {
  std::string Base = utostr(KPROBE_TAG_BASE(KPROBE_EVENT_BLOCK, Site));
  std::string Text = "s_and_b32 $0, " + T.cursor() + ", " + T.mask() +
                     "\n\ts_add_u32 " + T.cursor() + ", " + T.cursor() +
                     ", 8\n\t" + countLanes("$1") +
                     "\n\ts_lshl4_add_u32 $1, $1, " + Base;
  Type *I32 = Builder.getInt32Ty();
  Type *I64 = Builder.getInt64Ty();
  // The clock is an input although the text does not read it: both its halves
  // then live up to here, or the dead upper one would be reused at once, at
  // the price of a wait.
  Value *Result;
  if (isKernel(Builder))
    Result =
        assembly(Builder, StructType::get(I32, I32, I64, I32), {Clock}, Text,
                 "=s,=s,={" + T.ring() + "},={" + T.cursor() + "},s,~{scc}");
  else
    Result =
        assembly(Builder, StructType::get(I32, I32, I64), {Clock},
                 Text + "\n\ts_mov_b64 $2, " + T.ring(), "=&s,=&s,=s,s,~{scc}");
  Value *Offset = Builder.CreateExtractValue(Result, 0);
  Value *Tag = Builder.CreateExtractValue(Result, 1);
  Value *Ring = Builder.CreateExtractValue(Result, 2);

  constexpr unsigned GlobalSpace = 1;
  Value *Place = Builder.CreateGEP(
      Builder.getInt8Ty(),
      Builder.CreateIntToPtr(
          Ring, PointerType::get(Builder.getContext(), GlobalSpace)),
      Builder.CreateZExt(Offset, I64));
  Value *Event = PoisonValue::get(FixedVectorType::get(I32, 2));
  Event = Builder.CreateInsertElement(
      Event, Builder.CreateZExtOrTrunc(Clock, I32), uint64_t(0));
  Event = Builder.CreateInsertElement(Event, Tag, uint64_t(1));
  Memory.markOwn(*Builder.CreateAlignedStore(Event, Place, Align(8)));
}

} // namespace kprobe
