// libkprobe-profile.so: stands before libc by LD_PRELOAD, to see threads begin
// and to keep the program and the profiler out of each other's signals.
#include "profile/Profile.h"

#include <cerrno>
#include <csignal>
#include <dlfcn.h>
#include <new>
#include <pthread.h>

namespace {

template <typename Function> Function *next(Function *, const char *Name) {
  return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, Name));
}
#define KPROBE_NEXT(Name) next(&::Name, #Name)

struct Start {
  void *(*Function)(void *);
  void *Argument;
};

void *threadMain(void *Data) {
  Start Own = *static_cast<Start *>(Data);
  delete static_cast<Start *>(Data);
  kprobe::profileThread();
  return Own.Function(Own.Argument);
}

int changeMask(int (*Next)(int, const sigset_t *, sigset_t *), int How,
               const sigset_t *Set, sigset_t *Old) {
  sigset_t Allowed;
  if (Set && How != SIG_UNBLOCK) {
    Allowed = *Set;
    kprobe::withoutOurs(Allowed);
    Set = &Allowed;
  }
  return Next(How, Set, Old);
}

kprobe::SigactionFunction *nextSigaction() {
  static auto *const Next =
      reinterpret_cast<kprobe::SigactionFunction *>(dlsym(RTLD_NEXT, "sigaction"));
  return Next;
}

__attribute__((constructor)) void start() {
  kprobe::startProfile(nextSigaction());
}

} // namespace

#define KPROBE_PRELOADED extern "C" KPROBE_API_EXPORT

KPROBE_PRELOADED int pthread_create(pthread_t *Thread,
                                    const pthread_attr_t *Attributes,
                                    void *(*Function)(void *),
                                    void *Argument) noexcept {
  static auto *const Next = KPROBE_NEXT(pthread_create);
  if (!kprobe::profiles(__builtin_return_address(0)))
    return Next(Thread, Attributes, Function, Argument);
  auto *Own = new (std::nothrow) Start{Function, Argument};
  if (!Own)
    return EAGAIN;
  int Status = Next(Thread, Attributes, threadMain, Own);
  if (Status != 0)
    delete Own;
  return Status;
}

KPROBE_PRELOADED int sigaction(int Signal, const struct sigaction *New,
                               struct sigaction *Old) noexcept {
  return kprobe::programSigaction(nextSigaction(), Signal, New, Old);
}

KPROBE_PRELOADED sighandler_t signal(int Signal,
                                     sighandler_t Handler) noexcept {
  struct sigaction New = {}, Old = {};
  New.sa_handler = Handler;
  New.sa_flags = SA_RESTART;
  sigemptyset(&New.sa_mask);
  if (kprobe::programSigaction(nextSigaction(), Signal, &New, &Old) != 0)
    return SIG_ERR;
  return Old.sa_handler;
}

KPROBE_PRELOADED int pthread_sigmask(int How, const sigset_t *Set,
                                     sigset_t *Old) noexcept {
  static auto *const Next = KPROBE_NEXT(pthread_sigmask);
  return changeMask(Next, How, Set, Old);
}

KPROBE_PRELOADED int sigprocmask(int How, const sigset_t *Set,
                                 sigset_t *Old) noexcept {
  static auto *const Next = KPROBE_NEXT(sigprocmask);
  return changeMask(Next, How, Set, Old);
}
