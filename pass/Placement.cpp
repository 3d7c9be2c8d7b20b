// Levels, filters, and control equivalence by the two dominator trees.
#include "Placement.h"
#include "kprobe/wire.h"
#include "llvm/ADT/BitVector.h"
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
  if (Facts.Flags & KPROBE_SITE_MARK)
    return false;
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

// Calls Visit, for each branch that not all lanes may take the same way, with the
// blocks between it and where all have come back together.
static void forDivergentRegions(
    Function &F, FunctionAnalysisManager &Analyses,
    function_ref<void(const SmallPtrSetImpl<BasicBlock *> &)> Visit) {
  auto &Divergence = Analyses.getResult<compat::DivergencePass>(F);
  auto &PostDominators = Analyses.getResult<PostDominatorTreeAnalysis>(F);
  for (BasicBlock &Block : F) {
    Instruction *Branch = Block.getTerminator();
    if (Branch->getNumSuccessors() < 2 ||
        ((isa<BranchInst>(Branch) || isa<SwitchInst>(Branch)) &&
         !compat::isDivergent(Divergence, *Branch->getOperand(0))))
      continue;
    auto *Node = PostDominators.getNode(&Block);
    BasicBlock *Join =
        Node && Node->getIDom() ? Node->getIDom()->getBlock() : nullptr;
    SmallPtrSet<BasicBlock *, 16> Seen;
    SmallVector<BasicBlock *, 16> Work{&Block};
    while (!Work.empty())
      for (BasicBlock *Next : successors(Work.pop_back_val()))
        if (Next != Join && Seen.insert(Next).second)
          Work.push_back(Next);
    Visit(Seen);
  }
}

using LoopTest = function_ref<bool(const Loop &)>;
static bool any(const Loop &) { return true; }

// Whether control comes from a block to a loop that passes the test, or leaves
// one into the block.
static bool comesToLoop(BasicBlock &Block, const LoopInfo &Loops,
                        LoopTest Passes) {
  return any_of(successors(&Block), [&](BasicBlock *Next) {
    const Loop *To = Loops.isLoopHeader(Next) ? Loops.getLoopFor(Next) : nullptr;
    return To && !To->contains(&Block) && Passes(*To);
  });
}
static bool leavesLoop(BasicBlock &Block, const LoopInfo &Loops,
                       LoopTest Passes) {
  return any_of(predecessors(&Block), [&](BasicBlock *Before) {
    const Loop *From = Loops.getLoopFor(Before);
    return From && !From->contains(&Block) && Passes(*From);
  });
}

// Whether the level has an event for a block.
static bool isOfLevel(BasicBlock &Block, Level Wanted, const LoopInfo &Loops) {
  bool IsKernel =
      Block.getParent()->getCallingConv() == CallingConv::AMDGPU_KERNEL;
  if (Wanted == Level::Block || Wanted == Level::AllBlocks ||
      Block.isEntryBlock() ||
      (isa<ReturnInst>(Block.getTerminator()) && !IsKernel))
    return true;
  return Wanted == Level::Loop &&
         (Loops.isLoopHeader(&Block) || leavesLoop(Block, Loops, any));
}

// Whether the user's filters let a block pass.
static bool isSelected(const FunctionFacts &Function, const BlockFacts &Block,
                       const Options &Wanted) {
  return Wanted.selectsFunction(Function.Name) &&
         (Wanted.selectsSource(Block.File, Block.Line) ||
          any_of(Block.Frames, [&](const InlinedAt &Frame) {
            return Wanted.selectsSource(Frame.File, Frame.Line);
          }));
}

bool isBounded(Function &Kernel, FunctionAnalysisManager &Analyses) {
  auto &Loops = Analyses.getResult<LoopAnalysis>(Kernel);
  ReversePostOrderTraversal<Function *> Order(&Kernel);
  return Loops.empty() && !containsIrreducibleCFG<BasicBlock *>(Order, Loops);
}

bool assignPlaces(Function &Kernel, FunctionAnalysisManager &Analyses,
                  MutableArrayRef<BlockPlacement> Placements) {
  // Each is room in the ring of every wave.
  constexpr unsigned MostPlaces = 1024;
  if (Kernel.size() > MostPlaces)
    return false;
  ReversePostOrderTraversal<Function *> Order(&Kernel);
  DenseMap<const BasicBlock *, unsigned> Numbers;
  for (BasicBlock &Block : Kernel)
    Numbers.try_emplace(&Block, Numbers.size());
  // By number, the blocks that control may come to from one.
  std::vector<BitVector> Reached(Kernel.size(), BitVector(Kernel.size()));
  for (BasicBlock *Block : post_order(&Kernel))
    for (BasicBlock *Next : successors(Block)) {
      Reached[Numbers.lookup(Block)] |= Reached[Numbers.lookup(Next)];
      Reached[Numbers.lookup(Block)].set(Numbers.lookup(Next));
    }
  // Where lanes part, a wave goes one way after the other, and which comes first is
  // for the compiler to say: there may be events on one of them only.
  bool IsOrdered = true;
  forDivergentRegions(Kernel, Analyses, [&](const auto &Region) {
    unsigned Last = BlockFacts::None;
    for (BasicBlock *Block : Order) {
      unsigned Number = Numbers.lookup(Block);
      if (!Region.contains(Block) || !Placements[Number].hasEvent())
        continue;
      if (Last != BlockFacts::None && !Reached[Last].test(Number))
        IsOrdered = false;
      Last = Number;
    }
  });
  if (!IsOrdered)
    return false;
  unsigned Next = 0;
  auto Assign = [&](BlockPlacement &Placement) {
    if (Placement.hasEvent() && Placement.Place == ProbeEvent::AtCursor)
      Placement.Place = Next++;
  };
  for (BasicBlock *Block : Order)
    Assign(Placements[Numbers.lookup(Block)]);
  // Blocks that nothing leads to.
  for_each(Placements, Assign);
  return true;
}

std::vector<BlockPlacement> placeEvents(Function &F, const FunctionFacts &Facts,
                                        FunctionAnalysisManager &Analyses,
                                        const Options &Wanted) {
  std::vector<BlockPlacement> Placements(F.size());
  // When a wave began, and with which lanes, is in its header.
  bool IsKernel = F.getCallingConv() == CallingConv::AMDGPU_KERNEL;
  Placements.front().Implied = IsKernel && Wanted.Level != Level::AllBlocks;
  auto &Loops = Analyses.getResult<LoopAnalysis>(F);
  DenseMap<const BasicBlock *, unsigned> Numbers;
  for (BasicBlock &Block : F) {
    unsigned Number = Numbers.size();
    Numbers[&Block] = Number;
    Placements[Number].LeftOut =
        !(Facts.Blocks[Number].Flags & KPROBE_SITE_MARK) &&
        (!isOfLevel(Block, Wanted.Level, Loops) ||
         !isSelected(Facts, Facts.Blocks[Number], Wanted));
  }
  // Lanes are counted at every block, so that there is something to compare
  // with what is known about them otherwise.
  if (Wanted.Level == Level::AllBlocks)
    return Placements;
  // A cycle that is no loop may run A twice and J once.
  ReversePostOrderTraversal<Function *> Order(&F);
  bool Reducible = !containsIrreducibleCFG<BasicBlock *>(Order, Loops);
  auto &Dominators = Analyses.getResult<DominatorTreeAnalysis>(F);
  auto &PostDominators = Analyses.getResult<PostDominatorTreeAnalysis>(F);
  if (Reducible && IsKernel) {
    for (BlockPlacement &Placement : Placements)
      Placement.AllLanes = true;
    forDivergentRegions(F, Analyses, [&](const auto &Region) {
      for (BasicBlock *Block : Region)
        Placements[Numbers.lookup(Block)].AllLanes = false;
    });
  }
  if (Wanted.Level != Level::Block)
    return Placements;
  auto IsShort = [&](BasicBlock &Block) {
    return isShort(Block, Facts.Blocks[Numbers.lookup(&Block)]);
  };
  auto IsUntimed = [&](const Loop &L) { return IsShort(*L.getHeader()); };
  for (BasicBlock &Block : F) {
    unsigned Number = Numbers.lookup(&Block);
    auto *Node = Dominators.getNode(&Block);
    if (Placements[Number].LeftOut || !Node || !Node->getIDom() ||
        !IsShort(Block) || comesToLoop(Block, Loops, IsUntimed) ||
        leavesLoop(Block, Loops, IsUntimed))
      continue;
    Placements[Number].Timed = false;
    // The nearest equivalent block above: equivalent blocks lie on one line of
    // the tree, so that each is the nearest of one other at most. Inner loops
    // lie in between.
    for (Node = Node->getIDom(); Reducible && Node; Node = Node->getIDom()) {
      BasicBlock *Above = Node->getBlock();
      if (!PostDominators.dominates(&Block, Above))
        break;
      if (Loops.getLoopFor(&Block) != Loops.getLoopFor(Above))
        continue;
      if (!Placements[Numbers.lookup(Above)].LeftOut &&
          isCallFree(Above, &Block))
        Placements[Number].ToldBy = Numbers.lookup(Above);
      break;
    }
  }
  return Placements;
}

} // namespace kprobe
