// One dispatch on its way from submission to the dump, and the board on which
// all unfinished ones stand.
//
//   submitted ──(device)──► completed ──(drain thread)──► written
//
// Who moves what: the submitting thread creates a dispatch and puts it on the
// board; the drain thread finds that it has completed, takes it off and writes
// it. Where the program waits for a signal of its own, it is ROCr's signal
// thread that marks it completed. Everything else only reads.
#ifndef KPROBE_RUNTIME_DISPATCH_H
#define KPROBE_RUNTIME_DISPATCH_H

#include "Agents.h"
#include "CodeObjects.h"
#include "SignalPool.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>

namespace kprobe {

// Any AQL packet; they are all of one size.
struct AqlPacket {
  uint16_t Header;
  uint8_t Rest[62];
};
static_assert(sizeof(AqlPacket) == sizeof(hsa_kernel_dispatch_packet_t), "");

struct QueueState;

struct Dispatch {
  KprobeDispatchRecord Record = {};
  std::shared_ptr<const KernelInfo> Kernel; // null: unknown kernel object
  Agent *Device = nullptr;
  std::shared_ptr<QueueState> Queue;
  uint64_t Position = 0; // packets handed to the queue before this one

  RingRegion Region;
  KprobeDispatchContext *Context = nullptr;

  // Whose time stamps are the kernel's.
  hsa_signal_t timed() const { return Run.handle ? Run : Own; }

  // Not to be looked at once Completed is set: another dispatch may have them.
  hsa_signal_t Own = {}; // handle 0: completion is not watched
  hsa_signal_t App = {}; // the program's signal that Own stands in for
  hsa_signal_t Run = {}; // of the run behind a barrier (Replay.h)
  bool Polled = false;   // Own is looked at; else its handler is called
  // Agent ticks, copied from timed() before Completed is set: its release store
  // pairs with the acquire loads of readers.
  uint64_t BeginTick = 0;
  uint64_t EndTick = 0;
  std::atomic<bool> Completed{false};

  bool hasFallen() const;
  void readTicks();

  // The board's, under its lock.
  static constexpr size_t Nowhere = SIZE_MAX;
  size_t Place = Nowhere;
};

using DispatchRef = std::shared_ptr<Dispatch>;

// In memory that an earlier one has left: what the submitter allocates and the
// drain frees, malloc() would pass from thread to thread under its locks.
DispatchRef makeDispatch();

// A queue of the program that is intercepted.
struct QueueState : std::enable_shared_from_this<QueueState> {
  hsa_queue_t *Queue = nullptr;
  Agent *Device = nullptr;
  uint32_t Number = 0;
  uint64_t Size = 0;
  uint32_t Type = 0; // hsa_queue_type_t
  // The program's, for errors.
  void (*OnError)(hsa_status_t, hsa_queue_t *, void *) = nullptr;
  void *OnErrorData = nullptr;
  class Tracer *Owner = nullptr;
  // Set last, with release, and looked at first, with acquire, by the interceptor,
  // which ROCr may call on another thread than that which made the queue.
  std::atomic<bool> Ready{false};

  // ROCr calls the interceptor of one queue from one thread at a time; the
  // lock costs nothing then and makes no use of that.
  std::mutex Lock;
  uint64_t Submitted = 0;          // packets handed to the device queue
  uint64_t Consumed = 0;           // at least so many the device has taken
  std::deque<DispatchRef> Watched; // with a signal of ours, oldest first
};

class DispatchBoard {
public:
  explicit DispatchBoard(SignalPools &Signals) : Signals(Signals) {}

  // Before the packet is handed to the device.
  void submitted(const DispatchRef &Item);
  // Undoes submitted(): the packet will not be watched after all.
  void withdraw(const DispatchRef &Item);
  // From the signal thread, with the ticks read, or from the submitter when
  // nothing is watched. At once: a program far ahead of the drain would find no
  // signals left.
  void completed(const DispatchRef &Item);
  // Puts the dispatches of a destroyed queue that IsLost confirms up for
  // writing.
  void orphan(const QueueState &Queue,
              const std::function<bool(const Dispatch &)> &IsLost);

  // Makes a take() that waits return. Any thread.
  void nudge();
  // The same, unless the lock is held: then take() returns when it would have.
  void tryNudge();

  // Completed ones, waiting up to Patience for the first. Those that are polled
  // are looked at every Pause. Empty on time-out, after nudge() or stop(). Only
  // the drain thread calls it.
  std::vector<DispatchRef> take(std::chrono::milliseconds Patience,
                                std::chrono::microseconds Pause);
  // Whether all have completed, waiting up to Patience for that.
  bool waitAllCompleted(std::chrono::milliseconds Patience);
  // Whether Condition holds of all that have not completed.
  bool allAre(const std::function<bool(const Dispatch &)> &Condition) const;
  // What never completed, removed from the board.
  std::vector<DispatchRef> takeUnfinished();

  void stop();
  bool stopped() const;

private:
  // All with the lock held.
  void remove(Dispatch &Item);
  void collectPolled();
  void give(const DispatchRef &Item, std::vector<hsa_signal_t> &Free);

  SignalPools &Signals;
  mutable std::mutex Lock;
  std::condition_variable Arrival;
  std::condition_variable Departure;
  std::vector<DispatchRef> Unfinished; // each knows its Place
  size_t PolledCount = 0;              // of them
  std::vector<DispatchRef> Ready;
  // The taker waits for longer than Pause: somebody must wake it.
  bool Dozes = false;
  unsigned IdleRounds = 0;
  bool Stop = false;
  bool Nudged = false;
};

} // namespace kprobe

#endif
