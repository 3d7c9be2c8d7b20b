//===- Tool.cpp - Waits that leave the processor to the device --------------===//
//
// HIP waits for its signals by spinning, which is right where a GPU works
// meanwhile. Here the device computes on the same processors: a waiting thread
// would take a core away from it. So this library also is a tool to ROCr (the
// launchers name it in HSA_TOOLS_LIB, by hand it may be left out): it passes each
// wait on as one that blocks. ROCr spins 200 us all the same and then sleeps in
// hsaKmtWaitOnEvent. What a wait returns does not change.
//
//===----------------------------------------------------------------------===//
#define AMD_INTERNAL_BUILD // The header then includes its neighbours by plain name.
#include <hsa/hsa.h>
#include <hsa/hsa_api_trace.h>
#include <hsa/hsa_ext_amd.h>

#include <cstddef>
#include <cstdint>

namespace {

decltype(hsa_signal_wait_relaxed) *WaitRelaxed;
decltype(hsa_signal_wait_scacquire) *WaitAcquire;

hsa_signal_value_t waitRelaxed(hsa_signal_t Signal, hsa_signal_condition_t Condition,
                               hsa_signal_value_t Value, uint64_t Timeout, hsa_wait_state_t) {
  return WaitRelaxed(Signal, Condition, Value, Timeout, HSA_WAIT_STATE_BLOCKED);
}

hsa_signal_value_t waitAcquire(hsa_signal_t Signal, hsa_signal_condition_t Condition,
                               hsa_signal_value_t Value, uint64_t Timeout, hsa_wait_state_t) {
  return WaitAcquire(Signal, Condition, Value, Timeout, HSA_WAIT_STATE_BLOCKED);
}

} // namespace

#define VGPU_TOOL extern "C" __attribute__((visibility("default")))

VGPU_TOOL bool OnLoad(HsaApiTable *Table, uint64_t, uint64_t, const char *const *) {
  CoreApiTable *Core = Table->core_;
  // A table's minor version is its size.
  constexpr size_t Needed = offsetof(CoreApiTable, hsa_signal_wait_scacquire_fn) + sizeof(void *);
  if (!Core || Core->version.minor_id < Needed)
    return true; // Waits spin, which costs time and nothing else.
  WaitRelaxed = Core->hsa_signal_wait_relaxed_fn;
  WaitAcquire = Core->hsa_signal_wait_scacquire_fn;
  Core->hsa_signal_wait_relaxed_fn = waitRelaxed;
  Core->hsa_signal_wait_scacquire_fn = waitAcquire;
  return true;
}

VGPU_TOOL void OnUnload() {} // ROCr drops its table then.
