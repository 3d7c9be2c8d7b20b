// Ways out of the process on which no exit handler runs: _exit, abort, exec.
//
// Part of the libraries that stand before the program's by LD_PRELOAD: each function
// writes what has been recorded, then does what it is called for. A process that is
// killed has no such moment; it loses what the drain has not come round to yet.
//
// libkprobe-exit.so (KPROBE_EXIT_ALONE) is nothing but this. It comes into every
// process that the program starts, so it does not bring the runtime along: that,
// where ROCr loads it, leaves word of itself in kprobe_at_end.
#include "api/ApiCall.h"

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>
#include <vector>

#ifdef KPROBE_EXIT_ALONE
extern "C" {
KPROBE_API_EXPORT std::atomic<void (*)()> kprobe_at_end{nullptr};
}
#endif

namespace {

void flush() {
#ifdef KPROBE_EXIT_ALONE
  if (auto *AtEnd = kprobe_at_end.load(std::memory_order_acquire))
    AtEnd();
#else
  kprobe::flushBeforeEnd();
#endif
}

template <typename Function> Function *next(Function *, const char *Name) {
  return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, Name));
}

#define KPROBE_NEXT(Name) next(&::Name, #Name)

// The arguments of execl and its like; the last one is a null pointer.
std::vector<char *> listOf(const char *First, va_list *Rest) {
  std::vector<char *> List;
  for (const char *Argument = First; Argument;
       Argument = va_arg(*Rest, const char *))
    List.push_back(const_cast<char *>(Argument));
  List.push_back(nullptr);
  return List;
}

} // namespace

#define KPROBE_END extern "C" KPROBE_API_EXPORT

KPROBE_END void _exit(int Status) {
  flush();
  KPROBE_NEXT(_exit)(Status);
  __builtin_unreachable();
}

KPROBE_END void _Exit(int Status) noexcept { _exit(Status); }

KPROBE_END void abort() noexcept {
  flush();
  KPROBE_NEXT(abort)();
  __builtin_unreachable();
}

KPROBE_END int execve(const char *Path, char *const *Arguments,
                      char *const *Environment) noexcept {
  flush();
  return KPROBE_NEXT(execve)(Path, Arguments, Environment);
}

KPROBE_END int execv(const char *Path, char *const *Arguments) noexcept {
  flush();
  return KPROBE_NEXT(execv)(Path, Arguments);
}

KPROBE_END int execvp(const char *File, char *const *Arguments) noexcept {
  flush();
  return KPROBE_NEXT(execvp)(File, Arguments);
}

KPROBE_END int execvpe(const char *File, char *const *Arguments,
                       char *const *Environment) noexcept {
  flush();
  return KPROBE_NEXT(execvpe)(File, Arguments, Environment);
}

KPROBE_END int fexecve(int File, char *const *Arguments,
                       char *const *Environment) noexcept {
  flush();
  return KPROBE_NEXT(fexecve)(File, Arguments, Environment);
}

KPROBE_END int execl(const char *Path, const char *First, ...) noexcept {
  va_list Rest;
  va_start(Rest, First);
  std::vector<char *> List = listOf(First, &Rest);
  va_end(Rest);
  return execv(Path, List.data());
}

KPROBE_END int execlp(const char *File, const char *First, ...) noexcept {
  va_list Rest;
  va_start(Rest, First);
  std::vector<char *> List = listOf(First, &Rest);
  va_end(Rest);
  return execvp(File, List.data());
}

KPROBE_END int execle(const char *Path, const char *First, ...) noexcept {
  va_list Rest;
  va_start(Rest, First);
  std::vector<char *> List = listOf(First, &Rest);
  // Behind the null pointer stands the environment.
  char *const *Environment = va_arg(Rest, char *const *);
  va_end(Rest);
  return execve(Path, List.data(), Environment);
}
