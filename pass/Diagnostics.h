// How the pass talks to the user: through the compiler's own diagnostics, so
// that clang prints, counts and (with -Werror) acts on them as on its own.
#ifndef KPROBE_PASS_DIAGNOSTICS_H
#define KPROBE_PASS_DIAGNOSTICS_H

#include "llvm/ADT/Twine.h"
#include "llvm/IR/Module.h"

namespace kprobe {

void reportError(llvm::Module &M, const llvm::Twine &Message);
void reportWarning(llvm::Module &M, const llvm::Twine &Message);

} // namespace kprobe

#endif
