// Libraries tell by their names: libLLVM-15.so.1 up to LLVM 17, libLLVM.so.19.1
// since. A compiler that has LLVM inside tells by its own: clang-15.
#include "LoadedLlvm.h"
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <link.h>
#include <unistd.h>

namespace kprobe {

static const char *baseName(const char *Path) {
  const char *Slash = std::strrchr(Path, '/');
  return Slash ? Slash + 1 : Path;
}

// The number behind the prefix, 0 when the name starts otherwise.
static unsigned numberAfter(const char *Name, const char *Prefix) {
  size_t Length = std::strlen(Prefix);
  return std::strncmp(Name, Prefix, Length) ? 0 : std::atoi(Name + Length);
}

static int visitObject(dl_phdr_info *Object, size_t, void *Data) {
  const char *Name = baseName(Object->dlpi_name);
  unsigned Major = numberAfter(Name, "libLLVM-");
  if (!Major)
    Major = numberAfter(Name, "libLLVM.so.");
  if (Major)
    *static_cast<unsigned *>(Data) = Major;
  return Major != 0;
}

unsigned loadedLlvmMajor() {
  unsigned Major = 0;
  dl_iterate_phdr(visitObject, &Major);
  if (Major)
    return Major;
  char Path[4096];
  ssize_t Length = readlink("/proc/self/exe", Path, sizeof Path - 1);
  if (Length <= 0)
    return 0;
  Path[Length] = 0;
  for (const char *Program : {"clang-", "opt-", "lld-"})
    if (!Major)
      Major = numberAfter(baseName(Path), Program);
  return Major;
}

} // namespace kprobe
