// Why a thread came so far so late: one unbroken chain of what it had to wait
// for, walked backwards from its end.
//
//   thread ran                      what ran before it is looked at next
//   thread was preempted            … as if it had run
//   thread waited for a device      the kernel or copy that ended last, then
//                                   what held its queue, or its submission
//   thread was woken by a thread    that thread, from the moment that it did so
//   thread waited for a child       the child, from its end; and from a child's
//                                   begin its parent
//   thread waited for anything else the cause by its system call or its stack
//
// Each moment from the begin to the end is in exactly one segment.
#ifndef KPROBE_DECODE_CRITICALPATH_H
#define KPROBE_DECODE_CRITICALPATH_H

#include "Activity.h"

namespace kprobe {

struct PathSegment {
  enum class Kind {
    Running,
    Preempted, ///< it could have run
    Ready,     ///< woken, not yet running
    Blocked,
    Launch,    ///< from submission to begin
    Device,    ///< a kernel or a copy runs
    Queue,     ///< between one run and the next of its queue
    Return,    ///< from the end of a run until the thread goes on
  };
  Kind What;
  int64_t Begin, End;
  uint32_t Thread = 0;            ///< id; of device kinds: who waits for it
  const DeviceRun *Run = nullptr; ///< of Launch, Device, Queue, Return
  std::string Cause;              ///< of Blocked: "timer (clock_nanosleep)"
  const ThreadWait *Wait = nullptr; ///< of Preempted, Blocked, Ready
};

/// From \p To of thread \p Thread back to \p From, in order of time. \p T: of
/// the machine on which all of \p A was recorded.
std::vector<PathSegment> criticalPath(const Activity &A, const Trace &T,
                                      const FrameNames &Names, uint32_t Thread,
                                      int64_t From, int64_t To);

/// The waves of \p Run that it waited for: the one that ended last, then the one
/// whose end it began after, and so on.
std::vector<const DeviceRun::Wave *> lastWaves(const DeviceRun &Run);

} // namespace kprobe

#endif
