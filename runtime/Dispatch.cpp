// The board: one lock, held for a few instructions at a time.
#include "Dispatch.h"

namespace kprobe {

void DispatchBoard::submitted(const DispatchRef &Item) {
  std::lock_guard<std::mutex> Guard(Lock);
  Unfinished[Item->Record.Dispatch] = Item;
}

void DispatchBoard::withdraw(const DispatchRef &Item) {
  std::lock_guard<std::mutex> Guard(Lock);
  Unfinished.erase(Item->Record.Dispatch);
}

void DispatchBoard::completed(const DispatchRef &Item) {
  {
    std::lock_guard<std::mutex> Guard(Lock);
    // One that was taken off already (orphaned, or given up at the end) has
    // been written; a second time would count it twice.
    if (Item->Own.handle && Unfinished.erase(Item->Record.Dispatch) == 0)
      return;
    Ready.push_back(Item);
    if (Unfinished.empty())
      Departure.notify_all();
  }
  Arrival.notify_one();
}

void DispatchBoard::orphan(
    const QueueState &Queue,
    const std::function<bool(const Dispatch &)> &IsLost) {
  {
    std::lock_guard<std::mutex> Guard(Lock);
    for (auto It = Unfinished.begin(); It != Unfinished.end();) {
      if (It->second->Queue.get() != &Queue || !IsLost(*It->second)) {
        ++It;
        continue;
      }
      Ready.push_back(It->second);
      It = Unfinished.erase(It);
    }
    if (Unfinished.empty())
      Departure.notify_all();
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
DispatchBoard::take(std::chrono::milliseconds Patience) {
  std::unique_lock<std::mutex> Guard(Lock);
  Arrival.wait_for(Guard, Patience,
                   [&] { return Stop || Nudged || !Ready.empty(); });
  Nudged = false;
  std::vector<DispatchRef> Batch;
  Batch.swap(Ready);
  return Batch;
}

bool DispatchBoard::waitAllCompleted(std::chrono::milliseconds Patience) {
  std::unique_lock<std::mutex> Guard(Lock);
  return Departure.wait_for(Guard, Patience,
                            [&] { return Unfinished.empty(); });
}

bool DispatchBoard::allAre(
    const std::function<bool(const Dispatch &)> &Condition) const {
  std::lock_guard<std::mutex> Guard(Lock);
  for (const auto &Entry : Unfinished)
    if (!Condition(*Entry.second))
      return false;
  return true;
}

std::vector<DispatchRef> DispatchBoard::takeUnfinished() {
  std::lock_guard<std::mutex> Guard(Lock);
  std::vector<DispatchRef> Rest;
  for (auto &Entry : Unfinished)
    Rest.push_back(Entry.second);
  Unfinished.clear();
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
