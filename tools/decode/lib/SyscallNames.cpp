// Names of Linux's system calls on x86-64, out of the system's header.
#include "Names.h"

#include <map>

namespace kprobe {

std::string syscallName(const Trace &T, int64_t Number) {
  // Numbers differ between architectures.
  constexpr std::string_view Known = "x86_64";
  if (T.Where && T.Where->System.find(Known) != std::string::npos)
    switch (Number) {
#define KPROBE_SYSCALL(Name, Value)                                            \
  case Value:                                                                  \
    return #Name;
#include "syscalls.def"
#undef KPROBE_SYSCALL
    default:
      break;
    }
  return "system call " + std::to_string(Number);
}

int64_t syscallNumber(std::string_view Name) {
  static const std::map<std::string_view, int64_t> Numbers = {
#define KPROBE_SYSCALL(Name, Value) {#Name, Value},
#include "syscalls.def"
  };
  auto Found = Numbers.find(Name);
  return Found == Numbers.end() ? -1 : Found->second;
}

} // namespace kprobe
