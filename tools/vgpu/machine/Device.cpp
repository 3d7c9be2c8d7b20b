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
#include <thread>
#include <time.h>

namespace vgpu {

/// How far modelled time may be ahead of the host's before it waits.
constexpr uint64_t LeadMicroseconds = 50;
/// How long a dispatch waits for modelled time to reach the host's, while another
/// one runs that may be waiting for it.
constexpr uint64_t PatienceSeconds = 5;

class Device::Impl {
public:
  Impl(DeviceConfig C, AddressSpace &Memory) : Config(std::move(C)), Cores(Config, Memory) {}

  uint64_t now() const {
    timespec T;
    clock_gettime(CLOCK_MONOTONIC, &T);
    return Config.ticksAt(uint64_t(T.tv_sec) * 1000000000 + uint64_t(T.tv_nsec));
  }

  void drive(std::unique_lock<std::mutex> &Guard, const Dispatch &Own);
  bool startArrived();
  void ended(Dispatch &D);
  void sleepUntil(uint64_t Tick) const {
    for (uint64_t Now = now(); Now < Tick; Now = now())
      std::this_thread::sleep_for(
          std::chrono::nanoseconds((Tick - Now) * 1000 / Config.RealTimeMHz));
  }
  void release() {
    if (--Holds == 0)
      Changed.notify_all();
  }

  const DeviceConfig Config;
  Machine Cores; ///< Of the driving thread, or of who holds the lock when none drives.

  std::mutex Lock; ///< Of what follows.
  std::condition_variable Changed;
  std::vector<Dispatch *> Arrived; ///< In run(), not yet looked at.
  std::vector<Dispatch *> Waiting; ///< Modelled time has not come to them yet.
  bool Driving = false;
  unsigned Holds = 0;
};

/// Under the lock.
void Device::Impl::ended(Dispatch &D) {
  D.Ended = true;
  if (D.Args->Held && !D.Args->Held->exchange(true))
    ++Holds;
}

/// Begins what is due, the earliest first. True if anything was.
bool Device::Impl::startArrived() {
  for (Dispatch *D : Arrived) {
    D->ReadyTick = D->Args->ReadyTick ? D->Args->ReadyTick : now();
    D->WaitsSince = now();
    Waiting.push_back(D);
  }
  Arrived.clear();
  bool Any = false;
  while (!Waiting.empty()) {
    auto First = std::min_element(
        Waiting.begin(), Waiting.end(),
        [](const Dispatch *A, const Dispatch *B) { return A->ReadyTick < B->ReadyTick; });
    // The host came with this one while the model was still at what is earlier.
    if (!Cores.idle() && (*First)->ReadyTick > Cores.nowTick()) {
      auto Cancelled = std::find_if(Waiting.begin(), Waiting.end(),
                                    [](const Dispatch *D) { return D->cancelled(); });
      if (Cancelled != Waiting.end())
        First = Cancelled; // To be ended like one that runs.
      else if (now() - (*First)->WaitsSince > PatienceSeconds * 1000000 * Config.RealTimeMHz)
        Cores.skipTo((*First)->ReadyTick);
      else
        break;
    }
    Dispatch *D = *First;
    Waiting.erase(First);
    Any = true;
    if (!Cores.start(*D, D->ReadyTick))
      ended(*D);
  }
  return Any;
}

void Device::Impl::drive(std::unique_lock<std::mutex> &Guard, const Dispatch &Own) {
  std::vector<Dispatch *> Done;
  Driving = true;
  Cores.enter();
  for (;;) {
    if (startArrived())
      Changed.notify_all(); // Some may be over already.
    if (Own.Ended)
      break;
    if (Holds) {
      Changed.wait(Guard, [&] { return !Holds || !Arrived.empty(); });
      continue;
    }
    Guard.unlock();
    Cores.runWindow(Done);
    const uint64_t Lead = LeadMicroseconds * Config.RealTimeMHz;
    if (Cores.nowTick() > now() + Lead)
      sleepUntil(Cores.nowTick() - Lead);
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
  if (const char *Threads = std::getenv("KPROBE_VGPU_THREADS"))
    Config.Threads = unsigned(std::clamp<unsigned long>(std::strtoul(Threads, nullptr, 0), 1,
                                                        Config.units()));
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
  Guard.unlock();
  State->sleepUntil(D.Result.EndTick); // Nobody may see the end before that.
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

uint64_t Device::realTimeNow() const { return State->now(); }

void Device::flush() {
  // Only the log, which is flushed at the end of each dispatch anyway: not while
  // another thread writes it.
  std::lock_guard<std::mutex> Guard(State->Lock);
  if (!State->Driving)
    State->Cores.flush();
}

} // namespace vgpu
