// Completion signals of our own, created as needed and used again.
#ifndef KPROBE_RUNTIME_SIGNALPOOL_H
#define KPROBE_RUNTIME_SIGNALPOOL_H

#include "HsaApi.h"

#include <mutex>
#include <vector>

namespace kprobe {

// Whoever waits for a signal either has a handler called or looks at it.
enum class SignalKind {
  // Costs the driver an event, of which a process has 4096; the last ones are
  // left to the program's own signals, and we go without.
  WithHandler,
  // Plain memory: neither the device raises an interrupt for it nor does ROCr's
  // thread wake up. Where ROCr cannot make such, one of the other kind serves.
  Polled
};

class SignalPool {
public:
  SignalPool(const HsaApi &Api, SignalKind Kind) : Api(Api), Kind(Kind) {}

  // A signal with value 1 and time stamps of zero, or handle 0.
  hsa_signal_t acquire();
  // Only once the signal's handler is being called, or was never registered.
  void release(hsa_signal_t Signal);
  void release(const std::vector<hsa_signal_t> &Several);

  // Destroys those that are not in use; none may be acquired afterwards.
  void destroyAll();

private:
  hsa_status_t create(hsa_signal_t &Signal);
  size_t most() const;

  const HsaApi &Api;
  const SignalKind Kind;
  std::mutex Lock;
  std::vector<hsa_signal_t> Free;
  size_t Created = 0;
};

struct SignalPools {
  explicit SignalPools(const HsaApi &Api)
      : WithHandler(Api, SignalKind::WithHandler),
        Polled(Api, SignalKind::Polled) {}
  SignalPool WithHandler;
  SignalPool Polled;
};

} // namespace kprobe

#endif
