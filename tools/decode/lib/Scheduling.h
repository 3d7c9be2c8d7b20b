// What Linux told of threads, made into their waits: from the records of --sched,
// or from those of a kernel's own trace in their place.
#ifndef KPROBE_DECODE_SCHEDULING_H
#define KPROBE_DECODE_SCHEDULING_H

#include "Activity.h"

#include <unordered_map>

namespace kprobe {

class Scheduling {
public:
  /// Nothing was before \p BeginNs.
  Scheduling(Activity &Out, int64_t BeginNs) : Out(Out), BeginNs(BeginNs) {}

  /// Records in order of time.
  void add(const KernelRecord &R);

private:
  /// What was last told about a thread.
  struct Thread {
    bool Seen = false; ///< on a processor, or leaving one
    bool Off = false;
    ThreadWait Wait;
    int64_t Syscall = -1;
  };
  void switched(const KernelRecord &R);
  void woken(const KernelRecord &R);

  Activity &Out;
  int64_t BeginNs;
  std::unordered_map<uint32_t, Thread> Threads;     ///< by id
  std::unordered_map<uint32_t, uint32_t> Interrupts; ///< open, by processor
};

} // namespace kprobe

#endif
