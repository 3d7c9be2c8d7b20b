// What the user may ask of the pass. One syntax serves the pipeline text of
// opt (`kprobe<kernels=a*;verbose>`) and the environment of a hipcc build
// (KPROBE_PASS='kernels=a*,b*;verbose'); both together add up. A list may also
// be written as the option repeated: opt itself splits its text at commas.
#ifndef KPROBE_PASS_OPTIONS_H
#define KPROBE_PASS_OPTIONS_H

#include "kprobe/wire.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/Regex.h"
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace kprobe {

// A glob, or between slashes an extended regular expression that is searched
// for.
class Pattern {
public:
  static llvm::Expected<Pattern> create(llvm::StringRef Text);
  bool matches(llvm::StringRef Text) const;

private:
  std::optional<llvm::GlobPattern> Glob;
  std::shared_ptr<llvm::Regex> Expression;
};

// Part of a source file: FILE, FILE:LINE or FILE:FIRST-LAST.
struct SourceRange {
  Pattern File; // of the path, or of what follows any of its slashes
  unsigned First = 0, Last = std::numeric_limits<unsigned>::max();

  static llvm::Expected<SourceRange> create(llvm::StringRef Text);
  bool contains(llvm::StringRef Path, unsigned Line) const;
};

// Where events are.
enum class Level {
  Function, // at the begin and at the ends of functions
  Loop,     // also where loops begin, come round and end
  Block,    // wherever control goes another way than the rest tells
  AllBlocks // at every block, also where others tell of it
};

struct Options {
  bool Disable = false;
  bool Verbose = false;
  kprobe::Level Level = Level::Block;
  uint32_t Mode = KPROBE_MODE_RING; // RING, DROP or COUNTERS: what a probe does
  // A kernel is taken when one of Kernels matches (or there is none) and none
  // of Exclude does; so is a block, by its function and by its source.
  std::vector<Pattern> Kernels, Exclude, Functions;
  std::vector<SourceRange> Sources;

  // Adds the options of a text such as "kernels=a*,b*;verbose".
  llvm::Error parse(llvm::StringRef Text);
  // Adds those of the environment variable KPROBE_PASS, if it is set.
  llvm::Error parseEnvironment();

  // Patterns see the mangled name, the demangled one, and the latter without
  // template arguments, scope and parameters.
  bool selectsKernel(llvm::StringRef MangledName) const;
  bool selectsFunction(llvm::StringRef MangledName) const;
  // Without a source nothing is known to match.
  bool selectsSource(llvm::StringRef Path, unsigned Line) const;

private:
  llvm::Error parseItem(llvm::StringRef Item);
};

} // namespace kprobe

#endif
