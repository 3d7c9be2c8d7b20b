// What recording costs the program: a loop of small API calls, a loop of
// dispatches. Prints the nanoseconds of each loop by CLOCK_MONOTONIC, and those
// that the calling thread computed. The dispatches are submitted in pieces:
// submit_typical_ns is what the loop takes when each piece takes as long as the
// median one, which leaves out those in which the thread lost its processor.
//
//   calls CALLS DISPATCHES
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

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
  std::vector<long long> Pieces;
  Begin = now();
  for (long I = 0; I < Dispatches; I += Piece) {
    long long First = now();
    Busy = now(CLOCK_THREAD_CPUTIME_ID);
    for (long J = I; J < I + Piece && J < Dispatches; ++J)
      nothing<<<1, 1>>>();
    SubmitBusyNs += now(CLOCK_THREAD_CPUTIME_ID) - Busy;
    Pieces.push_back(now() - First);
    SubmitNs += Pieces.back();
    check(hipDeviceSynchronize());
  }
  long long DispatchesNs = now() - Begin;
  long long TypicalNs = 0;
  if (!Pieces.empty()) {
    auto Median = Pieces.begin() + std::ptrdiff_t(Pieces.size() / 2);
    std::nth_element(Pieces.begin(), Median, Pieces.end());
    TypicalNs = *Median * (long long)Pieces.size();
  }
  std::printf("calls_ns %lld\ncalls_busy_ns %lld\nsubmit_ns %lld\n"
              "submit_typical_ns %lld\nsubmit_busy_ns %lld\n"
              "dispatches_ns %lld\n",
              CallsNs, CallsBusyNs, SubmitNs, TypicalNs, SubmitBusyNs,
              DispatchesNs);
  return 0;
}
