// Marks of kprobe/mark.h.
//
// A mark must not change the original kernel, not even how it is optimised. So
// a kernel with marks is copied before anything is inlined: in the copy a mark
// is a call of a function that nobody knows, which the optimiser keeps, and the
// original loses its marks as any empty function that is inlined. In the end
// the copy is what is instrumented in place of the original.
#ifndef KPROBE_PASS_MARKS_H
#define KPROBE_PASS_MARKS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"
#include <string>

namespace kprobe {

// Names of the blocks that begin with a mark.
using MarkNames = llvm::DenseMap<const llvm::BasicBlock *, std::string>;

// First in the pipeline: copies the kernels that have marks.
class MarksPass : public llvm::PassInfoMixin<MarksPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M,
                              llvm::ModuleAnalysisManager &Analyses);
  static bool isRequired() { return true; }
};

// The copy of a kernel that has its marks; the kernel itself if it has none.
llvm::Function &markedCopy(llvm::Function &Kernel);
// Whether a kernel is such a copy.
bool isMarkedCopy(const llvm::Function &Kernel);

// The name of a function without what copying added.
llvm::StringRef originalName(llvm::StringRef Name);

// Makes a block of what follows each mark of a function.
void splitAtMarks(llvm::Function &F, MarkNames &Names);

// Removes the copies, and what only they used; true if there were any.
bool removeMarkedCopies(llvm::Module &M);

} // namespace kprobe

#endif
