// The processor a kernel is compiled for, as far as probes depend on it.
#ifndef KPROBE_PASS_TARGET_H
#define KPROBE_PASS_TARGET_H

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/Error.h"
#include <string>

namespace kprobe {

// One row of targets.def, and what the function's features add to it.
struct Target {
  llvm::StringRef Processor;
  llvm::StringRef CyclesIntrinsic, TicksIntrinsic;
  int Place0, Place1; // hwreg number, -1: none
  unsigned StateBase; // first scalar register of the state
  unsigned StateLimit;
  unsigned WaveSize = 64;

  llvm::CallInst *readCycles(llvm::IRBuilderBase &Builder) const;
  llvm::CallInst *readTicks(llvm::IRBuilderBase &Builder) const;

  // Assembler names of the state: ring address, cursor, mask.
  std::string ring() const;
  std::string cursor() const;
  std::string mask() const;
};

// The target of a function; an error names a processor that has no row.
llvm::Expected<Target> targetOf(const llvm::Function &F);

} // namespace kprobe

#endif
