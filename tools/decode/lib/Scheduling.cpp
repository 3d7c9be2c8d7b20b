// Pairs of switches are waits; a wakeup in between says who ended one.
#include "Scheduling.h"

#include <algorithm>

namespace kprobe {

void Scheduling::switched(const KernelRecord &R) {
  Out.Switches = true;
  Thread &T = Threads[R.Thread];
  ThreadActivity &A = Out.Threads[R.Thread];
  A.Id = R.Thread;
  A.Process = R.Process;
  A.First = std::min(A.First, R.Ns);
  A.Last = std::max(A.Last, R.Ns);
  if (R.What == KernelRecord::Kind::SwitchOut) {
    T.Off = true;
    T.Wait = ThreadWait();
    T.Wait.Begin = R.Ns;
    T.Wait.Preempted = R.Preempted;
    T.Wait.Syscall = T.Syscall;
  } else if (T.Off || (!T.Seen && T.Wait.WokenNs != 0)) {
    T.Off = false;
    T.Wait.End = R.Ns;
    if (T.Wait.End > T.Wait.Begin)
      A.Waits.push_back(T.Wait);
  }
  T.Seen = true;
}

void Scheduling::woken(const KernelRecord &R) {
  Thread &T = Threads[R.Woken];
  // A thread that was never seen is new, or has slept since before the trace.
  if (!T.Seen && T.Wait.WokenNs == 0)
    T.Wait.Begin = BeginNs - 1;
  // The first one stands: it made the thread ready.
  if ((!T.Off && T.Seen) || T.Wait.WokenNs != 0)
    return;
  T.Wait.WokenNs = R.Ns;
  // Whoever was interrupted has nothing to do with it.
  auto Open = Interrupts.find(R.Processor);
  bool Interrupted = Open != Interrupts.end() && Open->second != 0;
  T.Wait.Waker = Interrupted ? 0 : R.Thread;
}

void Scheduling::add(const KernelRecord &R) {
  using Kind = KernelRecord::Kind;
  switch (R.What) {
  case Kind::SwitchIn:
  case Kind::SwitchOut:
    // Not in the middle of an interrupt: its end was lost.
    Interrupts.erase(R.Processor);
    if (R.Own)
      switched(R);
    return;
  case Kind::Wakeup:
    return woken(R);
  case Kind::SyscallBegin:
    Threads[R.Thread].Syscall = R.Number;
    return;
  case Kind::SyscallEnd:
    Threads[R.Thread].Syscall = -1;
    return;
  case Kind::InterruptBegin:
    ++Interrupts[R.Processor];
    return;
  case Kind::InterruptEnd:
    if (uint32_t &Open = Interrupts[R.Processor])
      --Open;
    return;
  }
}

} // namespace kprobe
