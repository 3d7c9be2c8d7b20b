// Every difference between LLVM versions that the pass has to know, so that a
// new version is a change of this file and a row in CMakeLists.txt.
#ifndef KPROBE_PASS_COMPAT_H
#define KPROBE_PASS_COMPAT_H

#include "llvm/Config/llvm-config.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"

#if __has_include("llvm/Plugins/PassPlugin.h")
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif

#if LLVM_VERSION_MAJOR >= 17
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/TargetParser/Triple.h"
#else
#include "llvm/ADT/Triple.h"
#include "llvm/Analysis/DivergenceAnalysis.h"
#endif

// Data of LLVM that only some versions have. Weak, so that a compiler of another
// LLVM can load the plug-in, which then says so (Plugin.cpp); functions are looked
// for when they are first called. test/pass/wrong_llvm.test tries every pair.
asm(".weak _ZN4llvm18DivergenceAnalysis3KeyE\n"
    ".weak _ZN4llvm22UniformityInfoAnalysis3KeyE\n"
    ".weak _ZTVN4llvm17SimpleCaptureInfoE\n"
    ".weak _ZTVN4llvm21SimpleCaptureAnalysisE");

namespace kprobe::compat {

// Values that may differ between the lanes of a wave.
#if LLVM_VERSION_MAJOR >= 17
using Divergence = llvm::UniformityInfo;
using DivergencePass = llvm::UniformityInfoAnalysis;
#else
using Divergence = llvm::DivergenceInfo;
using DivergencePass = llvm::DivergenceAnalysis;
#endif

inline bool isDivergent(const Divergence &Facts, const llvm::Value &V) {
#if LLVM_VERSION_MAJOR >= 17
  return Facts.isDivergent(&V);
#else
  return Facts.isDivergent(V);
#endif
}

inline llvm::Triple targetTriple(const llvm::Module &M) {
  return llvm::Triple(M.getTargetTriple());
}

// Forgets where the function's variables are.
inline void dropVariables(llvm::Function &F) {
  for (llvm::Instruction &I : llvm::make_early_inc_range(llvm::instructions(F))) {
#if LLVM_VERSION_MAJOR >= 19
    I.dropDbgRecords();
#endif
    if (llvm::isa<llvm::DbgVariableIntrinsic>(I))
      I.eraseFromParent();
  }
}

// Whether a kernel may use a different LDS variable than its original without
// either growing. LLVM 15 lays LDS that ordinary functions use out once for
// the whole module, so a copy would be added to every kernel; later versions
// lay it out kernel by kernel, where a copy keeps each variable with one.
constexpr bool CloneSharedLds = LLVM_VERSION_MAJOR >= 17;

// Registers passes before all others, at every level.
template <typename Callback>
void atPipelineStart(llvm::PassBuilder &Builder, Callback AddPasses) {
  Builder.registerPipelineStartEPCallback(
      [AddPasses](llvm::ModulePassManager &Manager, auto &&...) {
        AddPasses(Manager);
      });
}

// Registers the pass at the end of the optimiser, at every level. The
// callback's signature has grown over time; the level is its second argument.
template <typename Callback>
void atOptimizerEnd(llvm::PassBuilder &Builder, Callback AddPasses) {
  Builder.registerOptimizerLastEPCallback(
      [AddPasses](llvm::ModulePassManager &Manager, auto &&...) {
        AddPasses(Manager);
      });
}

} // namespace kprobe::compat

#endif
