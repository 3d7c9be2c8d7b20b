// A signal's handle is the address of its amd_signal_t, which is ABI between
// runtime, tools and hardware (amd_hsa_signal.h).
#include "SignalPool.h"

#include <hsa/amd_hsa_signal.h>

namespace kprobe {

// As ROCr makes them: with an event unless told that only devices will wait.
hsa_status_t SignalPool::create(hsa_signal_t &Signal) {
  if (Kind == SignalKind::Polled && Api.hsa_amd_signal_create)
    return Api.hsa_amd_signal_create(1, 0, nullptr, HSA_AMD_SIGNAL_AMD_GPU_ONLY,
                                     &Signal);
  return Api.hsa_signal_create(1, 0, nullptr, &Signal);
}

size_t SignalPool::most() const {
  return Kind == SignalKind::Polled && Api.hsa_amd_signal_create ? 1u << 16
                                                                 : 3584;
}

hsa_signal_t SignalPool::acquire() {
  hsa_signal_t Signal = {};
  {
    std::lock_guard<std::mutex> Guard(Lock);
    if (!Free.empty()) {
      Signal = Free.back();
      Free.pop_back();
    } else if (Created < most()) {
      if (create(Signal) != HSA_STATUS_SUCCESS)
        return {};
      ++Created;
    } else {
      return {};
    }
  }
  auto *Raw = reinterpret_cast<amd_signal_t *>(Signal.handle);
  // The device's to write: it is told of them by ROCr's own means.
  __atomic_store_n(&Raw->start_ts, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&Raw->end_ts, 0, __ATOMIC_RELAXED);
  // Not through the API: nobody waits yet, and that would ask the driver to
  // wake them. The packet's submission releases it to the device.
  __atomic_store_n(&Raw->value, 1, __ATOMIC_RELEASE);
  return Signal;
}

void SignalPool::release(hsa_signal_t Signal) {
  if (!Signal.handle)
    return;
  std::lock_guard<std::mutex> Guard(Lock);
  Free.push_back(Signal);
}

void SignalPool::release(const std::vector<hsa_signal_t> &Several) {
  std::lock_guard<std::mutex> Guard(Lock);
  Free.insert(Free.end(), Several.begin(), Several.end());
}

void SignalPool::destroyAll() {
  std::lock_guard<std::mutex> Guard(Lock);
  for (hsa_signal_t Signal : Free)
    Api.hsa_signal_destroy(Signal);
  Free.clear();
  Created = most();
}

} // namespace kprobe
