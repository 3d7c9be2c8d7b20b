// SIGPIPE and SIGXFSZ are raised in the thread that writes. They are blocked
// around the write, and one that the write caused is taken back before the old
// mask returns; one that was pending before stays pending.
#include "QuietWrite.h"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <initializer_list>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

namespace kprobe {

static thread_local bool Blocked = false;

// A signal of a failed write stays pending on that thread, where nobody waits
// for it.
void blocksAllSignals() { Blocked = true; }

namespace {
class SignalShield {
public:
  SignalShield() {
    sigemptyset(&Shielded);
    sigset_t Pending;
    sigpending(&Pending);
    for (int Signal : {SIGPIPE, SIGXFSZ})
      if (!sigismember(&Pending, Signal))
        sigaddset(&Shielded, Signal);
    sigset_t Both;
    sigemptyset(&Both);
    sigaddset(&Both, SIGPIPE);
    sigaddset(&Both, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &Both, &Old);
  }
  ~SignalShield() {
    struct timespec Zero = {0, 0};
    while (sigtimedwait(&Shielded, nullptr, &Zero) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &Old, nullptr);
  }
  SignalShield(const SignalShield &) = delete;
  SignalShield &operator=(const SignalShield &) = delete;

private:
  sigset_t Old;
  sigset_t Shielded;
};
} // namespace

static constexpr int PipePatienceMs = 2000;

static int writeParts(int Fd, struct iovec *Parts, size_t Count) {
  while (Count > 0) {
    if (Parts->iov_len == 0) {
      ++Parts;
      --Count;
      continue;
    }
    ssize_t Written = writev(Fd, Parts, int(Count < 16 ? Count : 16));
    if (Written < 0) {
      if (errno == EINTR)
        continue;
      if (errno != EAGAIN)
        return errno;
      struct pollfd Wait = {Fd, POLLOUT, 0};
      if (poll(&Wait, 1, PipePatienceMs) == 0)
        return ETIMEDOUT;
      continue;
    }
    if (Written == 0)
      return EIO;
    for (size_t Left = size_t(Written); Left > 0;) {
      size_t Step = Left < Parts->iov_len ? Left : Parts->iov_len;
      Parts->iov_base = static_cast<char *>(Parts->iov_base) + Step;
      Parts->iov_len -= Step;
      Left -= Step;
      if (Parts->iov_len == 0) {
        ++Parts;
        --Count;
      }
    }
  }
  return 0;
}

int writeQuietly(int Fd, struct iovec *Parts, size_t Count) {
  int Saved = errno;
  int Result;
  if (Blocked) {
    Result = writeParts(Fd, Parts, Count);
  } else {
    SignalShield Shield;
    Result = writeParts(Fd, Parts, Count);
  }
  errno = Saved;
  return Result;
}

} // namespace kprobe
