//===- Topology.cpp - What the driver says the machine is made of -----------===//
//
// See Topology.h.
//
//===----------------------------------------------------------------------===//
#include "thunk/Topology.h"

#include "machine/Device.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>

using namespace vgpu;

namespace {

uint64_t hostBytes() {
  const long Pages = sysconf(_SC_PHYS_PAGES), Bytes = sysconf(_SC_PAGESIZE);
  return Pages > 0 && Bytes > 0 ? uint64_t(Pages) * uint64_t(Bytes) : uint64_t(4) << 30;
}

void setMarketingName(HsaNodeProperties &Node, const std::string &Name) {
  const size_t Length = std::min(Name.size(), size_t(HSA_PUBLIC_NAME_SIZE - 1));
  for (size_t I = 0; I != Length; ++I)
    Node.MarketingName[I] = HSAuint16(uint8_t(Name[I]));
}

void setName(HsaNodeProperties &Node, const std::string &Name) {
  std::strncpy(reinterpret_cast<char *>(Node.AMDName), Name.c_str(), HSA_PUBLIC_NAME_SIZE - 1);
}

uint32_t hostCores() {
  const long Cores = sysconf(_SC_NPROCESSORS_ONLN);
  return Cores > 0 ? uint32_t(Cores) : 1;
}

HsaMemoryProperties bank(HSA_HEAPTYPE Type, uint64_t Size, uint64_t Base) {
  HsaMemoryProperties Bank;
  std::memset(&Bank, 0, sizeof(Bank));
  Bank.HeapType = Type;
  Bank.SizeInBytes = Size;
  Bank.VirtualBaseAddress = Base;
  return Bank;
}

HsaCacheProperties cache(uint32_t Processor, uint32_t Level, uint64_t Bytes, uint32_t LineBytes,
                         bool Host) {
  HsaCacheProperties Cache;
  std::memset(&Cache, 0, sizeof(Cache));
  Cache.ProcessorIdLow = Processor;
  Cache.CacheLevel = Level;
  Cache.CacheSize = uint32_t(Bytes / 1024); // The driver counts in KiB.
  Cache.CacheLineSize = LineBytes;
  Cache.CacheType.ui32.Data = 1;
  if (Host)
    Cache.CacheType.ui32.CPU = 1;
  else
    Cache.CacheType.ui32.HSACU = 1;
  return Cache;
}

HsaIoLinkProperties link(uint32_t From, uint32_t To, uint32_t Weight) {
  HsaIoLinkProperties Link;
  std::memset(&Link, 0, sizeof(Link));
  Link.IoLinkType = HSA_IOLINKTYPE_PCIEXPRESS;
  Link.NodeFrom = From;
  Link.NodeTo = To;
  Link.Weight = Weight;
  return Link;
}

} // namespace

HsaNodeProperties vgpu::hostProperties(const std::vector<DeviceConfig> &Gpus) {
  HsaNodeProperties Node;
  std::memset(&Node, 0, sizeof(Node));
  Node.NumCPUCores = hostCores();
  Node.NumMemoryBanks = uint32_t(hostMemory().size());
  Node.NumCaches = uint32_t(hostCaches().size());
  Node.NumIOLinks = uint32_t(links(Gpus, HostNode).size());
  Node.MaxEngineClockMhzCCompute = 1000; // Not known here; must not be 0.
  setMarketingName(Node, "Host of a virtual GPU");
  return Node;
}

HsaNodeProperties vgpu::gpuProperties(const std::vector<DeviceConfig> &Gpus, uint32_t NodeId) {
  const DeviceConfig &Gpu = Gpus[NodeId - FirstGpuNode];
  HsaNodeProperties Node;
  std::memset(&Node, 0, sizeof(Node));
  Node.NumFComputeCores = Gpu.ComputeUnits * Gpu.SimdsPerCu;
  Node.NumMemoryBanks = uint32_t(gpuMemory(Gpu).size());
  Node.NumCaches = uint32_t(gpuCaches(Gpu).size());
  Node.NumIOLinks = uint32_t(links(Gpus, NodeId).size());
  // Doorbells that take a 64-bit packet index and a write index in memory.
  Node.Capability.ui32.DoorbellType = 2;
  Node.MaxWavesPerSIMD = Gpu.WavesPerSimd;
  Node.LDSSizeInKB = Gpu.LdsBytes / 1024;
  Node.WaveFrontSize = Gpu.WaveSize;
  // As the driver counts: all shader arrays, and how many an engine has.
  Node.NumShaderBanks = Gpu.ShaderEngines * Gpu.ArraysPerEngine;
  Node.NumArrays = Gpu.ArraysPerEngine;
  Node.NumCUPerArray = (Gpu.ComputeUnits + Node.NumShaderBanks - 1) / Node.NumShaderBanks;
  Node.NumSIMDPerCU = Gpu.SimdsPerCu;
  Node.MaxSlotsScratchCU = 32;
  Node.Capability.ui32.SRAM_EDCSupport = Gpu.SramEcc; // Gives "sramecc+".
  Node.EngineId.ui32.Major = Gpu.Major;
  Node.EngineId.ui32.Minor = Gpu.Minor;
  Node.EngineId.ui32.Stepping = Gpu.Stepping;
  // A firmware version above those that ROCr works around.
  Node.EngineId.ui32.uCode = 1000;
  Node.VendorId = 0x1002; // ROCr and HIP expect AMD's; the name is honest.
  Node.DeviceId = 0xffff; // None that exists.
  Node.LocationId = NodeId << 8;
  Node.LocalMemSize = Gpu.VramBytes;
  Node.MaxEngineClockMhzFCompute = Gpu.EngineMHz;
  Node.MaxEngineClockMhzCCompute = Gpu.EngineMHz;
  Node.DrmRenderMinor = 0;
  setMarketingName(Node, Gpu.MarketingName);
  setName(Node, Gpu.Target);
  Node.NumCpQueues = 24;
  Node.NumGws = GlobalSyncResources;
  Node.UniqueID = 0x7667707500000000ull + NodeId; // "vgpu" and the node.
  Node.VGPRSizePerCU = Gpu.SimdsPerCu * Gpu.VgprsPerSimd * Gpu.RegisterLanes * uint32_t(4);
  Node.SGPRSizePerCU = Gpu.SimdsPerCu * Gpu.SgprsPerSimd * uint32_t(4);
  return Node;
}

std::vector<HsaMemoryProperties> vgpu::hostMemory() {
  return {bank(HSA_HEAPTYPE_SYSTEM, hostBytes(), 0)};
}

std::vector<HsaMemoryProperties> vgpu::gpuMemory(const DeviceConfig &Gpu) {
  HsaMemoryProperties Vram = bank(HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC, Gpu.VramBytes, 0);
  Vram.Width = Gpu.MemoryBits;
  Vram.MemoryClockMax = Gpu.MemoryMHz;
  // HIP wants to see LDS; ROCr takes both apertures from these banks.
  return {Vram, bank(HSA_HEAPTYPE_GPU_LDS, Gpu.LdsBytes, Gpu.LdsAperture),
          bank(HSA_HEAPTYPE_GPU_SCRATCH, uint64_t(1) << 32, Gpu.ScratchAperture)};
}

std::vector<HsaCacheProperties> vgpu::hostCaches() {
  return {cache(0, 1, 32 * 1024, 64, true), cache(0, 2, 1024 * 1024, 64, true)};
}

std::vector<HsaCacheProperties> vgpu::gpuCaches(const DeviceConfig &Gpu) {
  std::vector<HsaCacheProperties> Caches = {cache(0, 1, Gpu.L1Bytes, Gpu.LineBytes, false),
                                            cache(0, 2, Gpu.L2Bytes, Gpu.L2LineBytes, false)};
  if (Gpu.LastCacheBytes)
    Caches.push_back(cache(0, 3, Gpu.LastCacheBytes, Gpu.L2LineBytes, false));
  return Caches;
}

std::vector<HsaIoLinkProperties> vgpu::links(const std::vector<DeviceConfig> &Gpus, uint32_t Node) {
  // Weights as the driver gives them: 20 for a device on its host's bus, 40 for
  // two devices across it. Without the latter there would be no peer access,
  // which works: all memory is the host's.
  std::vector<HsaIoLinkProperties> Result;
  if (Node != HostNode)
    Result.push_back(link(Node, HostNode, 20));
  for (uint32_t I = 0; I != Gpus.size(); ++I)
    if (FirstGpuNode + I != Node)
      Result.push_back(link(Node, FirstGpuNode + I, Node == HostNode ? 20 : 40));
  return Result;
}
