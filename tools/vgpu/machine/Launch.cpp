//===- Launch.cpp - What a dispatch asks for, and how its waves begin -------===//
//
// Reads packet and kernel descriptor, finds out what a workgroup needs, and gives
// each wave the initial registers that the ABI promises (LLVM's AMDGPU usage
// document, "Initial Kernel Execution State").
//
//===----------------------------------------------------------------------===//
#include "machine/Machine.h"

#include <algorithm>
#include <cstring>

namespace vgpu {

const char *Dispatch::prepare(const DispatchArgs &A, DispatchResult &Result) {
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
    if (__builtin_mul_overflow(GroupsTotal, Groups[D], &GroupsTotal))
      return "grid has 2^64 workgroups or more";
  }
  Found.QueueError = 64;
  if (Items > Config.MaxWorkgroupItems)
    return "workgroup is larger than the device allows";
  const unsigned WaveSize = Kernel.WaveSize;
  WavesPerGroup = unsigned((Items + WaveSize - 1) / WaveSize);

  Found.QueueError = 4;
  Lds = std::max(P.group_segment_size, Kernel.GroupBytes);
  if (Lds > Config.LdsBytes)
    return "workgroup wants more LDS than a compute unit has";
  Found.QueueError = 128;
  unsigned PerSimd = std::min(Config.VgprsPerSimd / Kernel.VgprCost, Config.WavesPerSimd);
  if (WavesPerGroup > PerSimd * simdsPerGroup())
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
    if (!Waves || uint64_t(Private) * WaveSize > ScratchWaveBytes) {
      Result.Status = DispatchStatus::NeedsScratch;
      Result.ScratchWave32 = Kernel.wave32();
      Result.ScratchPerLane = Private;
      return nullptr;
    }
    ScratchBase = Q->scratch_backing_memory_location;
    ScratchBytes = Waves * ScratchWaveBytes;
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
  if (Kernel.PrivateSegmentBuffer) {
    for (unsigned I = 0; I < 4; ++I)
      Push32(A.Queue ? A.Queue->scratch_resource_descriptor[I] : 0);
    // ROCr leaves the index stride to us where there are two wave sizes.
    if (Config.HasWave32)
      InitialSgprs[3] = (InitialSgprs[3] & ~(3u << 21)) | (Kernel.wave32() ? 2u : 3u) << 21;
  }
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

void Dispatch::startWave(MachineWave &W, Workgroup &G, unsigned Number) {
  W.Parent = this;
  W.Group = &G;
  W.Number = Number;
  W.Pc = Kernel.Entry;
  W.Mode = Kernel.Mode;
  W.Scc = false;
  W.Status = WaveStatus::Running;
  W.AfterBranch = true;
  W.Next = nullptr;
  W.Vm.reset();
  W.Stores.reset();
  W.CountsStores = Config.Major >= 10;
  W.LgkmLimit = Config.Major >= 10 ? MachineWave::MaxLgkm : 16;
  W.LgkmCount = 0;
  W.LdsLast = 0;
  W.NumVgprs = Kernel.ArchVgprs;
  W.NumAccs = Kernel.Accs;
  std::memset(W.Vgpr, 0, sizeof(Vreg) * Kernel.ArchVgprs);
  if (Kernel.Accs)
    std::memset(W.Vgpr + FirstAcc, 0, sizeof(Vreg) * Kernel.Accs);
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
  const uint64_t First = uint64_t(Number) * W.WaveSize;
  const auto Lanes = unsigned(std::min<uint64_t>(W.WaveSize, Items - First));
  auto X = uint32_t(First % Size[0]), Y = uint32_t(First / Size[0] % Size[1]),
       Z = uint32_t(First / Size[0] / Size[1]);
  for (unsigned Lane = 0; Lane < Lanes; ++Lane) {
    if (Config.PackedWorkitemIds) {
      W.Vgpr[0].Lane[Lane] =
          X | (Kernel.WorkitemIds >= 1 ? Y << 10 : 0) | (Kernel.WorkitemIds >= 2 ? Z << 20 : 0);
    } else {
      W.Vgpr[0].Lane[Lane] = X;
      if (Kernel.WorkitemIds >= 1)
        W.Vgpr[1].Lane[Lane] = Y;
      if (Kernel.WorkitemIds >= 2)
        W.Vgpr[2].Lane[Lane] = Z;
    }
    if (++X == Size[0]) {
      X = 0;
      if (++Y == Size[1]) {
        Y = 0;
        ++Z;
      }
    }
  }
  W.setExec(~uint64_t(0) >> (MaxLanes - Lanes));
}

} // namespace vgpu
