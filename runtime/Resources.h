// Memory and copies of the program, recorded as host events.
//
// Hooks of their own, put into the table only when host events are asked for.
// A copy's times are known to ROCr alone and only through its completion
// signal, so a copy gets a signal of ours; when that falls, the program's gets
// its time stamps and its decrement first.
// hsa_amd_profiling_get_async_copy_time answers for such a signal what ROCr
// said of ours.
#ifndef KPROBE_RUNTIME_RESOURCES_H
#define KPROBE_RUNTIME_RESOURCES_H

#include "Agents.h"
#include "SignalPool.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace kprobe {

class Resources {
public:
  Resources(const HsaApi &Api, Agents &Devices, SignalPool &Signals)
      : Api(Api), Devices(Devices), Signals(Signals) {}

  // Puts the hooks into the table, and takes out those that still stand there.
  // One object a process is in charge at a time.
  void install(HsaApiTable *Table);
  static void remove(HsaApiTable *Table);

  uint32_t agentNumber(hsa_agent_t Handle);

private:
  friend struct ResourceHooks;
  struct Allocation {
    uint64_t Bytes;
    uint32_t Agent;
  };
  struct Copy {
    Resources *Owner;
    uint64_t Number;
    uint32_t Agent;
    hsa_signal_t Own, App;
    bool Refused; // ROCr did not take it: the program's signal is left alone
  };
  void findPools();
  uint32_t agentOfPool(hsa_amd_memory_pool_t Pool);
  void allocated(const void *Address, uint64_t Bytes, uint32_t Agent);
  void freed(const void *Address);
  // Records the copy; what to pass as completion signal, and later to settle.
  Copy *begin(KprobeHostCopy Event, uint32_t Agent, hsa_signal_t App);
  void refused(Copy *Which, uint64_t Number);
  static bool onCopyDone(hsa_signal_value_t Value, void *Data);

  const HsaApi &Api;
  Agents &Devices;
  SignalPool &Signals;
  // Of a copy that leaves the choice to ROCr, which says nothing of it; with the
  // SDMA engines switched off there is no choice.
  uint32_t DefaultEngine = KPROBE_ENGINE_UNKNOWN;
  std::atomic<uint64_t> Copies{0};
  std::mutex Lock;
  bool PoolsKnown = false;
  std::unordered_map<uint64_t, uint32_t> Pools; // handle → agent number
  std::unordered_map<const void *, Allocation> Allocations;
  // By the program's signal; overwritten by its next copy.
  std::unordered_map<uint64_t, hsa_amd_profiling_async_copy_time_t> Times;
};

} // namespace kprobe

#endif
