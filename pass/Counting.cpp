// Blocks by the depth of their loops.
#include "Counting.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"

using namespace llvm;

namespace kprobe {

// What nine waves of ten still have on gfx9.
static constexpr unsigned MostPairs = 4;

CountingPlan planCounting(Function &Kernel, FunctionAnalysisManager &Analyses,
                          ArrayRef<BlockPlacement> Placements) {
  CountingPlan Plan;
  Plan.Blocks.resize(Kernel.size());
  auto &Loops = Analyses.getResult<LoopAnalysis>(Kernel);
  ReversePostOrderTraversal<Function *> Order(&Kernel);
  // A cycle that is no loop.
  if (containsIrreducibleCFG<BasicBlock *>(Order, Loops))
    return Plan;
  struct Looped {
    unsigned Number, Depth;
    SmallVector<BasicBlock *, 4> Exits;
  };
  std::vector<Looped> InLoops;
  DenseMap<const BasicBlock *, unsigned> Numbers;
  for (BasicBlock &Block : Kernel) {
    unsigned Number = Numbers.size();
    Numbers[&Block] = Number;
    if (!Placements[Number].hasEvent())
      continue;
    Loop *Around = Loops.getLoopFor(&Block);
    if (!Around) {
      Plan.Blocks[Number].How = BlockCounting::Way::Once;
      continue;
    }
    Looped Found{Number, Around->getLoopDepth(), {}};
    while (Loop *Parent = Around->getParentLoop())
      Around = Parent;
    Around->getUniqueExitBlocks(Found.Exits);
    if (!Found.Exits.empty())
      InLoops.push_back(std::move(Found));
  }
  stable_sort(InLoops, [](const Looped &A, const Looped &B) {
    return A.Depth > B.Depth;
  });
  for (const Looped &Block : InLoops) {
    if (Plan.Pairs == MostPairs)
      break;
    BlockCounting &Counting = Plan.Blocks[Block.Number];
    Counting.How = BlockCounting::Way::InRegisters;
    Counting.Pair = Plan.Pairs++;
    for (BasicBlock *Exit : Block.Exits)
      Plan.Blocks[Numbers.lookup(Exit)].Stores.push_back(Block.Number);
  }
  return Plan;
}

} // namespace kprobe
