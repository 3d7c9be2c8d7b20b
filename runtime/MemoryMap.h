// What the device may reach: the program's allocations, pinned memory and code
// objects; and the gate that all work but a dispatch's own waits at while that
// is run twice (mode exact).
//
// Hooks of their own, put into the table only in that mode. An allocation that
// nobody else sees while a kernel runs (coarse-grained, on one GPU) can be saved
// and put back; of any other it is enough to know that it is there.
#ifndef KPROBE_RUNTIME_MEMORYMAP_H
#define KPROBE_RUNTIME_MEMORYMAP_H

#include "HsaApi.h"

#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kprobe {

struct MemoryRange {
  uint64_t Begin = 0;
  uint64_t Bytes = 0;
  uint64_t Agent = 0; // handle of the one agent that owns it; 0: shared
};

class MemoryMap {
public:
  explicit MemoryMap(const HsaApi &Api) : Api(Api) {}

  // Puts the hooks into the table, and takes out those that still stand there.
  // One object a process is in charge at a time.
  void install(HsaApiTable *Table);
  static void remove(HsaApiTable *Table);
  // In the child of a fork, where the gate may be held for ever: the hooks pass
  // everything through.
  static void letGo();

  // Held by whoever submits work, for as long as that takes.
  std::mutex Gate;

  // The allocation that Address is in, as ROCr knows it; Bytes 0: none.
  MemoryRange ask(const void *Address) const;
  void add(const MemoryRange &Range);
  void remove(uint64_t Begin);
  // In order of addresses.
  std::vector<MemoryRange> all() const;

  // With the gate held, all of them.
  // A barrier of Queue, or of all queues if null, that waits until Signal is
  // zero, or for ever if it has no handle.
  void barrierSubmitted(const hsa_queue_t *Queue, hsa_signal_t Signal);
  // Whether every copy that was submitted has ended, and nothing holds back
  // what Queue was given.
  bool isQuiet(const hsa_queue_t *Queue);

private:
  friend struct MemoryHooks;
  void signalDestroyed(hsa_signal_t Signal);

  const HsaApi &Api;
  mutable std::mutex Lock;
  std::map<uint64_t, MemoryRange> Ranges; // by begin
  // Under the gate: completion signals of copies, and their values before; and
  // what barriers wait for.
  std::unordered_map<uint64_t, int64_t> Copies;
  std::vector<std::pair<const hsa_queue_t *, uint64_t>> Barriers;
};

} // namespace kprobe

#endif
