// Completion signals of our own, created as needed and used again.
//
// Each costs the driver an event, of which a process has 4096; the last ones
// are left to the program's own signals, and we go without.
#ifndef KPROBE_RUNTIME_SIGNALPOOL_H
#define KPROBE_RUNTIME_SIGNALPOOL_H

#include "HsaApi.h"

#include <mutex>
#include <vector>

namespace kprobe {

class SignalPool {
public:
  explicit SignalPool(const HsaApi &Api) : Api(Api) {}

  // A signal with value 1 and time stamps of zero, or handle 0.
  hsa_signal_t acquire();
  // Only once the signal's handler is being called, or was never registered.
  void release(hsa_signal_t Signal);

  // Destroys those that are not in use; none may be acquired afterwards.
  void destroyAll();

private:
  static constexpr size_t MostSignals = 3584;

  const HsaApi &Api;
  std::mutex Lock;
  std::vector<hsa_signal_t> Free;
  size_t Created = 0;
};

} // namespace kprobe

#endif
