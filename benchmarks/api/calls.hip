// What recording costs the program: a loop of small API calls, a loop of
// dispatches. Prints the nanoseconds of each loop by CLOCK_MONOTONIC, and those
// that the calling thread computed: on a busy machine only they mean something.
//
//   calls CALLS DISPATCHES
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

__global__ void nothing() {}

static long long now(clockid_t Clock = CLOCK_MONOTONIC) {
  timespec Time;
  clock_gettime(Clock, &Time);
  return Time.tv_sec * 1000000000ll + Time.tv_nsec;
}

static void check(hipError_t Status) {
  if (Status != hipSuccess) {
    std::fprintf(stderr, "calls: error: %s\n", hipGetErrorString(Status));
    std::exit(1);
  }
}

int main(int Count, char **Arguments) {
  long Calls = Count > 1 ? std::atol(Arguments[1]) : 100000;
  long Dispatches = Count > 2 ? std::atol(Arguments[2]) : 10000;
  int Device = 0;
  check(hipGetDevice(&Device));
  nothing<<<1, 1>>>();
  check(hipDeviceSynchronize());

  long long Begin = now();
  long long Busy = now(CLOCK_THREAD_CPUTIME_ID);
  for (long I = 0; I < Calls; ++I)
    if (hipGetDevice(&Device) != hipSuccess)
      return 1;
  long long CallsBusyNs = now(CLOCK_THREAD_CPUTIME_ID) - Busy;
  long long CallsNs = now() - Begin;

  // In pieces, so that the queue's depth does not decide the time.
  constexpr long Piece = 100;
  long long SubmitNs = 0, SubmitBusyNs = 0;
  Begin = now();
  for (long I = 0; I < Dispatches; I += Piece) {
    long long First = now();
    Busy = now(CLOCK_THREAD_CPUTIME_ID);
    for (long J = I; J < I + Piece && J < Dispatches; ++J)
      nothing<<<1, 1>>>();
    SubmitBusyNs += now(CLOCK_THREAD_CPUTIME_ID) - Busy;
    SubmitNs += now() - First;
    check(hipDeviceSynchronize());
  }
  std::printf("calls_ns %lld\ncalls_busy_ns %lld\nsubmit_ns %lld\n"
              "submit_busy_ns %lld\ndispatches_ns %lld\n",
              CallsNs, CallsBusyNs, SubmitNs, SubmitBusyNs, now() - Begin);
  return 0;
}
