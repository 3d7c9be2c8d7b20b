//===- CodeObjects.h - Names and lines for addresses in loaded code ---------===//
//
// ROCr's loader keeps a list of what it has loaded for debuggers (the r_debug
// structure that hsaKmtRuntimeEnable hands over, its link_map entries naming the
// code object's file or memory). From it come kernel names and source lines in
// messages and statistics.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_THUNK_CODEOBJECTS_H
#define VGPU_THUNK_CODEOBJECTS_H

#include "machine/Device.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>

struct r_debug;

namespace vgpu {

class CodeObjects {
public:
  CodeObjects();
  ~CodeObjects();

  void setDebugList(struct r_debug *List);

  /// Symbol (mangled) of the kernel whose descriptor is at \p KernelObject, or "".
  std::string kernelName(uint64_t KernelObject);
  /// Function and source lines of \p Pc, as far as symbols and debug information
  /// go; empty if it lies in no code object.
  CodePlace place(uint64_t Pc);

  void resetLockAfterFork() { new (&Lock) std::mutex; }

private:
  struct Object;
  /// Brings Objects up to date with the loader's list.
  void refresh();

  std::mutex Lock;
  struct r_debug *List = nullptr;
  /// By load address and URI.
  std::map<std::pair<uint64_t, std::string>, std::unique_ptr<Object>> Objects;
};

/// Where a loader URI points: file:///path#offset=N&size=N (size may be absent)
/// or memory://pid#offset=ADDRESS&size=N.
struct CodeObjectUri {
  std::string Path; ///< Empty for memory.
  uint64_t Offset = 0, Size = 0;
};
bool parseCodeObjectUri(const std::string &Uri, CodeObjectUri &Result);

} // namespace vgpu
#endif
