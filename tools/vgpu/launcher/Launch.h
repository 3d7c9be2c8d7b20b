//===- Launch.h - What every launcher of the virtual GPU does
//---------------===//
//
// Shared by kprobe-vgpu and kprobe-run: where the installed parts are, which
// environment puts a program onto the virtual GPU, and becoming that program.
// Functions return an error text, "" for success; the programs print it.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_LAUNCHER_LAUNCH_H
#define VGPU_LAUNCHER_LAUNCH_H

#include "machine/DeviceConfig.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

namespace vgpu {

/// ../lib/ from this program's file, with a slash at the end; "" when /proc
/// cannot tell.
inline std::string libraryFolder() {
  char Path[4096];
  const ssize_t Length = readlink("/proc/self/exe", Path, sizeof(Path) - 1);
  if (Length <= 0)
    return "";
  std::string Program(Path, size_t(Length));
  Program.resize(Program.rfind('/'));     // …/bin
  Program.resize(Program.rfind('/') + 1); // …/
  return Program + "lib/";
}

/// The error for a comma-separated list of targets with one that is not
/// modelled.
inline std::string checkTargets(const std::string &List) {
  size_t Begin = 0;
  while (Begin <= List.size()) {
    const size_t End = std::min(List.find(',', Begin), List.size());
    const std::string Target = List.substr(Begin, End - Begin);
    DeviceConfig Config;
    if (!DeviceConfig::forTarget(Target, Config))
      return "unknown target '" + Target + "' (known: " + DeviceConfig::knownTargets() + ")";
    Begin = End + 1;
  }
  return "";
}

/// Makes \p Library the first of the tools that ROCr loads; those that the user
/// named stay. ROCr takes a list separated by blanks, with quotes around a path
/// that has one.
inline void addTool(const std::string &Library) {
  std::string List = Library.find(' ') == std::string::npos ? Library : '"' + Library + '"';
  const char *Old = std::getenv("HSA_TOOLS_LIB");
  const std::string Others = Old ? Old : "";
  if (Others.compare(0, List.size(), List) == 0)
    return; // A launcher started by a launcher.
  if (!Others.empty())
    List += ' ' + Others;
  setenv("HSA_TOOLS_LIB", List.c_str(), 1);
}

/// Makes the ROCm stack of the next program find the virtual GPU.
inline std::string setVirtualGpu(const std::string &Targets) {
  const std::string Folder = libraryFolder() + "kprobe-vgpu";
  const std::string Library = Folder + "/libhsakmt.so.1";
  if (access(Library.c_str(), R_OK) != 0)
    return "cannot read '" + Library + "': " + std::strerror(errno);
  const char *Old = std::getenv("LD_LIBRARY_PATH");
  const std::string Path = Old && *Old ? Folder + ":" + Old : Folder;
  setenv("LD_LIBRARY_PATH", Path.c_str(), 1);
  setenv("KPROBE_VGPU", Targets.c_str(), 1);
  setenv("HSA_ENABLE_SDMA", "0", 1);
  addTool(Library); // thunk/Tool.cpp
  // Small allocations of device memory one by one, not cut from blocks that stay:
  // else the driver never hears of a hipFree, and freed memory stays good.
  setenv("HSA_DISABLE_FRAGMENT_ALLOCATOR", "1", 0);
  return "";
}

/// Does not return when it succeeds. Otherwise Status is what a shell says:
/// 127 for a program that is not there, 126 for one that cannot be run.
inline std::string becomeProgram(std::vector<std::string> Program, int &Status) {
  std::vector<char *> Pointers;
  for (std::string &Argument : Program)
    Pointers.push_back(&Argument[0]);
  Pointers.push_back(nullptr);
  execvp(Pointers[0], Pointers.data());
  const int Problem = errno;
  Status = Problem == ENOENT ? 127 : 126;
  return "cannot run '" + Program[0] + "': " + std::strerror(Problem);
}

} // namespace vgpu
#endif
