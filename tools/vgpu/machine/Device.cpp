//===- Device.cpp - Threads share a machine ---------------------------------===//
//
// The threads in run() have no order of their own: one of them drives, which is
// to let the machine run a window of modelled time after the other for the
// dispatches of all, until its own has ended; then another one does. A program
// with one queue thus never waits for another thread.
//
//===----------------------------------------------------------------------===//
#include "machine/Device.h"

#include "machine/Machine.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <time.h>

namespace vgpu {

class Device::Impl {
public:
  Impl(DeviceConfig C, AddressSpace &Memory) : Config(std::move(C)), Cores(Config, Memory) {}

  uint64_t now() const {
    timespec T;
    clock_gettime(CLOCK_MONOTONIC, &T);
    uint64_t Nanoseconds = uint64_t(T.tv_sec) * 1000000000 + uint64_t(T.tv_nsec);
    return std::max(Nanoseconds * Config.RealTimeMHz / 1000, LastEnd.load());
  }

  void drive(std::unique_lock<std::mutex> &Guard, const Dispatch &Own);
  void startArrived();
  void ended(Dispatch &D);
  void release() {
    if (--Holds == 0)
      Changed.notify_all();
  }

  const DeviceConfig Config;
  Machine Cores; ///< Of the driving thread, or of who holds the lock when none drives.
  std::atomic<uint64_t> LastEnd{0};
  std::atomic<uint64_t> ModelTick{0}; ///< 0 when no dispatch runs.

  std::mutex Lock; ///< Of what follows.
  std::condition_variable Changed;
  std::vector<Dispatch *> Arrived; ///< In run(), not yet begun.
  bool Driving = false;
  unsigned Holds = 0;
};

/// Under the lock.
void Device::Impl::ended(Dispatch &D) {
  D.Ended = true;
  LastEnd = std::max(LastEnd.load(), D.Result.EndTick);
  if (D.Args->Held && !D.Args->Held->exchange(true))
    ++Holds;
}

void Device::Impl::startArrived() {
  for (Dispatch *D : Arrived) {
    uint64_t Ready = D->Args->ReadyTick;
    if (!Ready && Cores.idle())
      Ready = now();
    if (!Cores.start(*D, Ready))
      ended(*D);
  }
  Arrived.clear();
}

void Device::Impl::drive(std::unique_lock<std::mutex> &Guard, const Dispatch &Own) {
  std::vector<Dispatch *> Done;
  Driving = true;
  Cores.enter();
  for (;;) {
    const bool Any = !Arrived.empty();
    startArrived();
    ModelTick = Cores.idle() ? 0 : Cores.nowTick();
    if (Any)
      Changed.notify_all(); // Some may be over already.
    if (Own.Ended)
      break;
    if (Holds) {
      Changed.wait(Guard, [&] { return !Holds || !Arrived.empty(); });
      continue;
    }
    Guard.unlock();
    Cores.runWindow(Done);
    Guard.lock();
    if (Done.empty())
      continue;
    for (Dispatch *D : Done)
      ended(*D);
    Done.clear();
    Changed.notify_all();
  }
  Driving = false;
  Changed.notify_all();
}

static DeviceConfig withEnvironment(DeviceConfig Config) {
  if (const char *Cycles = std::getenv("KPROBE_VGPU_MAX_CYCLES"))
    Config.MaxCycles = std::strtoull(Cycles, nullptr, 0);
  return Config;
}

Device::Device(DeviceConfig Config, AddressSpace &Memory)
    : State(std::make_unique<Impl>(withEnvironment(std::move(Config)), Memory)) {}
Device::~Device() = default;

const DeviceConfig &Device::config() const { return State->Config; }

DispatchResult Device::run(const DispatchArgs &Args) {
  Dispatch D(Args, State->Config, State->Cores.memoryMap());
  std::unique_lock<std::mutex> Guard(State->Lock);
  State->Arrived.push_back(&D);
  if (Args.Held && Args.Held->exchange(false))
    State->release();
  else if (State->Driving)
    State->Changed.notify_all();
  while (!D.Ended) {
    if (!State->Driving)
      State->drive(Guard, D);
    else
      State->Changed.wait(Guard);
  }
  return std::move(D.Result);
}

void Device::hold() {
  std::lock_guard<std::mutex> Guard(State->Lock);
  ++State->Holds;
}

void Device::release() {
  std::lock_guard<std::mutex> Guard(State->Lock);
  State->release();
}

uint64_t Device::modelNow() const {
  const uint64_t Tick = State->ModelTick;
  return Tick ? Tick : State->now();
}

uint64_t Device::realTimeNow() const { return State->now(); }

void Device::flush() {
  // Only the log, which is flushed at the end of each dispatch anyway: not while
  // another thread writes it.
  std::lock_guard<std::mutex> Guard(State->Lock);
  if (!State->Driving)
    State->Cores.flush();
}

} // namespace vgpu
