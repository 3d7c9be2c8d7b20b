//===- Dispatcher.cpp - From a packet to workgroups and waves ---------------===//
//
// Reads packet and kernel descriptor, finds out what a workgroup needs, places
// workgroups on compute units as slots, registers, LDS and scratch allow, and
// gives each wave the initial registers that the ABI promises.
//
//===----------------------------------------------------------------------===//
#include "isa/MemTables.h"
#include "machine/Machine.h"

#include <algorithm>
#include <cstring>
#include <time.h>

namespace vgpu {

Machine::Machine(const DeviceConfig &Config, AddressSpace &Space)
    : Config(Config), Memory(Space), Decode(Config.Target, memoryTables()), Code(Decode, *this),
      Timing(Config), Units(Config.ComputeUnits) {
  SharedBase = Config.LdsAperture;
  SharedLimit = SharedBase + 0xffffffff;
  PrivateBase = Config.ScratchAperture;
  PrivateLimit = PrivateBase + 0xffffffff;
  for (ComputeUnit &U : Units) {
    U.Simds.resize(Config.SimdsPerCu);
    std::fill(std::begin(U.Next), std::end(U.Next), SimdState::Never);
  }
  EngineFree.assign(Config.ShaderEngines, 0);
}

Machine::~Machine() = default;

/// Reads the packet and the descriptor. Returns why it cannot be launched; a
/// missing scratch allocation is left in Result.Status instead.
const char *Machine::prepare(const DispatchArgs &A, DispatchResult &Result) {
  const hsa_kernel_dispatch_packet_t &P = *A.Packet;
  Found.QueueError = 8;
  uint64_t Object = P.kernel_object;
  if (!Object || Object % 64 || !Memory.allows(Object, Object + KernelDescriptor::Size, false))
    return "kernel object is no address of a kernel descriptor";
  if (const char *Why = KernelDescriptor::parse(reinterpret_cast<const uint8_t *>(Object), Object,
                                                Config, Kernel))
    return Why;

  Found.QueueError = 2;
  unsigned Dimensions = P.setup & 3;
  if (Dimensions < 1 || Dimensions > 3)
    return "packet has no number of dimensions between 1 and 3";
  GroupSize[0] = P.workgroup_size_x;
  GroupSize[1] = P.workgroup_size_y;
  GroupSize[2] = P.workgroup_size_z;
  Grid[0] = P.grid_size_x;
  Grid[1] = P.grid_size_y;
  Grid[2] = P.grid_size_z;
  uint64_t Items = 1;
  GroupsTotal = 1;
  for (unsigned D = 0; D < 3; ++D) {
    if (!GroupSize[D] || !Grid[D])
      return "a grid or workgroup dimension of the packet is zero";
    Items *= GroupSize[D];
    Groups[D] = uint32_t((uint64_t(Grid[D]) + GroupSize[D] - 1) / GroupSize[D]);
    GroupsTotal *= Groups[D];
  }
  Found.QueueError = 64;
  if (Items > Config.MaxWorkgroupItems)
    return "workgroup is larger than the device allows";
  WavesPerGroup = unsigned((Items + Config.WaveSize - 1) / Config.WaveSize);

  Found.QueueError = 4;
  Lds = std::max(P.group_segment_size, Kernel.GroupBytes);
  if (Lds > Config.LdsBytes)
    return "workgroup wants more LDS than a compute unit has";
  Found.QueueError = 128;
  unsigned PerSimd = std::min(Config.VgprsPerSimd / Kernel.Vgprs, Config.WavesPerSimd);
  if (WavesPerGroup > PerSimd * Config.SimdsPerCu)
    return "a compute unit has not enough vector registers for one workgroup";

  Private = std::max(P.private_segment_size, Kernel.PrivateBytes);
  UsesScratch = Private != 0;
  ScratchFree.clear();
  ScratchBase = ScratchWaveBytes = 0;
  if (UsesScratch) {
    const amd_queue_t *Q = A.Queue;
    uint32_t Ring = Q ? Q->compute_tmpring_size : 0;
    unsigned Waves = Ring & 0xfff;
    ScratchWaveBytes = uint64_t(Ring >> 12 & 0x1fff) * 1024;
    if (!Waves || uint64_t(Private) * Config.WaveSize > ScratchWaveBytes) {
      Result.Status = DispatchStatus::NeedsScratch;
      Result.ScratchPerLane = Private;
      return nullptr;
    }
    ScratchBase = Q->scratch_backing_memory_location;
    Found.QueueError = 4;
    if (Waves < WavesPerGroup)
      return "the queue's scratch is too small for one workgroup";
    for (unsigned I = Waves; I-- > 0;)
      ScratchFree.push_back(int(I));
  }

  // User SGPRs: the same for every wave of the dispatch.
  std::memset(InitialSgprs, 0, sizeof InitialSgprs);
  unsigned Next = 0;
  auto Push32 = [&](uint32_t Value) { InitialSgprs[Next++] = Value; };
  auto Push64 = [&](uint64_t Value) {
    Push32(uint32_t(Value));
    Push32(uint32_t(Value >> 32));
  };
  if (Kernel.PrivateSegmentBuffer)
    for (unsigned I = 0; I < 4; ++I)
      Push32(A.Queue ? A.Queue->scratch_resource_descriptor[I] : 0);
  if (Kernel.DispatchPtr)
    Push64(reinterpret_cast<uint64_t>(A.Packet));
  if (Kernel.QueuePtr)
    Push64(reinterpret_cast<uint64_t>(A.Queue));
  if (Kernel.KernargPtr)
    Push64(reinterpret_cast<uint64_t>(P.kernarg_address));
  if (Kernel.DispatchId)
    Push64(A.DispatchId);
  if (Kernel.FlatScratchInit)
    Push64(ScratchBase);
  if (Kernel.PrivateSegmentSize)
    Push32(Private);
  Found.QueueError = 0;
  return nullptr;
}

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
  StartCycle = Start * (Config.EngineMHz / Config.RealTimeMHz);
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
    WavesStarted = 0;
    GroupsPlaced = GroupsLive = 0;
    NextCu = 0;
    std::fill(EngineFree.begin(), EngineFree.end(), 0);
    Timing.startDispatch();
    for (ComputeUnit &U : Units) {
      for (SimdState &S : U.Simds)
        S.reset();
      std::fill(std::begin(U.Next), std::end(U.Next), SimdState::Never);
      U.Groups = U.LdsUsed = U.GroupSlots = 0;
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
  const uint64_t CyclesPerTick = Config.EngineMHz / Config.RealTimeMHz;
  Result.EndTick = Start + std::max<uint64_t>(1, (LastCycle + CyclesPerTick - 1) / CyclesPerTick);
  if (Stop) {
    Result.Status = DispatchStatus::Faulted;
    Result.Fault = Found;
  }
  if (Log.enabled())
    Log.endDispatch(A.DispatchId, Result.Cycles, Stop ? faultCauseName(Found.Cause) : "completed");
  writeStatistics(Result);
  Args = nullptr;
  return Result;
}

bool Machine::fits(const ComputeUnit &U) const {
  if (U.Groups >= Config.MaxWorkgroupsPerCu)
    return false;
  uint32_t Granted = (Lds + Config.LdsGranule - 1) / Config.LdsGranule * Config.LdsGranule;
  if (U.LdsUsed + Granted > Config.LdsBytes)
    return false;
  if (UsesScratch && ScratchFree.size() < WavesPerGroup)
    return false;
  // Waves go to the SIMDs in turn; count what each could still take.
  unsigned Room = 0;
  for (const SimdState &S : U.Simds)
    Room +=
        std::min({Config.WavesPerSimd - S.Used, (Config.VgprsPerSimd - S.VgprsUsed) / Kernel.Vgprs,
                  (Config.SgprsPerSimd - S.SgprsUsed) / Kernel.Sgprs});
  return Room >= WavesPerGroup;
}

/// Starts the next workgroup on \p Cu at \p When or later, if it fits.
bool Machine::placeGroup(unsigned Cu, uint64_t When) {
  ComputeUnit &U = Units[Cu];
  if (GroupsPlaced == GroupsTotal || !fits(U))
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

  // A group at the grid's edge has only the work items that exist.
  uint64_t Items = 1;
  for (unsigned D = 0; D < 3; ++D)
    Items *= std::min(GroupSize[D], Grid[D] - G.Id[D] * GroupSize[D]);
  G.Waves = unsigned((Items + Config.WaveSize - 1) / Config.WaveSize);

  uint64_t &Engine = EngineFree[Cu % Config.ShaderEngines];
  Engine = std::max(Engine, When);
  for (unsigned I = 0; I < G.Waves; ++I) {
    // The emptiest SIMD that has room.
    unsigned Best = Config.SimdsPerCu;
    for (unsigned S = 0; S < Config.SimdsPerCu; ++S) {
      const SimdState &State = U.Simds[S];
      if (State.Used < Config.WavesPerSimd &&
          State.VgprsUsed + Kernel.Vgprs <= Config.VgprsPerSimd &&
          State.SgprsUsed + Kernel.Sgprs <= Config.SgprsPerSimd &&
          (Best == Config.SimdsPerCu || State.Used < U.Simds[Best].Used))
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
    State.VgprsUsed += Kernel.Vgprs;
    State.SgprsUsed += Kernel.Sgprs;
    G.Members[I] = &W;
    W.Cu = Cu;
    W.Simd = Best;
    W.Slot = Slot;
    W.Cycle = Engine + timing::GroupLaunch;
    Engine += timing::WaveLaunch;
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

void Machine::startWave(MachineWave &W, Workgroup &G, unsigned Number) {
  W.Env = this;
  W.Group = &G;
  W.Number = Number;
  W.Pc = Kernel.Entry;
  W.Mode = Kernel.Mode;
  W.Scc = false;
  W.WaveSize = Config.WaveSize;
  W.Status = WaveStatus::Running;
  W.AfterBranch = true;
  W.Next = nullptr;
  W.VmHead = W.VmCount = W.LgkmCount = 0;
  W.VmLast = W.LdsLast = 0;
  W.NumVgprs = Kernel.Vgprs;
  if (W.RegisterCount < Kernel.Vgprs) {
    W.Registers.reset(new Vreg[Kernel.Vgprs]);
    W.RegisterCount = Kernel.Vgprs;
  }
  W.Vgpr = W.Registers.get();
  std::memset(W.Vgpr, 0, sizeof(Vreg) * Kernel.Vgprs);
  std::memset(W.Sgpr, 0, sizeof W.Sgpr);

  W.ScratchSlot = -1;
  W.ScratchBase = 0;
  uint64_t WaveOffset = 0;
  if (UsesScratch) {
    W.ScratchSlot = ScratchFree.back();
    ScratchFree.pop_back();
    WaveOffset = uint64_t(W.ScratchSlot) * ScratchWaveBytes;
    W.ScratchBase = ScratchBase + WaveOffset;
  }

  std::memcpy(W.Sgpr, InitialSgprs, sizeof InitialSgprs);
  unsigned Next = Kernel.UserSgprs;
  for (unsigned D = 0; D < 3; ++D)
    if (Kernel.WorkgroupId[D])
      W.Sgpr[Next++] = G.Id[D];
  if (Kernel.WorkgroupInfo)
    W.Sgpr[Next++] = (Number == 0 ? 1u << 31 : 0) | G.Waves;
  if (Kernel.PrivateWaveOffset)
    W.Sgpr[Next++] = uint32_t(WaveOffset);

  uint32_t Size[3];
  uint64_t Items = 1;
  for (unsigned D = 0; D < 3; ++D) {
    Size[D] = std::min(GroupSize[D], Grid[D] - G.Id[D] * GroupSize[D]);
    Items *= Size[D];
  }
  uint64_t Exec = 0;
  for (unsigned Lane = 0; Lane < W.WaveSize; ++Lane) {
    uint64_t Item = uint64_t(Number) * W.WaveSize + Lane;
    if (Item >= Items)
      break;
    Exec |= uint64_t(1) << Lane;
    W.Vgpr[0].Lane[Lane] = uint32_t(Item % Size[0]);
    if (Kernel.WorkitemIds >= 1)
      W.Vgpr[1].Lane[Lane] = uint32_t(Item / Size[0] % Size[1]);
    if (Kernel.WorkitemIds >= 2)
      W.Vgpr[2].Lane[Lane] = uint32_t(Item / Size[0] / Size[1]);
  }
  W.setExec(Exec);
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
    S.VgprsUsed -= Kernel.Vgprs;
    S.SgprsUsed -= Kernel.Sgprs;
    if (W.ScratchSlot >= 0)
      ScratchFree.push_back(W.ScratchSlot);
    W.Group = nullptr;
    WaveFree.push_back(&W);
    G.Members[I] = nullptr;
  }
  --U.Groups;
  U.LdsUsed -= G.LdsAllocated;
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
