// Copies of kernels with marks, and the marks in them.
#include "Marks.h"
#include "Clone.h"
#include "Compat.h"
#include "Diagnostics.h"
#include "Options.h"
#include "kprobe/mark.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace kprobe {

static constexpr char MarkName[] = "__kprobe_mark";
static constexpr char KeptMarkName[] = "__kprobe_mark_kept";
static constexpr char CopySuffix[] = ".kprobe.marked";

// Calls of a function in others, which may be none.
static SmallVector<CallInst *, 8> callsOf(Module &M, StringRef Name,
                                          const Function *In = nullptr) {
  SmallVector<CallInst *, 8> Calls;
  if (Function *Callee = M.getFunction(Name))
    for (User *U : Callee->users())
      if (auto *Call = dyn_cast<CallInst>(U);
          Call && Call->getCalledOperand() == Callee &&
          (!In || Call->getFunction() == In))
        Calls.push_back(Call);
  return Calls;
}

// A copy of a kernel whose marks stay; null if it has none.
static Function *copyWithMarks(Function &Kernel) {
  Module &M = *Kernel.getParent();
  Function *Mark = M.getFunction(MarkName);
  if (!Mark)
    return nullptr;
  SmallVector<Function *, 4> Functions = functionsOf(Kernel);
  erase_if(Functions, [&](Function *F) { return F == Mark; });
  if (none_of(Functions,
              [&](Function *F) { return !callsOf(M, MarkName, F).empty(); }))
    return nullptr;
  auto *Kept = cast<Function>(
      M.getOrInsertFunction(KeptMarkName, Mark->getFunctionType()).getCallee());
  Kept->addFnAttr(Attribute::NoUnwind);
  Kept->addFnAttr(Attribute::Convergent);
  Kept->addFnAttr(Attribute::WillReturn);
  Kept->setOnlyAccessesInaccessibleMemory();
  std::vector<ClonedFunction> Copies = cloneKernel(Functions, CopySuffix);
  for (ClonedFunction &F : Copies)
    for (CallInst *Call : callsOf(M, MarkName, F.Clone)) {
      Call->setCalledFunction(Kept);
      Call->setAttributes({});
    }
  return Copies.front().Clone;
}

PreservedAnalyses MarksPass::run(Module &M, ModuleAnalysisManager &) {
  Options Wanted;
  // What is wrong with the options is said by the pass that comes last.
  if (Error E = Wanted.parseEnvironment()) {
    consumeError(std::move(E));
    return PreservedAnalyses::all();
  }
  if (Wanted.Disable || compat::targetTriple(M).getArch() != Triple::amdgcn)
    return PreservedAnalyses::all();
  SmallVector<Function *, 8> Kernels;
  for (Function &F : M)
    if (F.getCallingConv() == CallingConv::AMDGPU_KERNEL &&
        !F.isDeclaration() && !F.hasLocalLinkage() &&
        Wanted.selectsKernel(F.getName()))
      Kernels.push_back(&F);
  bool Changed = false;
  for (Function *Kernel : Kernels)
    Changed |= copyWithMarks(*Kernel) != nullptr;
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

Function &markedCopy(Function &Kernel) {
  Function *Copy =
      Kernel.getParent()->getFunction((Kernel.getName() + CopySuffix).str());
  // Where nobody was there before the optimiser (opt).
  if (!Copy)
    Copy = copyWithMarks(Kernel);
  return Copy ? *Copy : Kernel;
}

StringRef originalName(StringRef Name) { return Name.split(CopySuffix).first; }

bool isMarkedCopy(const Function &Kernel) {
  return Kernel.getName().contains(CopySuffix);
}

void splitAtMarks(Function &F, MarkNames &Names) {
  Module &M = *F.getParent();
  for (CallInst *Call : callsOf(M, KeptMarkName, &F)) {
    StringRef Name;
    auto *Kind = dyn_cast<ConstantInt>(Call->getArgOperand(1));
    if (!getConstantStringInfo(Call->getArgOperand(0)->stripPointerCasts(),
                               Name) ||
        !Kind) {
      reportWarning(M, "a mark in '" + F.getName() +
                           "' has no constant name: left out");
      Call->eraseFromParent();
      continue;
    }
    const char *What = Kind->equalsInt(KPROBE_MARK_BEGIN) ? "begin "
                       : Kind->equalsInt(KPROBE_MARK_END) ? "end "
                                                          : "mark ";
    BasicBlock *Behind =
        Call->getParent()->splitBasicBlock(Call->getIterator());
    Names[Behind] = What + Name.str();
    Call->eraseFromParent();
  }
}

bool removeMarkedCopies(Module &M) {
  SmallVector<GlobalValue *, 16> Copies;
  for (GlobalValue &Each : M.global_values())
    if (Each.getName().contains(CopySuffix) || Each.getName() == KeptMarkName)
      Copies.push_back(&Each);
  bool Found = !Copies.empty();
  // What was made from the copies has their names, but is in use.
  for (bool Changed = true; Changed;) {
    Changed = false;
    erase_if(Copies, [&](GlobalValue *Each) {
      Each->removeDeadConstantUsers();
      if (!Each->use_empty())
        return false;
      Each->eraseFromParent();
      return Changed = true;
    });
  }
  return Found;
}

} // namespace kprobe
