//===- ThreadTeam.cpp - Rounds of work for a few threads --------------------===//
#include "machine/ThreadTeam.h"

#include <pthread.h>
#include <signal.h>

namespace vgpu {

ThreadTeam::~ThreadTeam() {
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Leaving = true;
  }
  Begun.notify_all();
  for (std::thread &T : Threads)
    T.join();
}

void ThreadTeam::run(const std::function<void(unsigned)> &Part) {
  if (Threads.size() + 1 < Parts) {
    // The program's signals are for its own threads.
    sigset_t All, Old;
    sigfillset(&All);
    pthread_sigmask(SIG_SETMASK, &All, &Old);
    for (unsigned Number = 1; Number < Parts; ++Number)
      Threads.emplace_back([this, Number] { work(Number); });
    pthread_sigmask(SIG_SETMASK, &Old, nullptr);
  }
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Current = &Part;
    Busy = Parts - 1;
    ++Round;
  }
  Begun.notify_all();
  Part(0);
  std::unique_lock<std::mutex> Guard(Lock);
  Ended.wait(Guard, [this] { return !Busy; });
}

void ThreadTeam::work(unsigned Number) {
  std::unique_lock<std::mutex> Guard(Lock);
  for (uint64_t Seen = 0;; Seen = Round) {
    Begun.wait(Guard, [&] { return Leaving || Round != Seen; });
    if (Leaving)
      return;
    Guard.unlock();
    (*Current)(Number);
    Guard.lock();
    if (--Busy == 0)
      Ended.notify_one();
  }
}

} // namespace vgpu
