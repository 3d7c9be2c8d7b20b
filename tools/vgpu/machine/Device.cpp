//===- Device.cpp - One machine, one dispatch at a time ---------------------===//
#include "machine/Device.h"

#include "machine/Machine.h"

#include <algorithm>
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

  DeviceConfig Config;
  std::mutex Running;
  Machine Cores;
  std::atomic<uint64_t> LastEnd{0};
};

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
  std::lock_guard<std::mutex> Lock(State->Running);
  DispatchResult Result = State->Cores.run(Args, State->now());
  State->LastEnd = std::max(State->LastEnd.load(), Result.EndTick);
  return Result;
}

uint64_t Device::realTimeNow() const { return State->now(); }

void Device::invalidateCode(uint64_t, uint64_t) {
  // The code cache compares its pages with memory at the start of each
  // dispatch; nothing of a running dispatch may be freed.
}

void Device::flush() {
  std::lock_guard<std::mutex> Lock(State->Running);
  State->Cores.flush();
}

} // namespace vgpu
