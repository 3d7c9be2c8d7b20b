// Cloning within a module. Attributes, launch bounds and debug information come
// along; a comdat does not (two kernels may not share one).
#include "Clone.h"
#include "Compat.h"
#include "SiteFacts.h"
#include "kprobe/wire.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace kprobe {

SmallVector<Function *, 4> functionsOf(Function &Kernel) {
  SetVector<Function *> Reached;
  Reached.insert(&Kernel);
  for (unsigned I = 0; I < Reached.size(); ++I)
    for (Instruction &Inst : instructions(*Reached[I]))
      if (auto *Call = dyn_cast<CallBase>(&Inst))
        if (Function *Callee = Call->getCalledFunction();
            Callee && !Callee->isDeclaration() &&
            !Callee->hasAvailableExternallyLinkage())
          Reached.insert(Callee);
  return SmallVector<Function *, 4>(Reached.begin(), Reached.end());
}

// LDS variables that a function names, also inside constant expressions.
static void collectLds(Function &F, SetVector<GlobalVariable *> &Variables) {
  constexpr unsigned LocalSpace = 3;
  SmallVector<const Constant *, 16> Work;
  SmallPtrSet<const Constant *, 16> Seen;
  auto Push = [&](const Value *V) {
    if (const auto *C = dyn_cast<Constant>(V); C && Seen.insert(C).second)
      Work.push_back(C);
  };
  for (Instruction &I : instructions(F))
    for (const Value *Operand : I.operands())
      Push(Operand);
  while (!Work.empty()) {
    const Constant *C = Work.pop_back_val();
    if (const auto *Variable = dyn_cast<GlobalVariable>(C)) {
      // Dynamic LDS (a declaration) has no place of its own to copy.
      if (Variable->getAddressSpace() == LocalSpace &&
          !Variable->isDeclaration())
        Variables.insert(const_cast<GlobalVariable *>(Variable));
    } else if (!isa<GlobalValue>(C)) {
      for (const Value *Operand : C->operands())
        Push(Operand);
    }
  }
}

static GlobalVariable *cloneLds(GlobalVariable &Variable, const Twine &Suffix) {
  auto *Copy = new GlobalVariable(
      *Variable.getParent(), Variable.getValueType(), Variable.isConstant(),
      GlobalValue::InternalLinkage, Variable.getInitializer(),
      Variable.getName() + Suffix, &Variable, Variable.getThreadLocalMode(),
      Variable.getAddressSpace());
  Copy->setAlignment(Variable.getAlign());
  Copy->setUnnamedAddr(Variable.getUnnamedAddr());
  return Copy;
}

// Whether the kernel calls anything, by the back end's count when it lays out
// LDS that functions use: inline assembly is a call for it, like one through a
// pointer.
static bool makesCalls(Function &Kernel) {
  return any_of(instructions(Kernel), [](Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    return Call && !isa<IntrinsicInst>(Call);
  });
}

static void redirectCalls(Instruction &I,
                          const DenseMap<const Function *, Function *> &To) {
  if (auto *Call = dyn_cast<CallBase>(&I))
    if (Function *Target = To.lookup(Call->getCalledFunction()))
      Call->setCalledFunction(Target);
}

// Puts the uses of each value in the order that those of its original have. The back
// end goes by that order where it has to choose (induction variables, for one), and
// a clone is to be compiled as its original is.
static void orderUses(Value &Original, const ValueToValueMapTy &Values) {
  Value *Copy = Values.lookup(&Original);
  if (!Copy || Copy == &Original || !Original.hasNUsesOrMore(2))
    return;
  DenseMap<std::pair<const Value *, unsigned>, unsigned> Places;
  for (const Use &U : Original.uses())
    Places.try_emplace({Values.lookup(U.getUser()), U.getOperandNo()},
                       Places.size());
  auto PlaceOf = [&](const Use &U) {
    return Places.lookup({U.getUser(), U.getOperandNo()});
  };
  Copy->sortUseList(
      [&](const Use &A, const Use &B) { return PlaceOf(A) < PlaceOf(B); });
}

static void orderUsesIn(BasicBlock &Original, const ValueToValueMapTy &Values) {
  orderUses(Original, Values);
  for (Instruction &I : Original)
    orderUses(I, Values);
}

std::vector<ClonedFunction> cloneKernel(ArrayRef<Function *> Functions,
                                        StringRef Suffix) {
  Function &Kernel = *Functions.front();
  DenseMap<const Function *, Function *> Clones;
  DenseMap<const GlobalVariable *, GlobalVariable *> LdsClones;

  SetVector<GlobalVariable *> Lds, SharedLds;
  collectLds(Kernel, Lds);
  for (Function *Callee : drop_begin(Functions))
    collectLds(*Callee, SharedLds);
  if (compat::CloneSharedLds)
    Lds.insert(SharedLds.begin(), SharedLds.end());
  else
    Lds.remove_if([&](GlobalVariable *V) { return SharedLds.contains(V); });
  for (GlobalVariable *Variable : Lds)
    LdsClones[Variable] =
        cloneLds(*Variable, Suffix + "." + Kernel.getName());

  std::vector<ClonedFunction> Result;
  for (Function *Original : Functions) {
    auto Values = std::make_unique<ValueToValueMapTy>();
    for (auto [From, To] : LdsClones)
      (*Values)[From] = To;
    Function *Clone = CloneFunction(Original, *Values);
    for (Argument &A : Original->args())
      orderUses(A, *Values);
    for (BasicBlock &Block : *Original)
      orderUsesIn(Block, *Values);
    if (Original == &Kernel) {
      Clone->setName(Kernel.getName() + Suffix);
      // Or the probes' assembly would make the clone of a kernel without calls
      // allocate what only other kernels' functions use.
      if (!makesCalls(Kernel))
        Clone->addFnAttr("amdgpu-elide-module-lds");
      // Nothing in the module refers to the clone: no linkage that lets go.
      if (Clone->hasLinkOnceODRLinkage())
        Clone->setLinkage(GlobalValue::WeakODRLinkage);
      else if (Clone->hasLinkOnceAnyLinkage())
        Clone->setLinkage(GlobalValue::WeakAnyLinkage);
    } else {
      Clone->setName(Original->getName() + Suffix + "." + Kernel.getName());
      Clone->setLinkage(GlobalValue::InternalLinkage);
      Clone->setVisibility(GlobalValue::DefaultVisibility);
    }
    Clones[Original] = Clone;
    Result.push_back({Original, Clone, std::move(Values)});
  }
  for (ClonedFunction &F : Result)
    for (Instruction &I : instructions(*F.Clone))
      redirectCalls(I, Clones);
  return Result;
}

// What the plain body calls: the originals, or, where those would use other LDS
// than the probed waves of their workgroup, copies without probes.
static DenseMap<const Function *, Function *>
plainCallees(ArrayRef<ClonedFunction> Clones) {
  DenseMap<const Function *, Function *> ToPlain;
  bool OwnLds = false;
  for (const ClonedFunction &F : drop_begin(Clones)) {
    ToPlain[F.Clone] = F.Original;
    SetVector<GlobalVariable *> Lds;
    collectLds(*F.Original, Lds);
    OwnLds |=
        any_of(Lds, [&](GlobalVariable *V) { return F.Values->lookup(V) != V; });
  }
  if (!OwnLds)
    return ToPlain;
  SmallVector<Function *, 4> Copies;
  for (const ClonedFunction &F : drop_begin(Clones)) {
    ValueToValueMapTy Values;
    Function *Copy = CloneFunction(F.Clone, Values);
    Copy->setName(F.Original->getName() + KPROBE_CLONE_SUFFIX ".plain." +
                  Clones.front().Original->getName());
    ToPlain[F.Clone] = Copy;
    Copies.push_back(Copy);
  }
  for (Function *Copy : Copies)
    for (Instruction &I : instructions(*Copy))
      redirectCalls(I, ToPlain);
  return ToPlain;
}

TwoBodies addPlainBody(ArrayRef<ClonedFunction> Clones) {
  Function &Clone = *Clones.front().Clone;
  BasicBlock &Entry = Clone.getEntryBlock();
  Instruction *Place = firstDeparture(Entry);
  if (!Place)
    Place = Entry.getTerminator();
  TwoBodies Bodies;
  Bodies.Plain = std::make_unique<ValueToValueMapTy>();
  Bodies.Probed =
      Entry.splitBasicBlock(Place->getIterator(), Entry.getName() + ".probed");

  SmallVector<BasicBlock *, 32> Probed, Plain;
  for (BasicBlock &Block : drop_begin(Clone))
    Probed.push_back(&Block);
  for (BasicBlock *Block : Probed) {
    BasicBlock *Copy =
        CloneBasicBlock(Block, *Bodies.Plain, ".plain", &Clone);
    (*Bodies.Plain)[Block] = Copy;
    Plain.push_back(Copy);
  }
  remapInstructionsInBlocks(Plain, *Bodies.Plain);
  for (BasicBlock *Block : Probed)
    orderUsesIn(*Block, *Bodies.Plain);
  DenseMap<const Function *, Function *> Callees = plainCallees(Clones);
  for (BasicBlock *Block : Plain)
    for (Instruction &I : *Block)
      redirectCalls(I, Callees);

  Instruction *Jump = Entry.getTerminator();
  Bodies.Choice = BranchInst::Create(
      Bodies.Probed, cast<BasicBlock>((*Bodies.Plain)[Bodies.Probed]),
      ConstantInt::getTrue(Clone.getContext()), &Entry);
  Jump->eraseFromParent();
  return Bodies;
}

} // namespace kprobe
