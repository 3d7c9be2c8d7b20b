// What the parts of the fake share among themselves.
#ifndef KPROBE_TEST_FAKEINTERNAL_H
#define KPROBE_TEST_FAKEINTERNAL_H

#include "FakeHsa.h"

namespace fake {

inline uint64_t nowNs() {
  struct timespec Now;
  clock_gettime(CLOCK_MONOTONIC, &Now);
  return uint64_t(Now.tv_sec) * 1000000000ull + uint64_t(Now.tv_nsec);
}
// The fake system clock runs 5 s ahead of CLOCK_MONOTONIC, the fake counter
// starts 3 s before it; both are what a test can compute by hand.
constexpr uint64_t SystemAheadNs = 5000000000ull;
inline uint64_t ticksAt(uint64_t Ns) {
  return uint64_t((unsigned __int128)(Ns + 3000000000ull) * Instance->TickHz /
                  1000000000u);
}

inline Queue *findQueue(hsa_queue_t *Public) {
  std::lock_guard<std::mutex> Guard(Instance->Lock);
  return Instance->Queues.at(Public).get();
}

inline amd_signal_t *raw(hsa_signal_t Signal) {
  return reinterpret_cast<amd_signal_t *>(Signal.handle);
}
inline std::atomic<int64_t> &valueOf(hsa_signal_t Signal) {
  return *reinterpret_cast<std::atomic<int64_t> *>(
      const_cast<int64_t *>(&raw(Signal)->value));
}

// Hands the handler of a signal that has fallen to the signal thread.
void fallen(hsa_signal_t Signal);
// Puts the fake's functions into its API table.
void fillTable(Hsa &Fake);

} // namespace fake

#endif
