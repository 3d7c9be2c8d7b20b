// A kernel trace of LTTng beside the dumps: what it says of their threads.
#ifndef KPROBE_DECODE_KERNELTRACE_H
#define KPROBE_DECODE_KERNELTRACE_H

#include "Activity.h"

namespace kprobe {

/// What is known of the dumps before the trace is read.
struct KernelTraceWish {
  std::map<uint32_t, uint32_t> Processes; ///< by thread id of the dumps
  std::optional<Machine> Where;           ///< of the first dump
  int64_t RealtimeOffsetNs = 0; ///< CLOCK_REALTIME - CLOCK_MONOTONIC there
};

/// Reads the trace in directory \p Path, or the traces below it, into \p Out, by
/// time. Needs sched_switch; sched_waking (or sched_wakeup), system calls and
/// interrupts are used as far as they are there.
Error readKernelTrace(const std::string &Path, const KernelTraceWish &Wish,
                      std::vector<KernelRecord> &Out);

} // namespace kprobe

#endif
