// The instructions of a probe, and of the state that probes share.
#ifndef KPROBE_PASS_PROBE_H
#define KPROBE_PASS_PROBE_H

#include "Target.h"
#include "llvm/IR/IRBuilder.h"
#include <string>

namespace kprobe {

class ProbeEmitter {
public:
  explicit ProbeEmitter(const Target &T) : T(T) {}

  // Makes the register allocator leave the state registers alone in a function
  // that runs under an instrumented kernel.
  void reserveState(llvm::Function &F) const;

  // Sets the state of the wave; kernels only, before any other probe code.
  void initState(llvm::IRBuilderBase &Builder, llvm::Value *Ring,
                 llvm::Value *Mask) const;

  // The state as values, for the end hook: {i64 ring, i32 cursor}.
  std::pair<llvm::Value *, llvm::Value *>
  readState(llvm::IRBuilderBase &Builder) const;

  // The two halves of a probe: the clock at the start of a block, the event at
  // its end.
  llvm::Value *readClock(llvm::IRBuilderBase &Builder) const;
  void commit(llvm::IRBuilderBase &Builder, llvm::Value *Clock,
              unsigned Site) const;

private:
  std::string countLanes(llvm::StringRef Result) const;

  const Target &T;
};

} // namespace kprobe

#endif
