// Copies of a kernel, of the functions it calls and of the LDS it uses.
#ifndef KPROBE_PASS_CLONE_H
#define KPROBE_PASS_CLONE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/ValueMapper.h"
#include <memory>
#include <vector>

namespace kprobe {

// The kernel first, then every function with a body that it calls directly,
// itself or through others. What is only reached through a pointer keeps its
// one, uninstrumented body.
llvm::SmallVector<llvm::Function *, 4> functionsOf(llvm::Function &Kernel);

struct ClonedFunction {
  llvm::Function *Original, *Clone;
  std::unique_ptr<llvm::ValueToValueMapTy> Values; // original -> clone
};

// The two bodies of a clone for samples: at the end of its entry block, or before
// the first call there, what is left is a copy for waves that are sampled and
// another for those that are not.
struct TwoBodies {
  llvm::BranchInst *Choice;                       // its condition: sampled
  llvm::BasicBlock *Probed;                       // the first block behind it
  std::unique_ptr<llvm::ValueToValueMapTy> Plain; // probed -> plain
};

// Clones of functionsOf(Kernel), in the same order, calling one another. The
// clone of the kernel is named after it, with the suffix, and as visible to the
// loader.
std::vector<ClonedFunction>
cloneKernel(llvm::ArrayRef<llvm::Function *> Functions,
            llvm::StringRef Suffix);

// Gives the clone of the kernel, the first of Clones, its plain body: the
// original's blocks, and calls of the original's callees. Before anything is
// inserted into the clones.
TwoBodies addPlainBody(llvm::ArrayRef<ClonedFunction> Clones);

} // namespace kprobe

#endif
