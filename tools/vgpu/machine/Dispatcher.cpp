//===- Dispatcher.cpp - From a packet to workgroups and waves ---------------===//
//
// Runs one dispatch: places workgroups on compute units as slots, registers, LDS
// and scratch allow, and takes them off again when they have ended.
//
//===----------------------------------------------------------------------===//
#include "isa/MemTables.h"
#include "machine/Machine.h"

#include <algorithm>
#include <cstring>
#include <time.h>

namespace vgpu {

Machine::Machine(const DeviceConfig &Config, AddressSpace &Space)
    : Config(Config), Model(timingModel(Config)), Memory(Space), Decode(Config.Target, memoryTables()), Code(Decode, *this),
      Timing(Config), Units(Config.units()) {
  SharedBase = Config.LdsAperture;
  SharedLimit = SharedBase + 0xffffffff;
  PrivateBase = Config.ScratchAperture;
  PrivateLimit = PrivateBase + 0xffffffff;
  for (ComputeUnit &U : Units) {
    U.Simds.resize(Config.simdsPerUnit());
    std::fill(std::begin(U.Next), std::end(U.Next), SimdState::Never);
  }
  EngineFree.assign(Config.ShaderEngines, 0);
}

Machine::~Machine() = default;

/// Processor time of this thread.
static double processorSeconds() {
  timespec T;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &T);
  return double(T.tv_sec) + double(T.tv_nsec) * 1e-9;
}

DispatchResult Machine::run(const DispatchArgs &A, uint64_t Start) {
  DispatchResult Result;
  Args = &A;
  Found = Fault();
  Stop = Slept = false;
  StartTick = Start;
  StartCycle = Config.cyclesOf(Start);
  LastCycle = 0;
  Memory.refresh();
  Code.invalidate();
  if (const char *Why = prepare(A, Result)) {
    uint64_t Error = Found.QueueError;
    report(FaultCause::InvalidPacket, Error, nullptr, nullptr, Why, MaxLanes, 0);
  } else if (Result.Status == DispatchStatus::NeedsScratch) {
    Result.StartTick = Result.EndTick = Start;
    return Result;
  } else {
    std::memset(Executed, 0, sizeof Executed);
    std::memset(ActiveLanes, 0, sizeof ActiveLanes);
    WavesStarted = WaveCycles = 0;
    GroupsPlaced = GroupsLive = 0;
    NextCu = 0;
    std::fill(EngineFree.begin(), EngineFree.end(), 0);
    Timing.startDispatch();
    for (ComputeUnit &U : Units) {
      for (SimdState &S : U.Simds)
        S.reset();
      std::fill(std::begin(U.Next), std::end(U.Next), SimdState::Never);
      U.Groups = U.LdsUsed = U.GroupSlots = 0;
      U.LdsOfCu[0] = U.LdsOfCu[1] = 0;
    }
    if (Log.enabled())
      Log.beginDispatch(A.DispatchId, A.QueueId, reinterpret_cast<uint64_t>(A.Packet), kernelName(),
                        Kernel.Entry, Code);
    const double Before = processorSeconds();
    placeGroups(0);
    runWindows();
    HostSeconds = processorSeconds() - Before;
    releaseAll();
  }
  Result.StartTick = Start;
  Result.Cycles = LastCycle;
  Result.EndTick =
      Start + std::max<uint64_t>(1, (LastCycle * Config.RealTimeMHz + Config.EngineMHz - 1) /
                                        Config.EngineMHz);
  if (Stop) {
    Result.Status = DispatchStatus::Faulted;
    Result.Fault = Found;
  }
  if (Log.enabled())
    Log.endDispatch(Result.Cycles, Stop ? faultCauseName(Found.Cause) : "completed");
  writeStatistics(Result);
  Args = nullptr;
  return Result;
}

bool Machine::fits(const ComputeUnit &U, unsigned &First) const {
  if (U.Groups >= Config.MaxWorkgroupsPerCu * Config.CusPerWgp)
    return false;
  uint32_t Granted = (Lds + Config.LdsGranule - 1) / Config.LdsGranule * Config.LdsGranule;
  if (U.LdsUsed + Granted > Config.LdsBytes * Config.CusPerWgp)
    return false;
  if (UsesScratch && ScratchFree.size() < WavesPerGroup)
    return false;
  // Waves go to the SIMDs in turn; count what each could still take.
  const unsigned Span = simdsPerGroup();
  unsigned Best = 0;
  for (unsigned From = 0; From < U.Simds.size(); From += Span) {
    if (Span < U.Simds.size() && U.LdsOfCu[From / Span] + Granted > Config.LdsBytes)
      continue;
    unsigned Room = 0;
    for (unsigned I = From; I < From + Span; ++I) {
      const SimdState &S = U.Simds[I];
      Room += std::min({Config.WavesPerSimd - S.Used,
                        (Config.VgprsPerSimd - S.VgprsUsed) / Kernel.VgprCost,
                        (Config.SgprsPerSimd - S.SgprsUsed) / Kernel.Sgprs});
    }
    if (Room > Best) {
      Best = Room;
      First = From;
    }
  }
  return Best >= WavesPerGroup;
}

/// Starts the next workgroup on \p Cu at \p When or later, if it fits.
bool Machine::placeGroup(unsigned Cu, uint64_t When) {
  ComputeUnit &U = Units[Cu];
  unsigned FirstSimd = 0;
  if (GroupsPlaced == GroupsTotal || !fits(U, FirstSimd))
    return false;
  if (GroupFree.empty()) {
    GroupPool.push_back(std::make_unique<Workgroup>());
    GroupFree.push_back(GroupPool.back().get());
  }
  Workgroup &G = *GroupFree.back();
  GroupFree.pop_back();
  uint64_t Number = GroupsPlaced++;
  ++GroupsLive;
  G.Id[0] = uint32_t(Number % Groups[0]);
  G.Id[1] = uint32_t(Number / Groups[0] % Groups[1]);
  G.Id[2] = uint32_t(Number / Groups[0] / Groups[1]);
  G.Cu = Cu;
  G.Ended = G.AtBarrier = 0;
  G.BarrierTime = 0;
  G.LdsBytes = Lds;
  G.LdsAllocated = (Lds + Config.LdsGranule - 1) / Config.LdsGranule * Config.LdsGranule;
  G.Lds.assign(G.LdsAllocated, 0);
  G.Slot = unsigned(__builtin_ctz(~U.GroupSlots));
  U.GroupSlots |= 1u << G.Slot;
  ++U.Groups;
  U.LdsUsed += G.LdsAllocated;
  G.FirstSimd = FirstSimd;
  if (simdsPerGroup() < U.Simds.size())
    U.LdsOfCu[FirstSimd / Config.SimdsPerCu] += G.LdsAllocated;

  // A group at the grid's edge has only the work items that exist.
  uint64_t Items = 1;
  for (unsigned D = 0; D < 3; ++D)
    Items *= std::min(GroupSize[D], Grid[D] - G.Id[D] * GroupSize[D]);
  G.Waves = unsigned((Items + Kernel.WaveSize - 1) / Kernel.WaveSize);

  uint64_t &Engine = EngineFree[Cu % Config.ShaderEngines];
  Engine = std::max(Engine, When);
  for (unsigned I = 0; I < G.Waves; ++I) {
    // The emptiest SIMD that has room.
    constexpr unsigned None = ~0u;
    unsigned Best = None;
    for (unsigned S = FirstSimd; S < FirstSimd + simdsPerGroup(); ++S) {
      const SimdState &State = U.Simds[S];
      if (State.Used < Config.WavesPerSimd &&
          State.VgprsUsed + Kernel.VgprCost <= Config.VgprsPerSimd &&
          State.SgprsUsed + Kernel.Sgprs <= Config.SgprsPerSimd &&
          (Best == None || State.Used < U.Simds[Best].Used))
        Best = S;
    }
    SimdState &State = U.Simds[Best];
    unsigned Slot = 0;
    while (State.Waves[Slot])
      ++Slot;
    if (WaveFree.empty()) {
      WavePool.push_back(std::make_unique<MachineWave>());
      WaveFree.push_back(WavePool.back().get());
    }
    MachineWave &W = *WaveFree.back();
    WaveFree.pop_back();
    State.Waves[Slot] = &W;
    ++State.Used;
    State.VgprsUsed += Kernel.VgprCost;
    State.SgprsUsed += Kernel.Sgprs;
    G.Members[I] = &W;
    W.Cu = Cu;
    W.Simd = Best;
    W.Slot = Slot;
    W.L1 = Cu * Config.CusPerWgp + Best / Config.SimdsPerCu;
    W.Cycle = W.Started = Engine + Model.GroupLaunch;
    Engine += Model.WaveLaunch;
    startWave(W, G, I);
    makeReady(W);
    ++WavesStarted;
  }
  return true;
}

void Machine::placeGroups(uint64_t When) {
  // Shader engines in turn, compute units in turn; stop when a whole round has
  // placed nothing.
  const unsigned Count = unsigned(Units.size());
  for (unsigned Failed = 0; Failed < Count && GroupsPlaced < GroupsTotal;) {
    Failed = placeGroup(NextCu, When) ? 0 : Failed + 1;
    NextCu = NextCu + 1 == Count ? 0 : NextCu + 1;
  }
}

void Machine::groupEnded(Workgroup &G, uint64_t When) {
  const unsigned Cu = G.Cu;
  ComputeUnit &U = Units[Cu];
  for (unsigned I = 0; I < G.Waves; ++I) {
    MachineWave &W = *G.Members[I];
    SimdState &S = U.Simds[W.Simd];
    S.Waves[W.Slot] = nullptr;
    S.Key[W.Slot] = SimdState::Never;
    --S.Used;
    S.VgprsUsed -= Kernel.VgprCost;
    S.SgprsUsed -= Kernel.Sgprs;
    if (W.ScratchSlot >= 0)
      ScratchFree.push_back(W.ScratchSlot);
    W.Group = nullptr;
    WaveFree.push_back(&W);
    G.Members[I] = nullptr;
  }
  --U.Groups;
  U.LdsUsed -= G.LdsAllocated;
  if (simdsPerGroup() < U.Simds.size())
    U.LdsOfCu[G.FirstSimd / Config.SimdsPerCu] -= G.LdsAllocated;
  U.GroupSlots &= ~(1u << G.Slot);
  GroupFree.push_back(&G);
  --GroupsLive;
  while (placeGroup(Cu, When))
    ;
}

/// After a fault: takes all waves off their units.
void Machine::releaseAll() {
  WaveFree.clear();
  GroupFree.clear();
  for (const std::unique_ptr<MachineWave> &W : WavePool) {
    W->Group = nullptr;
    WaveFree.push_back(W.get());
  }
  for (const std::unique_ptr<Workgroup> &G : GroupPool)
    GroupFree.push_back(G.get());
  GroupsLive = 0;
}

} // namespace vgpu
