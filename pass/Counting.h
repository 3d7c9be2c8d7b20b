// Mode counters: where each block of a kernel is counted.
//
// A block that a wave comes to once stores its counter. Those in loops count in
// scalar registers, as many as there are, the innermost first; where their
// outermost loop is left the registers are stored, all of the loop's at each of its
// exits, so that the last lanes to leave store the whole. What is left, and what
// is never left, adds to its counter in memory by an atomic.
#ifndef KPROBE_PASS_COUNTING_H
#define KPROBE_PASS_COUNTING_H

#include "Placement.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace kprobe {

struct BlockCounting {
  enum class Way { InMemory, Once, InRegisters };
  Way How = Way::InMemory;
  unsigned Pair = 0; // of scalar registers
  // Numbers of the blocks whose registers are stored where control comes to this
  // one.
  llvm::SmallVector<unsigned, 4> Stores;
};

struct CountingPlan {
  std::vector<BlockCounting> Blocks; // by number, as in FunctionFacts
  unsigned Pairs = 0;                // of scalar registers in use
};

CountingPlan planCounting(llvm::Function &Kernel,
                          llvm::FunctionAnalysisManager &Analyses,
                          llvm::ArrayRef<BlockPlacement> Placements);

} // namespace kprobe

#endif
