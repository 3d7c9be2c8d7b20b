// Names of the process's addresses: function and line, from the files that were
// mapped there, through libdw of elfutils (which also finds debug files of
// Debian's -dbgsym packages by their build id).
//
// A file that is gone or has another build id than the one that ran gives no
// names: "[libfoo.so]" stands for them, and problems() says why. So do functions
// that a stripped file has no symbol of.
#ifndef KPROBE_DECODE_SYMBOLS_H
#define KPROBE_DECODE_SYMBOLS_H

#include "Trace.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace kprobe {

struct CodePlace {
  std::string Function; ///< demangled; never empty
  std::string File;     ///< "" without debug information
  uint32_t Line = 0;
  std::string Module; ///< last component of the path; "" outside all modules
  bool Emulator = false; ///< code of the virtual GPU
};

class Symbols {
public:
  explicit Symbols(const Trace &From);
  ~Symbols();

  /// What was at \p Address at the time \p Ns.
  const CodePlace &find(uint64_t Address, int64_t Ns);

  /// One line for each file that could not be used.
  const std::set<std::string> &problems() const { return Problems; }

private:
  struct File;
  File *open(size_t Module);
  CodePlace look(size_t Module, uint64_t Address);

  const Trace &T;
  std::vector<std::unique_ptr<File>> Files; ///< by module; null: not opened
  std::map<std::pair<size_t, uint64_t>, CodePlace> Known;
  std::set<std::string> Problems;
};

} // namespace kprobe

#endif
