// One word in each thread's static TLS block.
#include "ThreadId.h"

#include <atomic>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kprobe {

static thread_local uint32_t Known
    __attribute__((tls_model("initial-exec"))) = 0;

// The thread that forked is another one in the child; it has no others yet.
[[maybe_unused]] static const int Registered =
    pthread_atfork(nullptr, nullptr, [] { Known = 0; });

uint32_t threadId() {
  if (Known == 0)
    Known = uint32_t(syscall(SYS_gettid));
  return Known;
}

// A few for each time that ROCr is opened. What comes after shows in the trace.
static std::atomic<uint32_t> Ours[64];

void isOurs() {
  for (std::atomic<uint32_t> &Place : Ours) {
    uint32_t None = 0;
    // Plain numbers: the thread that reads the records has its own in order.
    if (Place.compare_exchange_strong(None, threadId(),
                                      std::memory_order_relaxed))
      return;
  }
}

// Not taken out when the thread ends: its last records may be read later, and
// Linux does not soon give a number again.
bool isThreadOfOurs(uint32_t Id) {
  for (const std::atomic<uint32_t> &Place : Ours) {
    uint32_t Known = Place.load(std::memory_order_relaxed);
    if (Known == Id || Known == 0)
      return Known != 0;
  }
  return false;
}

} // namespace kprobe
