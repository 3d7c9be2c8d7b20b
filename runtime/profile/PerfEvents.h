// Events of perf_event_open(2) on the calling thread.
#ifndef KPROBE_RUNTIME_PROFILE_PERFEVENTS_H
#define KPROBE_RUNTIME_PROFILE_PERFEVENTS_H

#include "Config.h"

namespace kprobe {

// Value of the wait event's siginfo: its SIGTRAP is told from others by it.
constexpr uint64_t WaitEventMark = 0x6b70726f62657754;

// Not yet counting; each overflow sends Signal to this thread. The descriptor,
// or a negative errno.
int openSampleEvent(const ProfileWish &Wish, int Signal);
void sendOverflowAs(int Event, int Signal);

// Every time that this thread returns to the program from having lost the
// processor: a SIGTRAP. A plain signal at the switch would end each sleep of
// the program with EINTR, because it is sent as the thread goes to sleep
// (measured: every poll(2)); a trap is taken on the way back, when the system
// call has its result.
int openWaitEvent();

// Counts on until the next overflow.
void rearm(int Event);
void enable(int Event);
void disable(int Event);

// Value of /proc/sys/kernel/perf_event_paranoid; "?" when it cannot be read.
std::string perfEventParanoid();

} // namespace kprobe

#endif
