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
#define KPROBE_TARGET(Processor, Buffers, WaveSize, Event, Cycles, Ticks,      \
                      Place0, Place1, StateBase, StateLimit)                   \
  {Processor,                                                                  \
   BufferKind::Buffers,                                                        \
   WaveSize,                                                                   \
   Clock::Event,                                                               \
   Clock::Cycles,                                                              \
   Clock::Ticks,                                                               \
   Place0,                                                                     \
   Place1,                                                                     \
   StateBase,                                                                  \
   StateLimit},
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

static std::string scalars(unsigned First, unsigned Last) {
  return "s[" + utostr(First) + ":" + utostr(Last) + "]";
}

std::string Target::slot() const { return scalars(StateBase, StateBase + 3); }
std::string Target::slotWord(unsigned Word) const {
  return "s" + utostr(StateBase + Word);
}
std::string Target::cursor() const { return slotWord(4); }
std::string Target::mask() const { return slotWord(5); }

// Above the state on gfx9, where a kernel has few registers: spills of wide groups
// of them cost more than the one or two waves of ten that a higher count costs.
// Elsewhere there are enough below.
static bool hasCountersAbove(BufferKind Buffers) {
  return Buffers == BufferKind::GFX9;
}
unsigned Target::limitWithCounters(unsigned Pairs) const {
  return hasCountersAbove(Buffers) ? StateLimit : StateLimit - 2 * Pairs;
}
unsigned Target::firstOfPair(unsigned Pair) const {
  constexpr unsigned StateRegisters = 6;
  return hasCountersAbove(Buffers) ? StateBase + StateRegisters + 2 * Pair
                                   : StateBase - 2 * (Pair + 1);
}
std::string Target::counter(unsigned Pair) const {
  unsigned First = firstOfPair(Pair);
  return scalars(First, First + 1);
}
std::string Target::counterWord(unsigned Pair, unsigned Word) const {
  return "s" + utostr(firstOfPair(Pair) + Word);
}

uint32_t Target::bufferFormat() const {
  // A 32-bit format, which untyped stores do not look at but which must not be
  // "invalid"; from gfx10 on also bounds by bytes (3 << 28) and, on gfx10, the
  // bit of its resource level. Vega ISA 8.1.5; RDNA ISA 8.1.8; LLVM's
  // getDefaultRsrcDataFormat.
  switch (Buffers) {
  case BufferKind::GFX9:
    return 0x27000;
  case BufferKind::GFX101:
  case BufferKind::GFX10:
    return 0x31016000;
  case BufferKind::GFX11:
  case BufferKind::GFX12:
    return 0x30016000;
  }
  llvm_unreachable("a way of buffer stores without a format");
}

void Target::waitForVectorMemory(IRBuilderBase &Builder) const {
  // vmcnt 0, expcnt and lgkmcnt at their highest; Vega ISA 4.4.
  constexpr unsigned Counts = 0x0f70;
  Builder.CreateIntrinsic(Intrinsic::amdgcn_s_waitcnt, ArrayRef<Type *>(),
                          ArrayRef<Value *>{Builder.getInt32(Counts)});
}

std::string Target::accessSlot(StringRef Instruction, StringRef Data,
                               StringRef Offset, unsigned Constant) const {
  StringRef None = Buffers == BufferKind::GFX12 ? "null" : "0";
  std::string Text = (Instruction + " " + Data + ", off, " + slot() + ", " +
                      (Offset.empty() ? None : Offset))
                         .str();
  if (Constant)
    Text += " offset:" + utostr(Constant);
  // The compiler does not see that the store reads scalar registers and EXEC,
  // which must not be written on gfx10.1 before a vector instruction.
  if (Buffers == BufferKind::GFX101)
    Text += "\n\tv_nop";
  return Text;
}

std::string Target::storeToSlot(unsigned Dwords, StringRef Data,
                                StringRef Offset, unsigned Constant) const {
  std::string Instruction = "buffer_store_";
  if (namesBits())
    Instruction += "b" + utostr(32 * Dwords);
  else
    Instruction += Dwords == 1 ? "dword" : "dwordx" + utostr(Dwords);
  return accessSlot(Instruction, Data, Offset, Constant);
}

std::string Target::addToSlot(StringRef Data, StringRef Offset,
                              unsigned Constant, StringRef Saved,
                              StringRef Lane) const {
  std::string Bits = WaveSize == 64 ? "b64" : "b32";
  std::string Exec = WaveSize == 64 ? "exec" : "exec_lo";
  std::string FirstSet = namesBits() ? "s_ctz_i32_" : "s_ff1_i32_";
  auto Scalar = [&](const Twine &Name, const Twine &Operands) {
    return (Name + Bits + " " + Operands + "\n\t").str();
  };
  return Scalar(FirstSet, Lane + ", " + Exec) +
         Scalar("s_mov_", Saved + ", " + Exec) +
         Scalar("s_bfm_", Exec + ", 1, " + Lane) +
         Scalar("s_and_", Exec + ", " + Exec + ", " + Saved) +
         accessSlot(namesBits() ? "buffer_atomic_add_u64"
                                : "buffer_atomic_add_x2",
                    Data, Offset, Constant) +
         "\n\ts_mov_" + Bits + " " + Exec + ", " + Saved.str();
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
