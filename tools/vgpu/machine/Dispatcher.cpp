//===- Dispatcher.cpp - From a packet to workgroups and waves ---------------===//
//
// Begins and ends dispatches: places workgroups on compute units as slots,
// registers, LDS and scratch allow, and takes them off again when they have
// ended. Dispatches that run at the same time take turns where there is room.
//
//===----------------------------------------------------------------------===//
#include "isa/MemTables.h"
#include "machine/Machine.h"

#include <algorithm>
#include <cstring>
#include <time.h>
#include <utility>

namespace vgpu {

Machine::Machine(const DeviceConfig &Config, AddressSpace &Space)
    : Config(Config), Model(timingModel(Config)), Decode(Config.Target, memoryTables()),
      Timing(Config),
      RunSimd(__builtin_cpu_supports("x86-64-v3") ? v3::runSimd : base::runSimd),
      Units(Config.units()), Team(Log.enabled() ? 1 : Config.Threads) { // The log is one sequence.
  SharedBase = Config.LdsAperture;
  SharedLimit = SharedBase + 0xffffffff;
  PrivateBase = Config.ScratchAperture;
  PrivateLimit = PrivateBase + 0xffffffff;
  for (unsigned I = 0; I < Team.size(); ++I)
    Workers.push_back(std::make_unique<Worker>(I, Space, Decode));
  for (unsigned Cu = 0; Cu < Units.size(); ++Cu) {
    ComputeUnit &U = Units[Cu];
    U.Simds.resize(Config.simdsPerUnit());
    std::fill(std::begin(U.Next), std::end(U.Next), SimdState::Never);
    // Those that share a scalar cache have the same one.
    U.Host = Workers[Cu * Config.CusPerWgp / Config.CusPerScalarCache % Workers.size()].get();
  }
  EngineFree.assign(Config.ShaderEngines, 0);
}

Machine::~Machine() = default;

double processorSeconds() {
  timespec T;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &T);
  return double(T.tv_sec) + double(T.tv_nsec) * 1e-9;
}

void Machine::enter() { LastCharge = processorSeconds(); }

void Machine::charge() {
  const double Now = processorSeconds();
  double Spent = Now - LastCharge;
  for (const std::unique_ptr<Worker> &Host : Workers)
    Spent += std::exchange(Host->Seconds, 0);
  for (Dispatch *D : Running)
    D->HostSeconds += Spent / double(Running.size());
  LastCharge = Now;
}

/// A new time line: everything that holds times or places begins afresh, so that
/// what a dispatch does on an idle device depends on nothing before it but L2.
void Machine::startTimeLine(uint64_t Cycle) {
  Origin = Cycle;
  WindowBegin = WindowEnd = 0;
  NextCu = FirstCu = NextDispatch = 0;
  std::fill(EngineFree.begin(), EngineFree.end(), 0);
  Timing.startDispatch();
  for (ComputeUnit &U : Units) {
    if (!U.Used) // Small dispatches are to cost little.
      continue;
    U.Used = false;
    for (SimdState &S : U.Simds)
      S.reset();
    std::fill(std::begin(U.Next), std::end(U.Next), SimdState::Never);
    U.Groups = U.LdsUsed = U.GroupSlots = 0;
    U.LdsOfCu[0] = U.LdsOfCu[1] = 0;
  }
}

/// Whole ticks that \p Cycles take.
uint64_t Machine::ticksOver(uint64_t Cycles) const {
  return (Cycles * Config.RealTimeMHz + Config.EngineMHz - 1) / Config.EngineMHz;
}

/// The first tick at or after \p Cycle of the time line.
uint64_t Machine::tickAt(uint64_t Cycle) const {
  return ticksOver(Origin + Cycle);
}

void Machine::skipTo(uint64_t Tick) {
  const uint64_t Cycle = Config.cyclesOf(Tick), Now = Origin + WindowEnd;
  if (Cycle <= Now)
    return;
  Origin += Cycle - Now;
  for (Dispatch *D : Running)
    D->Skipped += Cycle - Now;
}

bool Machine::start(Dispatch &D, uint64_t ReadyTick) {
  // Modelled time does not go back: what has run stays as it is.
  D.StartTick = std::max(ReadyTick, tickAt(WindowBegin));
  for (const std::unique_ptr<Worker> &Host : Workers) {
    Host->Memory.refresh();
    if (Running.empty())
      Host->Code.invalidate();
    else
      forgetCode(*Host);
  }
  if (const char *Why = D.prepare(*D.Args, D.Result)) {
    uint64_t Error = D.Found.QueueError;
    report(D, FaultCause::InvalidPacket, Error, nullptr, nullptr, Why, MaxLanes, 0);
    finish(D);
    return false;
  }
  if (D.Result.Status == DispatchStatus::NeedsScratch) {
    D.Result.StartTick = D.Result.EndTick = D.StartTick;
    return false;
  }
  charge();
  if (Running.empty())
    startTimeLine(Config.cyclesOf(D.StartTick));
  else
    Timing.acquire();
  D.Begin = D.Counted[0].LastCycle = Config.cyclesOf(D.StartTick) - Origin;
  if (Log.enabled())
    Log.beginDispatch(D, Workers[0]->Code);
  Running.push_back(&D);
  placeGroups(D, D.Begin);
  return true;
}

void Machine::finish(Dispatch &D) {
  auto Place = std::find(Running.begin(), Running.end(), &D);
  if (Place != Running.end()) {
    charge();
    Running.erase(Place);
    NextDispatch = 0;
    if (D.Stop)
      removeGroups(D);
  }
  DispatchResult &Result = D.Result;
  Result.StartTick = D.StartTick;
  Result.Cycles = D.counted().LastCycle - D.Begin;
  Result.EndTick = D.StartTick + std::max<uint64_t>(1, ticksOver(Result.Cycles + D.Skipped));
  if (D.Stop) {
    Result.Status = DispatchStatus::Faulted;
    Result.Fault = D.Found;
  }
  if (Log.enabled())
    Log.endDispatch(D, D.Stop ? faultCauseName(D.Found.Cause) : "completed");
  D.writeStatistics();
}

bool Dispatch::fits(const ComputeUnit &U, unsigned &First) const {
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

/// Starts the next workgroup of \p D on \p Cu at \p When or later, if it fits.
bool Machine::placeGroup(Dispatch &D, unsigned Cu, uint64_t When) {
  ComputeUnit &U = Units[Cu];
  unsigned FirstSimd = 0;
  if (D.allPlaced() || D.Stop || !D.fits(U, FirstSimd))
    return false;
  if (GroupFree.empty()) {
    GroupPool.push_back(std::make_unique<Workgroup>());
    GroupFree.push_back(GroupPool.back().get());
  }
  Workgroup &G = *GroupFree.back();
  GroupFree.pop_back();
  uint64_t Number = D.GroupsPlaced++;
  ++D.GroupsLive;
  G.Id[0] = uint32_t(Number % D.Groups[0]);
  G.Id[1] = uint32_t(Number / D.Groups[0] % D.Groups[1]);
  G.Id[2] = uint32_t(Number / D.Groups[0] / D.Groups[1]);
  G.Parent = &D;
  G.Cu = Cu;
  G.Ended = G.AtBarrier = 0;
  G.BarrierTime = 0;
  G.LdsBytes = D.Lds;
  G.LdsAllocated = (D.Lds + Config.LdsGranule - 1) / Config.LdsGranule * Config.LdsGranule;
  G.Lds.assign(G.LdsAllocated, 0);
  G.Slot = unsigned(__builtin_ctz(~U.GroupSlots));
  U.GroupSlots |= 1u << G.Slot;
  U.Used = true;
  ++U.Groups;
  U.LdsUsed += G.LdsAllocated;
  G.FirstSimd = FirstSimd;
  if (D.simdsPerGroup() < U.Simds.size())
    U.LdsOfCu[FirstSimd / Config.SimdsPerCu] += G.LdsAllocated;

  // A group at the grid's edge has only the work items that exist.
  uint64_t Items = 1;
  for (unsigned I = 0; I < 3; ++I)
    Items *= std::min(D.GroupSize[I], D.Grid[I] - G.Id[I] * D.GroupSize[I]);
  G.Waves = unsigned((Items + D.Kernel.WaveSize - 1) / D.Kernel.WaveSize);

  uint64_t &Engine = EngineFree[Cu % Config.ShaderEngines];
  Engine = std::max({Engine, When, D.Begin});
  for (unsigned I = 0; I < G.Waves; ++I) {
    // The emptiest SIMD that has room.
    constexpr unsigned None = ~0u;
    unsigned Best = None;
    for (unsigned S = FirstSimd; S < FirstSimd + D.simdsPerGroup(); ++S) {
      const SimdState &State = U.Simds[S];
      if (State.Used < Config.WavesPerSimd &&
          State.VgprsUsed + D.Kernel.VgprCost <= Config.VgprsPerSimd &&
          State.SgprsUsed + D.Kernel.Sgprs <= Config.SgprsPerSimd &&
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
    State.VgprsUsed += D.Kernel.VgprCost;
    State.SgprsUsed += D.Kernel.Sgprs;
    G.Members[I] = &W;
    W.Cu = Cu;
    W.Simd = Best;
    W.Slot = Slot;
    W.L1 = Cu * Config.CusPerWgp + Best / Config.SimdsPerCu;
    W.Cycle = W.Started = Engine + Model.GroupLaunch;
    Engine += Model.WaveLaunch;
    W.Env = this;
    W.setTarget(Decode.target(), D.Kernel.WaveSize);
    W.Costs = Model.Costs[D.Kernel.wave32()];
    W.Host = U.Host;
    W.Counted = &D.Counted[U.Host->Number];
    const unsigned Slots = Wave::registerSlots(D.Kernel.ArchVgprs, D.Kernel.Accs);
    if (W.RegisterCount < Slots) {
      if (W.Vgpr)
        Registers.give(W.Vgpr, W.RegisterCount);
      W.Vgpr = Registers.take(W.RegisterCount = Slots);
    }
    D.startWave(W, G, I);
    State.setPriority(Slot, D.Kernel.Priority);
    makeReady(W);
    ++D.WavesStarted;
  }
  return true;
}

void Machine::placeGroups(Dispatch &D, uint64_t When) {
  // Shader engines in turn, compute units in turn; stop when a whole round has
  // placed nothing.
  const unsigned Count = unsigned(Units.size());
  for (unsigned Failed = 0; Failed < Count && !D.allPlaced();) {
    Failed = placeGroup(D, NextCu, When) ? 0 : Failed + 1;
    NextCu = NextCu + 1 == Count ? 0 : NextCu + 1;
  }
}

/// Takes \p G off its unit.
void Machine::removeGroup(Workgroup &G) {
  Dispatch &D = *G.Parent;
  ComputeUnit &U = Units[G.Cu];
  for (unsigned I = 0; I < G.Waves; ++I) {
    MachineWave &W = *G.Members[I];
    SimdState &S = U.Simds[W.Simd];
    S.Waves[W.Slot] = nullptr;
    S.clearReady(W.Slot);
    S.setPriority(W.Slot, 0);
    --S.Used;
    S.VgprsUsed -= D.Kernel.VgprCost;
    S.SgprsUsed -= D.Kernel.Sgprs;
    if (W.ScratchSlot >= 0)
      D.ScratchFree.push_back(W.ScratchSlot);
    W.Group = nullptr;
    W.Parent = nullptr;
    WaveFree.push_back(&W);
    G.Members[I] = nullptr;
  }
  --U.Groups;
  U.LdsUsed -= G.LdsAllocated;
  if (D.simdsPerGroup() < U.Simds.size())
    U.LdsOfCu[G.FirstSimd / Config.SimdsPerCu] -= G.LdsAllocated;
  U.GroupSlots &= ~(1u << G.Slot);
  G.Parent = nullptr;
  GroupFree.push_back(&G);
  --D.GroupsLive;
}

void Machine::groupEnded(Workgroup &G, uint64_t When) {
  const unsigned Cu = G.Cu;
  removeGroup(G);
  // Dispatches take turns; one that finds no room lets the next one try.
  const unsigned Count = unsigned(Running.size());
  for (unsigned Failed = 0; Failed < Count;) {
    Failed = placeGroup(*Running[NextDispatch], Cu, When) ? 0 : Failed + 1;
    NextDispatch = NextDispatch + 1 == Count ? 0 : NextDispatch + 1;
  }
}

/// After a fault: takes what is left of \p D off its units.
void Machine::removeGroups(Dispatch &D) {
  for (GlobalResource &R : Globals)
    R.Waiting.erase(std::remove_if(R.Waiting.begin(), R.Waiting.end(),
                                   [&](MachineWave *W) { return W->Parent == &D; }),
                    R.Waiting.end());
  for (const std::unique_ptr<Workgroup> &G : GroupPool)
    if (G->Parent == &D)
      removeGroup(*G);
}

} // namespace vgpu
