// What LTTng-UST's own tracepoint costs: a loop of our call_begin and call_end
// events as the provider emits them, and nothing else. Prints nanoseconds as
// calls.hip does; one call is two events.
//
//   tracepoint CALLS
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng/Tracepoints.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>

static long long now(clockid_t Clock) {
  timespec Time;
  clock_gettime(Clock, &Time);
  return Time.tv_sec * 1000000000ll + Time.tv_nsec;
}

int main(int Count, char **Arguments) {
  long Calls = Count > 1 ? std::atol(Arguments[1]) : 100000;
  KprobeCallBegin Begin = {};
  KprobeCallEnd End = {};
  // hipGetDevice: a pointer in, an integer out, each padded to 8 bytes.
  const uint8_t Values[8] = {};
  auto Once = [&] {
    lttng_ust_tracepoint(kprobe, call_begin, &Begin, "hip", "hipGetDevice", Values, sizeof(Values));
    lttng_ust_tracepoint(kprobe, call_end, &End, "hip", "hipGetDevice", Values, sizeof(Values));
  };
  Once();
  long long First = now(CLOCK_MONOTONIC), Busy = now(CLOCK_THREAD_CPUTIME_ID);
  for (long I = 0; I < Calls; ++I)
    Once();
  long long BusyNs = now(CLOCK_THREAD_CPUTIME_ID) - Busy;
  std::printf("calls_ns %lld\ncalls_busy_ns %lld\n", now(CLOCK_MONOTONIC) - First, BusyNs);
  return 0;
}
