//===- DispatchRecord.cpp - What the statistics say of one dispatch ---------===//
//
// Gathers the counters that are kept while it runs, and what the kernel
// was launched as. Statistics writes them.
//
//===----------------------------------------------------------------------===//
#include "machine/Machine.h"
#include "machine/Statistics.h"

#include <algorithm>

namespace vgpu {

/// How many waves of the kernel a SIMD can hold, and why not more.
static void findLimit(const DeviceConfig &Config, const KernelDescriptor &Kernel, uint32_t Lds,
                      unsigned WavesPerGroup, DispatchRecord &Record) {
  Record.WavesPerSimd = Config.WavesPerSimd;
  Record.Limit = "slots";
  auto Allow = [&](unsigned Waves, const char *Limit) {
    if (Waves < Record.WavesPerSimd) {
      Record.WavesPerSimd = Waves;
      Record.Limit = Limit;
    }
  };
  Allow(Config.VgprsPerSimd / Kernel.VgprCost, "vgprs");
  Allow(Config.SgprsPerSimd / Kernel.Sgprs, "sgprs");
  auto AllowGroups = [&](unsigned Groups, const char *Limit) {
    Allow(Groups * WavesPerGroup / Config.simdsPerUnit(), Limit);
  };
  AllowGroups(Config.MaxWorkgroupsPerCu * Config.CusPerWgp, "workgroups");
  const uint32_t Granted = (Lds + Config.LdsGranule - 1) / Config.LdsGranule * Config.LdsGranule;
  if (Granted)
    AllowGroups(Config.LdsBytes * Config.CusPerWgp / Granted, "lds");
}

RunCounters &RunCounters::operator+=(const RunCounters &Other) {
  for (unsigned I = 0; I < unsigned(OpClass::Count); ++I) {
    Executed[I] += Other.Executed[I];
    ActiveLanes[I] += Other.ActiveLanes[I];
  }
  WaveCycles += Other.WaveCycles;
  LastCycle = std::max(LastCycle, Other.LastCycle);
  using M = MemoryCounters;
  for (uint64_t M::*Field :
       {&M::L1Hits, &M::L1Misses, &M::ScalarHits, &M::ScalarMisses, &M::ArrayHits, &M::ArrayMisses,
        &M::L2Hits, &M::L2Misses, &M::LastHits, &M::LastMisses, &M::VectorLines, &M::MemoryLines,
        &M::LdsCycles, &M::LdsConflictCycles})
    Traffic.*Field += Other.Traffic.*Field;
  static_assert(sizeof(M) == 14 * sizeof(uint64_t), "all of them");
  return *this;
}

RunCounters Dispatch::counted() const {
  RunCounters Sum;
  for (const RunCounters &C : Counted)
    Sum += C;
  return Sum;
}

void Dispatch::writeStatistics() const {
  Statistics &Writer = Statistics::get();
  if (!Writer.enabled())
    return;
  DispatchRecord R;
  R.Index = Args->DispatchId;
  R.Queue = Args->QueueId;
  R.Kernel = kernelName();
  R.Target = Config.Target;
  if (Stop)
    R.Status = faultCauseName(Found.Cause);
  Counters &C = R.Sums;
  C.Dispatches = 1;
  if (Stop && Found.Cause == FaultCause::InvalidPacket) {
    Writer.add(R); // Nothing has run.
    return;
  }
  std::copy(std::begin(Grid), std::end(Grid), R.Grid);
  std::copy(std::begin(GroupSize), std::end(GroupSize), R.Group);
  R.Vgprs = Kernel.ArchVgprs + Kernel.Accs;
  R.Sgprs = Kernel.Sgprs;
  R.LdsBytes = Lds;
  R.ScratchBytes = Private;
  findLimit(Config, Kernel, Lds, WavesPerGroup, R);
  const RunCounters Sum = counted();
  C.Cycles = Result.Cycles;
  C.Workgroups = GroupsPlaced;
  C.Waves = WavesStarted;
  C.WaveCycles = Sum.WaveCycles;
  C.SlotCycles = Result.Cycles * Config.ComputeUnits * Config.SimdsPerCu * Config.WavesPerSimd;
  for (unsigned I = 0; I < unsigned(OpClass::Count); ++I) {
    const auto Class = OpClass(I);
    C.Instructions[I] = Sum.Executed[I];
    if (!isVectorClass(Class))
      continue;
    C.ActiveLanes += Sum.ActiveLanes[I];
    C.LaneSlots += Sum.Executed[I] * Kernel.WaveSize;
    if (Class == OpClass::FlatAtomic || Class == OpClass::VmemAtomic)
      C.AtomicLanes += Sum.ActiveLanes[I];
    if (Class >= OpClass::LdsLoad && Class <= OpClass::LdsAtomic)
      C.LdsLanes += Sum.ActiveLanes[I];
  }
  const MemoryCounters &M = Sum.Traffic;
  C.VectorLines = M.VectorLines;
  C.L1Hits = M.L1Hits;
  C.L1Misses = M.L1Misses;
  C.ScalarHits = M.ScalarHits;
  C.ScalarMisses = M.ScalarMisses;
  C.ArrayHits = M.ArrayHits;
  C.ArrayMisses = M.ArrayMisses;
  C.L2Hits = M.L2Hits;
  C.L2Misses = M.L2Misses;
  C.LastHits = M.LastHits;
  C.LastMisses = M.LastMisses;
  C.MemoryLines = M.MemoryLines;
  C.LdsCycles = M.LdsCycles;
  C.LdsConflictCycles = M.LdsConflictCycles;
  C.HostSeconds = HostSeconds;
  Writer.add(R);
}

} // namespace vgpu
