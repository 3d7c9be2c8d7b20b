// Where threads spend their time: samples by performance counter, and waits.
//
//   counter overflows in thread T --> real-time signal to T, and to no other
//   T slept and comes back        --> SIGTRAP to T, as it returns to the program
//        '--> handler on T: unwinds T's own stack into T's stream
//
// A handler touches only what its thread owns: no lock, no allocation. The
// counter stops while it runs and is started again at its end, so that at most
// one signal is ever on its way: a thread that blocks it gets one sample late.
//
// Ways in, called by libkprobe-profile.so, which stands before libc in the
// order of symbols:
#ifndef KPROBE_RUNTIME_PROFILE_PROFILE_H
#define KPROBE_RUNTIME_PROFILE_PROFILE_H

#include "Config.h"
#include "api/ApiCall.h"

#include <csignal>

namespace kprobe {

// On the thread that submits Dispatch: where it does so.
void profileSubmit(uint64_t Dispatch);

// Before this thread becomes another program, which a signal of ours would end.
void pauseProfile();

using SigactionFunction = int(int, const struct sigaction *,
                              struct sigaction *);

// Before main: begins if the environment says so. Next is the sigaction that
// libkprobe-profile.so stands before; only there can it be looked up, since this
// library may lie behind libc in the order of symbols.
KPROBE_API_EXPORT void startProfile(SigactionFunction *Next);
// On a new thread, before its first line. Its end is noticed.
KPROBE_API_EXPORT void profileThread();
// Whether a thread started from code at Caller is the program's.
KPROBE_API_EXPORT bool profiles(const void *Caller);
// sigaction(2) as the program would see it without us. A program that wants the
// signal that we use gets it, and we take another.
KPROBE_API_EXPORT int programSigaction(SigactionFunction *Next, int Signal,
                                       const struct sigaction *New,
                                       struct sigaction *Old);
// Takes out of Set what the program may not block: our signals.
KPROBE_API_EXPORT void withoutOurs(sigset_t &Set);

} // namespace kprobe

#endif
