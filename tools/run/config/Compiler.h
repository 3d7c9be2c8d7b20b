// Finding the plug-in that fits a compiler.
#ifndef KPROBE_CONFIG_COMPILER_H
#define KPROBE_CONFIG_COMPILER_H

#include <string>
#include <vector>

namespace kprobe {

// Exactly one of the two is empty.
struct PathOrError {
  std::string Path, Error;
};

// LLVM's major version in the output of `clang --version`, `hipcc --version` or
// `opt --version`; 0 when there is none.
unsigned majorVersionIn(const std::string &Text);

// The LLVM of hipcc 5.2.3.
constexpr unsigned HipccMajor = 15;

// The plug-in in `Library` for an LLVM of this major version.
PathOrError pluginForMajor(unsigned Major, const std::string &Library);

// The plug-in in `Library` for the compiler (a path or a name on PATH); an
// empty name stands for hipcc, or else clang.
PathOrError pluginFor(const std::string &Compiler, const std::string &Library);

} // namespace kprobe

#endif
