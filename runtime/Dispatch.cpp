// The board: one lock, held for a few instructions at a time; for longer only
// where many signals are looked at.
#include "Dispatch.h"

#include <hsa/amd_hsa_signal.h>

namespace kprobe {

// So many looks in vain until the taker waits to be woken.
static constexpr unsigned LingeringRounds = 20;

static amd_signal_t *raw(hsa_signal_t Signal) {
  return reinterpret_cast<amd_signal_t *>(Signal.handle);
}

// Pairs with the device's release of what the kernel wrote.
bool Dispatch::hasFallen() const {
  return __atomic_load_n(&raw(Own)->value, __ATOMIC_ACQUIRE) < 1;
}

void Dispatch::readTicks() {
  const amd_signal_t *Signal = raw(timed());
  BeginTick = __atomic_load_n(&Signal->start_ts, __ATOMIC_RELAXED);
  EndTick = __atomic_load_n(&Signal->end_ts, __ATOMIC_RELAXED);
}

namespace {
// An allocator for pieces of one size that keeps what is given back.
template <typename T> struct Recycler {
  using value_type = T;
  Recycler() = default;
  template <typename U> Recycler(const Recycler<U> &) {}

  struct Kept {
    std::mutex Lock;
    std::vector<T *> Pieces;
  };
  // Never destroyed: dispatches may end after static objects have.
  static Kept &kept() {
    static auto *Only = new Kept;
    return *Only;
  }
  T *allocate(size_t Count) {
    {
      std::lock_guard<std::mutex> Guard(kept().Lock);
      if (Count == 1 && !kept().Pieces.empty()) {
        T *Piece = kept().Pieces.back();
        kept().Pieces.pop_back();
        return Piece;
      }
    }
    return std::allocator<T>().allocate(Count);
  }
  void deallocate(T *Piece, size_t) {
    std::lock_guard<std::mutex> Guard(kept().Lock);
    kept().Pieces.push_back(Piece);
  }
};
template <typename T, typename U>
bool operator==(const Recycler<T> &, const Recycler<U> &) {
  return true;
}
template <typename T, typename U>
bool operator!=(const Recycler<T> &, const Recycler<U> &) {
  return false;
}
} // namespace

DispatchRef makeDispatch() {
  return std::allocate_shared<Dispatch>(Recycler<Dispatch>());
}

void DispatchBoard::submitted(const DispatchRef &Item) {
  bool Wake = false;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Item->Place = Unfinished.size();
    Unfinished.push_back(Item);
    if (Item->Polled) {
      ++PolledCount;
      Wake = Dozes;
      Dozes = false;
    }
  }
  if (Wake)
    Arrival.notify_one();
}

// The last one takes its place.
void DispatchBoard::remove(Dispatch &Item) {
  PolledCount -= Item.Polled;
  size_t Place = Item.Place;
  Item.Place = Dispatch::Nowhere;
  if (Place + 1 != Unfinished.size()) {
    Unfinished[Place] = std::move(Unfinished.back());
    Unfinished[Place]->Place = Place;
  }
  Unfinished.pop_back();
  if (Unfinished.empty())
    Departure.notify_all();
}

void DispatchBoard::withdraw(const DispatchRef &Item) {
  std::lock_guard<std::mutex> Guard(Lock);
  remove(*Item);
}

void DispatchBoard::completed(const DispatchRef &Item) {
  // Pairs with the acquire loads of the submitter (throttle) and the drain.
  Item->Completed.store(true, std::memory_order_release);
  Signals.WithHandler.release(Item->Own);
  Signals.WithHandler.release(Item->Run);
  {
    std::lock_guard<std::mutex> Guard(Lock);
    if (Item->Own.handle) {
      // One that was taken off already (orphaned, or given up at the end) has
      // been written; a second time would count it twice.
      if (Item->Place == Dispatch::Nowhere)
        return;
      remove(*Item);
    }
    Ready.push_back(Item);
  }
  Arrival.notify_one();
}

// In the order of submission, which is roughly that of the ends.
void DispatchBoard::collectPolled() {
  if (PolledCount == 0)
    return;
  std::vector<hsa_signal_t> Free, FreeRuns;
  size_t Kept = 0;
  for (DispatchRef &Item : Unfinished) {
    if (!Item->Polled || !Item->hasFallen()) {
      Item->Place = Kept;
      if (&Unfinished[Kept] != &Item)
        Unfinished[Kept] = std::move(Item);
      ++Kept;
      continue;
    }
    --PolledCount;
    Item->Place = Dispatch::Nowhere;
    Item->readTicks();
    Item->Completed.store(true, std::memory_order_release);
    Free.push_back(Item->Own);
    if (Item->Run.handle)
      FreeRuns.push_back(Item->Run);
    Ready.push_back(std::move(Item));
  }
  Unfinished.resize(Kept);
  Signals.Polled.release(Free);
  Signals.WithHandler.release(FreeRuns);
}

void DispatchBoard::orphan(
    const QueueState &Queue,
    const std::function<bool(const Dispatch &)> &IsLost) {
  {
    std::lock_guard<std::mutex> Guard(Lock);
    for (size_t I = 0; I < Unfinished.size();) {
      DispatchRef Item = Unfinished[I];
      if (Item->Queue.get() != &Queue || !IsLost(*Item)) {
        ++I;
        continue;
      }
      remove(*Item);
      Ready.push_back(std::move(Item));
    }
  }
  Arrival.notify_one();
}

void DispatchBoard::nudge() {
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Nudged = true;
  }
  Arrival.notify_one();
}

void DispatchBoard::tryNudge() {
  if (!Lock.try_lock())
    return;
  Nudged = true;
  Lock.unlock();
  Arrival.notify_one();
}

std::vector<DispatchRef>
DispatchBoard::take(std::chrono::milliseconds Patience,
                    std::chrono::microseconds Pause) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point Limit = Clock::now() + Patience;
  std::unique_lock<std::mutex> Guard(Lock);
  bool Again = true;
  while (Again) {
    IdleRounds = PolledCount ? 0 : IdleRounds + 1;
    Dozes = IdleRounds > LingeringRounds;
    const bool Naps = !Dozes;
    Arrival.wait_until(
        Guard, Naps ? std::min(Limit, Clock::now() + Pause) : Limit, [&] {
          return Stop || Nudged || !Ready.empty() || (!Naps && !Dozes);
        });
    Dozes = false;
    collectPolled();
    Again = !Stop && !Nudged && Ready.empty() && Clock::now() < Limit;
  }
  Nudged = false;
  std::vector<DispatchRef> Batch;
  Batch.swap(Ready);
  return Batch;
}

bool DispatchBoard::waitAllCompleted(std::chrono::milliseconds Patience) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point Limit = Clock::now() + Patience;
  std::unique_lock<std::mutex> Guard(Lock);
  for (collectPolled(); !Unfinished.empty() && Clock::now() < Limit;
       collectPolled())
    Departure.wait_for(Guard, std::chrono::milliseconds(1),
                       [&] { return Unfinished.empty(); });
  return Unfinished.empty();
}

bool DispatchBoard::allAre(
    const std::function<bool(const Dispatch &)> &Condition) const {
  std::lock_guard<std::mutex> Guard(Lock);
  for (const DispatchRef &Item : Unfinished)
    if (!Condition(*Item))
      return false;
  return true;
}

std::vector<DispatchRef> DispatchBoard::takeUnfinished() {
  std::lock_guard<std::mutex> Guard(Lock);
  std::vector<DispatchRef> Rest;
  Rest.swap(Unfinished);
  for (const DispatchRef &Item : Rest)
    Item->Place = Dispatch::Nowhere;
  PolledCount = 0;
  return Rest;
}

void DispatchBoard::stop() {
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Stop = true;
  }
  Arrival.notify_all();
}

bool DispatchBoard::stopped() const {
  std::lock_guard<std::mutex> Guard(Lock);
  return Stop;
}

} // namespace kprobe
