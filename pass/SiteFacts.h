// What the site table says about each block of a function, taken from the
// original before anything is changed, while its analyses hold.
#ifndef KPROBE_PASS_SITEFACTS_H
#define KPROBE_PASS_SITEFACTS_H

#include "Compat.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <string>
#include <vector>

namespace llvm {
class LoadInst;
}

namespace kprobe {

struct InlinedAt {
  std::string Function, File; // the caller, and where it calls
  unsigned Line, Column;
};

// Block numbers are positions in the function.
struct BlockFacts {
  static constexpr unsigned None = ~0u;
  std::string Name, File;
  unsigned Line = 0, Column = 0;
  std::vector<InlinedAt> Frames; // innermost call site first
  unsigned Flags = 0;            // KPROBE_SITE_*
  unsigned LoopDepth = 0;
  unsigned LoopHeader = None;
  std::vector<unsigned> Successors; // each once
  // It loads into vector registers, and the loop around it has no barrier, where
  // stores are waited for.
  bool DelayedByStores = false;
  // Instructions by class, as wire.h has them.
  unsigned Valu = 0, Salu = 0, Vmem = 0, Lds = 0;
  unsigned Flops32 = 0, Flops64 = 0, BytesRead = 0, BytesWritten = 0;
};

struct FunctionFacts {
  std::string Name, File;
  unsigned Line = 0;
  std::vector<BlockFacts> Blocks;
  bool HasBarriers = false;
  // Loads of a kernel that no store before them can have changed: the back end
  // makes scalar loads of such, and would take the probes' clocks for a reason
  // not to. Those in InvariantLoads no store of the kernel can change at all.
  llvm::SmallPtrSet<const llvm::LoadInst *, 16> UnclobberedLoads;
  llvm::SmallPtrSet<const llvm::LoadInst *, 16> InvariantLoads;
};

FunctionFacts collectFacts(llvm::Function &F,
                           llvm::FunctionAnalysisManager &Analyses);

// The first call in the block that leaves it for other code, or ends the wave:
// an event of this block must be committed before it. Null if there is none.
llvm::Instruction *firstDeparture(llvm::BasicBlock &Block);

} // namespace kprobe

#endif
