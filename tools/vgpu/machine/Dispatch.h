//===- Dispatch.h - One kernel dispatch while it runs -----------------------===//
//
// What belongs to a dispatch and not to the device: its packet and descriptor,
// how far it has come, its counters, how it ended. A device runs several at the
// same time; waves and workgroups point to theirs.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_MACHINE_DISPATCH_H
#define VGPU_MACHINE_DISPATCH_H

#include "core/Inst.h"
#include "machine/Device.h"
#include "machine/KernelDescriptor.h"
#include "machine/MemoryMap.h"
#include "machine/MemoryTiming.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace vgpu {

struct ComputeUnit;
struct LogSection;
struct MachineWave;
struct Workgroup;

/// What one worker counts of a dispatch.
struct alignas(64) RunCounters {
  uint64_t Executed[unsigned(OpClass::Count)] = {};
  uint64_t ActiveLanes[unsigned(OpClass::Count)] = {}; ///< Only if statistics are wanted.
  uint64_t WaveCycles = 0; ///< Lives of the waves that have ended, summed.
  uint64_t LastCycle = 0;  ///< On the machine's time line: when the last one stopped.
  MemoryCounters Traffic;

  RunCounters &operator+=(const RunCounters &Other);
};

struct Dispatch {
  Dispatch(const DispatchArgs &Args, const DeviceConfig &Config, MemoryMap &Memory)
      : Args(&Args), Config(Config), Memory(Memory), Counted(Config.Threads) {}

  // Launch.cpp
  /// Reads the packet and the descriptor. Returns why it cannot be launched; a
  /// missing scratch allocation is left in Result.Status instead.
  const char *prepare(const DispatchArgs &A, DispatchResult &Result);
  /// Gives \p W, placed already, the registers with which it begins.
  void startWave(MachineWave &W, Workgroup &G, unsigned Number);
  /// Whether one more workgroup has room on \p U, on the SIMDs from \p First on.
  bool fits(const ComputeUnit &U, unsigned &First) const;
  /// How many SIMDs of a unit a workgroup's waves are spread over.
  unsigned simdsPerGroup() const {
    return Kernel.WgpMode ? Config.simdsPerUnit() : Config.SimdsPerCu;
  }

  // DispatchRecord.cpp
  RunCounters counted() const; ///< Over all workers.
  void writeStatistics() const;

  // Faults.cpp
  std::string kernelName() const;

  bool allPlaced() const { return GroupsPlaced == GroupsTotal; }
  bool cancelled() const { return Args->Cancel && Args->Cancel->load(std::memory_order_relaxed); }
  bool over() const { return Stop || (allPlaced() && !GroupsLive); }

  const DispatchArgs *Args;
  const DeviceConfig &Config;
  MemoryMap &Memory;

  // What was asked for.
  KernelDescriptor Kernel;
  uint32_t GroupSize[3] = {}, Grid[3] = {}, Groups[3] = {};
  uint64_t GroupsTotal = 0;
  unsigned WavesPerGroup = 0;
  uint32_t Lds = 0, Private = 0;
  uint64_t ScratchBase = 0, ScratchWaveBytes = 0, ScratchBytes = 0;
  std::vector<int> ScratchFree;
  bool UsesScratch = false;
  uint32_t InitialSgprs[16] = {};

  // When it could begin, and since when it waits for modelled time to get there.
  uint64_t ReadyTick = 0, WaitsSince = 0;

  // How far it has come. Cycles are on the machine's time line.
  uint64_t StartTick = 0;
  uint64_t Begin = 0;
  uint64_t Skipped = 0; ///< Cycles in which the clock ran and nothing else did.
  uint64_t GroupsPlaced = 0, GroupsLive = 0;
  bool Stop = false; ///< Found says why.
  Fault Found;
  DispatchResult Result; ///< Filled in when it has ended.
  bool Ended = false;    ///< Under Device's lock.

  std::shared_ptr<LogSection> Log; ///< Null when there is no log.

  // Counters.
  std::vector<RunCounters> Counted; ///< By worker.
  uint64_t WavesStarted = 0;
  double HostSeconds = 0; ///< Processor time that running it took; for statistics only.
};

} // namespace vgpu
#endif
