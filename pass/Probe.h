// The instructions of a probe, and of the state that probes share.
#ifndef KPROBE_PASS_PROBE_H
#define KPROBE_PASS_PROBE_H

#include "Target.h"
#include "llvm/IR/IRBuilder.h"
#include <string>

namespace kprobe {

// Both clocks at one end of a wave, i64.
struct WaveClocks {
  llvm::Value *Cycles, *Ticks;
};

// What the begin hook found, by the fields of KPROBE_TYPE_CLAIM.
struct Claim {
  llvm::Value *Slots; // i64
  llvm::Value *Slot, *SlotCount, *SlotBytes, *Mask;
};

struct ProbeEvent {
  static constexpr unsigned AtCursor = ~0u;
  unsigned Site = 0;
  llvm::Value *Clock = nullptr; // null: an event without one
  bool AllLanes = false; // only executed by all lanes that the wave began with
  bool InSight = false;  // the compiler sees the store; kernels only
  // A value of 32 or 64 bits that has arrived when the event is stored, out of
  // the compiler's sight; or null.
  llvm::Value *Behind = nullptr;
  unsigned Place = AtCursor; // behind the header, in words of 8 bytes
};

class ProbeEmitter {
public:
  // HasCursor: events are stored where the cursor is, which mode DROP (another
  // value of Mode is RING's) stops at the ring's end. CounterPairs: of scalar
  // registers, mode COUNTERS.
  ProbeEmitter(const Target &T, uint32_t Mode, bool HasCursor,
               unsigned CounterPairs)
      : T(T), Mode(Mode), HasCursor(HasCursor), CounterPairs(CounterPairs) {}

  const Target &target() const { return T; }

  // Makes the register allocator leave the state registers alone in a function
  // that runs under an instrumented kernel.
  void reserveState(llvm::Function &F) const;

  // Sets the state of a sampled wave; kernels only, before any other probe code.
  void initState(llvm::IRBuilderBase &Builder, const Claim &Slot) const;

  WaveClocks readWaveClocks(llvm::IRBuilderBase &Builder) const;

  // Write the header's fields; behind initState.
  void waveBegun(llvm::IRBuilderBase &Builder, WaveClocks Begin) const;
  void waveEnded(llvm::IRBuilderBase &Builder, WaveClocks End) const;

  // The two halves of a probe: the clock at the start of a block, the event at
  // its end.
  llvm::Value *readClock(llvm::IRBuilderBase &Builder) const {
    return T.readEventClock(Builder);
  }
  void commit(llvm::IRBuilderBase &Builder, const ProbeEvent &Event) const;

  // Mode counters; sites are numbered from the kernel's first. A visit is added in
  // memory, or is the only one, or is added in a pair of registers, which
  // storeCounter writes to memory.
  void countInMemory(llvm::IRBuilderBase &Builder, unsigned Site) const;
  void countOnce(llvm::IRBuilderBase &Builder, const ProbeEvent &Visit) const;
  void countInRegisters(llvm::IRBuilderBase &Builder, unsigned Pair,
                        unsigned Site) const;
  void storeCounter(llvm::IRBuilderBase &Builder, unsigned Pair,
                    unsigned Site) const;

private:
  llvm::CallInst *assembly(llvm::IRBuilderBase &Builder, llvm::Type *Result,
                           llvm::ArrayRef<llvm::Value *> Arguments,
                           const llvm::Twine &Text,
                           llvm::StringRef Outputs,
                           llvm::StringRef Inputs) const;
  std::pair<llvm::Value *, llvm::Value *>
  readTag(llvm::IRBuilderBase &Builder, unsigned Kind, unsigned Site) const;
  llvm::Value *readVisit(llvm::IRBuilderBase &Builder, unsigned Site) const;
  void store(llvm::IRBuilderBase &Builder, const ProbeEvent &Event,
             llvm::Value *Data) const;

  const Target &T;
  const uint32_t Mode;
  const bool HasCursor;
  const unsigned CounterPairs;
};

} // namespace kprobe

#endif
