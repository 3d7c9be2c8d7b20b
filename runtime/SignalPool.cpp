// A signal's handle is the address of its amd_signal_t, which is ABI between
// runtime, tools and hardware (amd_hsa_signal.h).
#include "SignalPool.h"

#include <hsa/amd_hsa_signal.h>

namespace kprobe {

hsa_signal_t SignalPool::acquire() {
  hsa_signal_t Signal = {};
  {
    std::lock_guard<std::mutex> Guard(Lock);
    if (!Free.empty()) {
      Signal = Free.back();
      Free.pop_back();
    } else if (Created < MostSignals) {
      if (Api.hsa_signal_create(1, 0, nullptr, &Signal) != HSA_STATUS_SUCCESS)
        return {};
      ++Created;
    } else {
      return {};
    }
  }
  auto *Raw = reinterpret_cast<amd_signal_t *>(Signal.handle);
  Raw->start_ts = 0;
  Raw->end_ts = 0;
  Api.hsa_signal_store_screlease(Signal, 1);
  return Signal;
}

void SignalPool::release(hsa_signal_t Signal) {
  if (!Signal.handle)
    return;
  std::lock_guard<std::mutex> Guard(Lock);
  Free.push_back(Signal);
}

void SignalPool::destroyAll() {
  std::lock_guard<std::mutex> Guard(Lock);
  for (hsa_signal_t Signal : Free)
    Api.hsa_signal_destroy(Signal);
  Free.clear();
  Created = MostSignals;
}

} // namespace kprobe
