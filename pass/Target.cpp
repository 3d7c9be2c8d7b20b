// Look-up in targets.def, and the instructions behind its names.
#include "Target.h"
#include "kprobe/wire.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace kprobe {

static const Target Targets[] = {
#define KPROBE_TARGET(Processor, WaveSize, Event, Cycles, Ticks, Place0,       \
                      Place1, StateBase, StateLimit)                           \
  {Processor,    WaveSize, Clock::Event, Clock::Cycles, Clock::Ticks,          \
   Place0,       Place1,   StateBase,    StateLimit},
#include "kprobe/targets.def"
};

// A call of an intrinsic without arguments. (Empty braces fit several overloads.)
static Value *call(IRBuilderBase &Builder, Intrinsic::ID Intrinsic) {
  return Builder.CreateIntrinsic(Intrinsic, ArrayRef<Type *>(),
                                 ArrayRef<Value *>());
}

// s_getreg's operand: register, first bit (0), bits - 1.
static Value *readHardware(IRBuilderBase &Builder, int Register) {
  if (Register < 0)
    return Builder.getInt32(0);
  return Builder.CreateIntrinsic(
      Intrinsic::amdgcn_s_getreg, ArrayRef<Type *>(),
      ArrayRef<Value *>{Builder.getInt32(Register | 31 << 11)});
}

static Value *readClock(IRBuilderBase &Builder, Clock Which) {
  constexpr int ShaderCyclesLow = 29;
  constexpr uint32_t GetRealTime = 0x83;
  switch (Which) {
  case Clock::MEMTIME:
    return call(Builder, Intrinsic::amdgcn_s_memtime);
  case Clock::MEMREALTIME:
    return call(Builder, Intrinsic::amdgcn_s_memrealtime);
  case Clock::MESSAGE:
    return Builder.CreateIntrinsic(
        Intrinsic::amdgcn_s_sendmsg_rtn,
        ArrayRef<Type *>{Builder.getInt64Ty()},
        ArrayRef<Value *>{Builder.getInt32(GetRealTime)});
  case Clock::CYCLES_LO:
    return readHardware(Builder, ShaderCyclesLow);
  case Clock::COUNTER:
    return call(Builder, Intrinsic::readcyclecounter);
  }
  llvm_unreachable("a clock of targets.def without an instruction");
}

Value *Target::readEventClock(IRBuilderBase &Builder) const {
  return readClock(Builder, Event);
}
Value *Target::readCycles(IRBuilderBase &Builder) const {
  return readClock(Builder, Cycles);
}
Value *Target::readTicks(IRBuilderBase &Builder) const {
  return readClock(Builder, Ticks);
}
Value *Target::readPlace0(IRBuilderBase &Builder) const {
  return readHardware(Builder, Place0);
}
Value *Target::readPlace1(IRBuilderBase &Builder) const {
  return readHardware(Builder, Place1);
}

uint32_t Target::eventClockKind() const {
  return Cycles == Ticks ? KPROBE_EVENT_CLOCK_TICKS : KPROBE_EVENT_CLOCK_CYCLES;
}

std::string Target::ring() const {
  return "s[" + utostr(StateBase) + ":" + utostr(StateBase + 1) + "]";
}
std::string Target::cursor() const { return "s" + utostr(StateBase + 2); }
std::string Target::mask() const { return "s" + utostr(StateBase + 3); }

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
