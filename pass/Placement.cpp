// Control equivalence by the two dominator trees.
#include "Placement.h"
#include "kprobe/wire.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace kprobe {

// Instructions that a clock takes to arrive, at four cycles each (targets differ
// little: a scalar cache hit is 40 to 50 cycles).
static constexpr unsigned ShortBlock = 10;

// Nothing in the block takes long: it waits for nobody and for no memory. What
// was loaded before may still be waited for here; that wait is then found in the
// block that loaded.
static bool isShort(const BasicBlock &Block, const BlockFacts &Facts) {
  if (Facts.Valu + Facts.Salu + Facts.Vmem + Facts.Lds > ShortBlock)
    return false;
  for (const Instruction &I : Block) {
    const auto *Call = dyn_cast<CallBase>(&I);
    if (I.mayReadFromMemory() || (Call && Call->isConvergent()))
      return false;
  }
  return true;
}

// Whether every way from From to To comes back to its block: a call in between
// runs probes of other functions, or ends the wave.
static bool isCallFree(BasicBlock *From, BasicBlock *To) {
  SmallPtrSet<BasicBlock *, 16> Seen{From, To};
  SmallVector<BasicBlock *, 16> Work{From, To};
  for (unsigned I = 0; I < Work.size(); ++I) {
    if (firstDeparture(*Work[I]) || Work.size() > KPROBE_MAX_BETWEEN)
      return false;
    if (Work[I] == To)
      continue;
    for (BasicBlock *Next : successors(Work[I]))
      if (Seen.insert(Next).second)
        Work.push_back(Next);
  }
  return true;
}

std::vector<unsigned> placeEvents(Function &F, const FunctionFacts &Facts,
                                  FunctionAnalysisManager &Analyses) {
  std::vector<unsigned> ToldBy(F.size(), BlockFacts::None);
  auto &Loops = Analyses.getResult<LoopAnalysis>(F);
  // A cycle that is no loop may run A twice and J once.
  ReversePostOrderTraversal<Function *> Order(&F);
  if (containsIrreducibleCFG<BasicBlock *>(Order, Loops))
    return ToldBy;
  auto &Dominators = Analyses.getResult<DominatorTreeAnalysis>(F);
  auto &PostDominators = Analyses.getResult<PostDominatorTreeAnalysis>(F);
  DenseMap<const BasicBlock *, unsigned> Numbers;
  for (BasicBlock &Block : F)
    Numbers.try_emplace(&Block, Numbers.size());
  for (BasicBlock &Block : F) {
    unsigned Number = Numbers.lookup(&Block);
    auto *Node = Dominators.getNode(&Block);
    if (!Node || !Node->getIDom() || !isShort(Block, Facts.Blocks[Number]))
      continue;
    // The nearest equivalent block above: equivalent blocks lie on one line of
    // the tree, so that each is the nearest of one other at most. Inner loops
    // lie in between.
    for (Node = Node->getIDom(); Node; Node = Node->getIDom()) {
      BasicBlock *Above = Node->getBlock();
      if (!PostDominators.dominates(&Block, Above))
        break;
      if (Loops.getLoopFor(&Block) != Loops.getLoopFor(Above))
        continue;
      if (isCallFree(Above, &Block))
        ToldBy[Number] = Numbers.lookup(Above);
      break;
    }
  }
  return ToldBy;
}

} // namespace kprobe
