// A worker waits until main wakes it, main sleeps in between; both say by
// CLOCK_MONOTONIC when. One HIP call, so that there is a dump.
#include <hip/hip_runtime.h>

#include <condition_variable>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <thread>
#include <unistd.h>

static long long now() {
  timespec Time;
  clock_gettime(CLOCK_MONOTONIC, &Time);
  return Time.tv_sec * 1000000000ll + Time.tv_nsec;
}

int main() {
  int Count = 0;
  if (hipGetDeviceCount(&Count) != hipSuccess)
    return 1;
  std::mutex Lock;
  std::condition_variable Condition;
  bool Waiting = false, Ready = false;
  long long Asleep = 0, Awake = 0;
  int WorkerId = 0;
  std::thread Worker([&] {
    std::unique_lock<std::mutex> Guard(Lock);
    WorkerId = gettid();
    Waiting = true;
    Asleep = now();
    Condition.wait(Guard, [&] { return Ready; });
    Awake = now();
  });
  for (bool There = false; !There; usleep(1000)) {
    std::lock_guard<std::mutex> Guard(Lock);
    There = Waiting;
  }
  long long MainAsleep = now();
  usleep(20000);
  long long MainAwake = now();
  long long Notify;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Ready = true;
    Notify = now();
  }
  Condition.notify_one();
  Worker.join();
  std::printf("%d %lld %lld\n%d %lld %lld %lld\n", gettid(), MainAsleep, MainAwake, WorkerId,
              Asleep, Notify, Awake);
  return 0;
}
