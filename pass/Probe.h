// The instructions of a probe, and of the state that probes share.
#ifndef KPROBE_PASS_PROBE_H
#define KPROBE_PASS_PROBE_H

#include "Target.h"
#include "llvm/IR/IRBuilder.h"
#include <string>

namespace kprobe {

// What tells the optimiser that the memory of rings and headers is kprobe's
// alone. Without it every store of a probe might change what the program
// loads, and scalar loads would become vector loads.
class TraceMemory {
public:
  explicit TraceMemory(llvm::LLVMContext &Context);

  // A store to a ring or a header.
  void markOwn(llvm::Instruction &Store) const;
  // Any access of the program.
  void markForeign(llvm::Instruction &Access) const;

private:
  llvm::MDNode *Scopes;
};

// Both clocks at one end of a wave, i64.
struct WaveClocks {
  llvm::Value *Cycles, *Ticks;
};

// What the begin hook found, by the fields of KPROBE_TYPE_CLAIM.
struct Claim {
  llvm::Value *Slots; // i64
  llvm::Value *Slot, *SlotCount, *RingBytes;
};

class ProbeEmitter {
public:
  ProbeEmitter(const Target &T, const TraceMemory &Memory)
      : T(T), Memory(Memory) {}

  // Makes the register allocator leave the state registers alone in a function
  // that runs under an instrumented kernel.
  void reserveState(llvm::Function &F) const;

  // Sets the state of a sampled wave; kernels only, before any other probe
  // code. Returns the ring address.
  llvm::Value *initState(llvm::IRBuilderBase &Builder, const Claim &Slot) const;

  // The state as values, for the end hook: {i64 ring, i32 cursor}. Kernels
  // only.
  std::pair<llvm::Value *, llvm::Value *>
  readState(llvm::IRBuilderBase &Builder) const;

  WaveClocks readWaveClocks(llvm::IRBuilderBase &Builder) const;

  // The two halves of a probe: the clock at the start of a block, the event at
  // its end.
  llvm::Value *readClock(llvm::IRBuilderBase &Builder) const {
    return T.readEventClock(Builder);
  }
  void commit(llvm::IRBuilderBase &Builder, llvm::Value *Clock,
              unsigned Site) const;

private:
  std::string countLanes(llvm::StringRef Result) const;

  const Target &T;
  const TraceMemory &Memory;
};

} // namespace kprobe

#endif
