// One word in each thread's static TLS block.
#include "ThreadId.h"

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

} // namespace kprobe
