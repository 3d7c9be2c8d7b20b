// What the user may ask of the pass. One syntax serves the pipeline text of
// opt (`kprobe<kernels=a*;verbose>`) and the environment of a hipcc build
// (KPROBE_PASS='kernels=a*,b*;verbose'); both together add up. A list may also
// be written as the option repeated: opt itself splits its text at commas.
#ifndef KPROBE_PASS_OPTIONS_H
#define KPROBE_PASS_OPTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"
#include <vector>

namespace kprobe {

struct Options {
  bool Disable = false;
  bool Verbose = false;
  // An event for every block, also where others tell of it.
  bool AllBlocks = false;
  // Globs over kernel names; a kernel is taken when one of Kernels matches (or
  // there is none) and none of Exclude does.
  std::vector<llvm::GlobPattern> Kernels;
  std::vector<llvm::GlobPattern> Exclude;

  // Adds the options of a text such as "kernels=a*,b*;verbose".
  llvm::Error parse(llvm::StringRef Text);
  // Adds those of the environment variable KPROBE_PASS, if it is set.
  llvm::Error parseEnvironment();

  // Globs see the mangled name, the demangled one, and the latter without
  // template arguments, scope and parameters.
  bool selects(llvm::StringRef MangledName) const;
};

} // namespace kprobe

#endif
