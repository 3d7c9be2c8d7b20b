// The device runtime inside a module: linked in once, inlined where called.
#ifndef KPROBE_PASS_HOOKS_H
#define KPROBE_PASS_HOOKS_H

#include "Probe.h"
#include "Target.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/Error.h"

namespace kprobe {

class Hooks {
public:
  // Links the bitcode that the plug-in carries into the module and gives its
  // primitives bodies for the target.
  static llvm::Expected<Hooks> link(llvm::Module &M, const Target &T);

  // Lets a kernel use what the hooks read: takes back attributes that say it
  // never will.
  static void allowIn(llvm::Function &Kernel);

  // The words of the dispatch context of a kernel.
  static llvm::LoadInst *loadContext(llvm::IRBuilderBase &Builder);
  // A call, inlined at once. Sampled: not every wave has a slot.
  Claim waveClaim(llvm::IRBuilderBase &Builder, llvm::LoadInst *Context,
                  bool Sampled);

  // Removes the hooks' own bodies, once no more calls are to come.
  void finish();

private:
  llvm::Function *WaveClaim = nullptr, *WaveClaimSampled = nullptr;
};

} // namespace kprobe

#endif
