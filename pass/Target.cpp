// Look-up in targets.def.
#include "Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace kprobe {

static const Target Targets[] = {
#define KPROBE_TARGET(Processor, Cycles, Ticks, Place0, Place1, StateBase,     \
                      StateLimit)                                              \
  {#Processor, Cycles, Ticks, Place0, Place1, StateBase, StateLimit},
#include "kprobe/targets.def"
};

static CallInst *readClock(IRBuilderBase &Builder, StringRef Intrinsic) {
  Module &M = *Builder.GetInsertBlock()->getModule();
  return Builder.CreateCall(M.getOrInsertFunction(
      Intrinsic, FunctionType::get(Builder.getInt64Ty(), false)));
}

std::string Target::ring() const {
  return "s[" + utostr(StateBase) + ":" + utostr(StateBase + 1) + "]";
}
std::string Target::cursor() const { return "s" + utostr(StateBase + 2); }
std::string Target::mask() const { return "s" + utostr(StateBase + 3); }

CallInst *Target::readCycles(IRBuilderBase &Builder) const {
  return readClock(Builder, CyclesIntrinsic);
}
CallInst *Target::readTicks(IRBuilderBase &Builder) const {
  return readClock(Builder, TicksIntrinsic);
}

Expected<Target> targetOf(const Function &F) {
  StringRef Processor = F.getFnAttribute("target-cpu").getValueAsString();
  const auto *Row = find_if(
      Targets, [&](const Target &T) { return T.Processor == Processor; });
  if (Row == std::end(Targets))
    return createStringError(
        inconvertibleErrorCode(),
        Processor.empty()
            ? Twine("kernels do not say which processor they are for")
            : "processor '" + Processor + "' is not supported");
  Target Found = *Row;
  // gfx10 and later default to 32 lanes; the features say otherwise.
  if (Processor.size() == 7)
    Found.WaveSize = 32;
  SmallVector<StringRef, 32> Features;
  F.getFnAttribute("target-features").getValueAsString().split(Features, ',');
  for (StringRef Feature : Features) {
    if (Feature == "+wavefrontsize64")
      Found.WaveSize = 64;
    else if (Feature == "+wavefrontsize32")
      Found.WaveSize = 32;
  }
  return Found;
}

} // namespace kprobe
