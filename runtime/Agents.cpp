// Discovery of agents and their memory pools.
//
// Where rings live. The probe's store is on the kernel's path: to the agent's
// own memory it costs a few cycles, across the bus to the host it would stretch
// every s_waitcnt of the kernel to microseconds. So rings go to the agent's
// coarse-grained memory whenever the host can see it (large BAR, APU, xGMI);
// the price is slow host reads, paid by the drain thread. Without host access
// the rings go to fine-grained host memory, and the trace costs more.
// KPROBE_POOL=host forces that.
//
// The device never reads ring memory, it only writes: no cache of the device
// can hand out a stale line after the host has zeroed a region. The dispatch
// contexts, which it does read, are in fine-grained host memory.
#include "Agents.h"

#include <cstring>
#include <strings.h>

namespace kprobe {

// Dispatches that can be traced at once on one agent.
static constexpr size_t ContextCount = 8192;
static constexpr size_t LargeContextCount = 128;
// A context and the arguments behind it. It must not share a cache line with
// its neighbour.
static constexpr size_t ContextStride = 512;
static constexpr size_t LargeContextStride = 8192;
static constexpr size_t ContextMemoryBytes =
    ContextCount * ContextStride + LargeContextCount * LargeContextStride;
static constexpr uint64_t LeastPoolBytes = 1u << 20;

void Agent::flushHostWrites() const {
  if (!HdpFlush)
    return;
  // Host writes across the bus wait in the host data path block until told;
  // reading the register back makes sure that they have gone.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  __atomic_store_n(HdpFlush, 1u, __ATOMIC_RELAXED);
  (void)__atomic_load_n(HdpFlush, __ATOMIC_RELAXED);
}

KprobeDispatchContext *Agent::acquireContext(size_t ArgumentBytes) {
  size_t Bytes = sizeof(KprobeDispatchContext) + ArgumentBytes;
  if (Bytes > LargeContextStride)
    return nullptr;
  std::lock_guard<std::mutex> Guard(ContextLock);
  auto &Free = Bytes <= ContextStride ? FreeContexts : FreeLargeContexts;
  if (Free.empty())
    return nullptr;
  KprobeDispatchContext *Context = Free.back();
  Free.pop_back();
  return Context;
}

void Agent::releaseContext(KprobeDispatchContext *Context) {
  if (!Context)
    return;
  std::lock_guard<std::mutex> Guard(ContextLock);
  (Context < FirstLargeContext ? FreeContexts : FreeLargeContexts)
      .push_back(Context);
}

namespace {
struct AgentVisit {
  const HsaApi *Api;
  std::vector<hsa_agent_t> Cpus;
  std::vector<hsa_agent_t> Gpus;
};
struct PoolVisit {
  const HsaApi *Api;
  uint32_t WantedFlag;
  hsa_amd_memory_pool_t Found;
};
} // namespace

static hsa_status_t visitAgent(hsa_agent_t Handle, void *Data) {
  auto *Visit = static_cast<AgentVisit *>(Data);
  hsa_device_type_t Type;
  if (Visit->Api->hsa_agent_get_info(Handle, HSA_AGENT_INFO_DEVICE, &Type) !=
      HSA_STATUS_SUCCESS)
    return HSA_STATUS_SUCCESS;
  if (Type == HSA_DEVICE_TYPE_CPU)
    Visit->Cpus.push_back(Handle);
  else if (Type == HSA_DEVICE_TYPE_GPU)
    Visit->Gpus.push_back(Handle);
  return HSA_STATUS_SUCCESS;
}

// Remembers the first global pool that allows allocation and has the flag.
static hsa_status_t visitPool(hsa_amd_memory_pool_t Pool, void *Data) {
  auto *Visit = static_cast<PoolVisit *>(Data);
  auto Get = [&](hsa_amd_memory_pool_info_t What, void *Value) {
    return Visit->Api->hsa_amd_memory_pool_get_info(Pool, What, Value) ==
           HSA_STATUS_SUCCESS;
  };
  hsa_amd_segment_t Segment;
  uint32_t Flags = 0;
  bool Allowed = false;
  if (Visit->Found.handle == 0 &&
      Get(HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &Segment) &&
      Segment == HSA_AMD_SEGMENT_GLOBAL &&
      Get(HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &Flags) &&
      (Flags & Visit->WantedFlag) &&
      Get(HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &Allowed) && Allowed)
    Visit->Found = Pool;
  return HSA_STATUS_SUCCESS;
}

void Agents::discover() {
  AgentVisit Visit{&Api, {}, {}};
  Api.hsa_iterate_agents(visitAgent, &Visit);
  Cpus = Visit.Cpus;
  if (HostPool.handle == 0)
    for (hsa_agent_t Cpu : Cpus) {
      PoolVisit Pools{&Api, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED, {}};
      Api.hsa_amd_agent_iterate_memory_pools(Cpu, visitPool, &Pools);
      if (Pools.Found.handle) {
        HostPool = Pools.Found;
        break;
      }
    }
  for (hsa_agent_t Handle : Visit.Gpus) {
    bool Found = false;
    for (const auto &Device : Gpus)
      Found |= Device->Handle.handle == Handle.handle;
    if (Found)
      continue;
    auto Device = std::make_unique<Agent>();
    Device->Handle = Handle;
    auto Get = [&](unsigned What, void *Value) {
      return Api.hsa_agent_get_info(Handle, hsa_agent_info_t(What), Value) ==
             HSA_STATUS_SUCCESS;
    };
    char Text[65] = {};
    if (Get(HSA_AGENT_INFO_NAME, Text))
      Device->Target = Text;
    std::memset(Text, 0, sizeof(Text));
    if (Get(HSA_AMD_AGENT_INFO_PRODUCT_NAME, Text))
      Device->Name = Text;
    char Vendor[65] = {};
    Get(HSA_AGENT_INFO_VENDOR_NAME, Vendor);
    if (strcasestr(Text, "virtual") || strcasestr(Vendor, "virtual"))
      Device->Flags |= KPROBE_AGENT_VIRTUAL;
    uint32_t PciFunction = 0, PciDomain = 0;
    if (Get(HSA_AMD_AGENT_INFO_BDFID, &PciFunction)) {
      Get(HSA_AMD_AGENT_INFO_DOMAIN, &PciDomain);
      Device->PciId = uint64_t(PciDomain) << 32 | PciFunction;
    }
    // Where the bus does not tell two of a kind apart, their order must.
    size_t Alike = 0;
    for (const auto &Other : Gpus)
      Alike += Other->Target == Device->Target &&
               Other->Name == Device->Name && Other->PciId == Device->PciId;
    Device->Number = Known.numberOf(Device->Target + '\n' + Device->Name +
                                    '\n' + std::to_string(Device->PciId) +
                                    '\n' + std::to_string(Alike));
    Get(HSA_AGENT_INFO_WAVEFRONT_SIZE, &Device->WaveSize);
    if (Device->WaveSize == 0)
      Device->WaveSize = 64;
    Get(HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &Device->ComputeUnits);
    Get(HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU, &Device->SimdsPerUnit);
    Get(HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES, &Device->ShaderEngines);
    uint32_t MegaHz = 0;
    if (Get(HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, &MegaHz))
      Device->CycleHz = uint64_t(MegaHz) * 1000000;
    // HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY of later ROCr releases; older
    // ones answer that they do not know the attribute.
    constexpr unsigned TimestampFrequency = 0xA016;
    hsa_amd_hdp_flush_t Hdp = {};
    if (Get(HSA_AMD_AGENT_INFO_HDP_FLUSH, &Hdp))
      Device->HdpFlush = Hdp.HDP_MEM_FLUSH_CNTL;
    uint64_t Hz = 0;
    if (Get(TimestampFrequency, &Hz))
      Device->StatedTickHz = Hz;
    Gpus.push_back(std::move(Device));
  }
}

Agent *Agents::find(hsa_agent_t Handle) {
  std::lock_guard<std::mutex> Guard(Lock);
  for (int Attempt = 0; Attempt < 2; ++Attempt) {
    for (const auto &Device : Gpus)
      if (Device->Handle.handle == Handle.handle)
        return Device.get();
    for (hsa_agent_t Cpu : Cpus)
      if (Cpu.handle == Handle.handle)
        return nullptr;
    if (Attempt == 0)
      discover();
  }
  return nullptr;
}

std::vector<Agent *> Agents::all() {
  std::lock_guard<std::mutex> Guard(Lock);
  if (Gpus.empty())
    discover();
  std::vector<Agent *> Result;
  for (const auto &Device : Gpus)
    Result.push_back(Device.get());
  return Result;
}

// The agent's own memory, if a CPU may look into it; handle 0 otherwise.
hsa_amd_memory_pool_t Agents::devicePool(const Agent &Device) {
  PoolVisit Pools{&Api, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED, {}};
  Api.hsa_amd_agent_iterate_memory_pools(Device.Handle, visitPool, &Pools);
  if (Pools.Found.handle && !Cpus.empty()) {
    hsa_amd_memory_pool_access_t Access;
    if (Api.hsa_amd_agent_memory_pool_get_info(
            Cpus.front(), Pools.Found, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS,
            &Access) == HSA_STATUS_SUCCESS &&
        Access != HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED)
      return Pools.Found;
  }
  return {};
}

void *Agents::allocate(hsa_amd_memory_pool_t Pool, uint64_t Bytes,
                       const Agent &Device) {
  void *Memory = nullptr;
  if (Pool.handle == 0 || Api.hsa_amd_memory_pool_allocate(
                              Pool, Bytes, 0, &Memory) != HSA_STATUS_SUCCESS)
    return nullptr;
  // Leaving an agent out of the list takes its access away: name both sides.
  hsa_agent_t Users[2] = {Device.Handle, Cpus.front()};
  if (Api.hsa_amd_agents_allow_access(2, Users, nullptr, Memory) !=
          HSA_STATUS_SUCCESS &&
      Api.hsa_amd_agents_allow_access(1, Users, nullptr, Memory) !=
          HSA_STATUS_SUCCESS) {
    Api.hsa_amd_memory_pool_free(Memory);
    return nullptr;
  }
  return Memory;
}

std::string Agents::providePool(Agent &Device) {
  std::lock_guard<std::mutex> Guard(Lock);
  if (Device.PoolTried)
    return "";
  Device.PoolTried = true;
  if (Cpus.empty())
    return "no CPU agent found: nothing will be traced";
  void *Contexts = allocate(HostPool, ContextMemoryBytes, Device);
  if (!Contexts)
    return "no memory for dispatch contexts: nothing will be traced on " +
           Device.Target;
  hsa_amd_memory_pool_t Pools[2] = {{}, HostPool};
  if (!Settings.HostPool)
    Pools[0] = devicePool(Device);
  // Less than asked for is better than none: the program's own needs come
  // first, so the request is halved until it fits.
  void *Memory = nullptr;
  uint64_t Bytes = Settings.BufferBytes;
  for (; !Memory && Bytes > 0;) {
    for (hsa_amd_memory_pool_t Pool : Pools)
      if (!Memory)
        Memory = allocate(Pool, Bytes, Device);
    if (Memory || Bytes / 2 < LeastPoolBytes)
      break;
    Bytes /= 2;
  }
  if (!Memory) {
    Api.hsa_amd_memory_pool_free(Contexts);
    return "no memory for rings: nothing will be traced on " + Device.Target;
  }
  Device.PoolMemory = Memory;
  Device.ContextMemory = Contexts;
  auto Cut = [&](size_t From, size_t Count, size_t Stride, auto &Free) {
    for (size_t I = Count; I-- > 0;)
      Free.push_back(reinterpret_cast<KprobeDispatchContext *>(
          static_cast<char *>(Contexts) + From + I * Stride));
  };
  Cut(0, ContextCount, ContextStride, Device.FreeContexts);
  Cut(ContextCount * ContextStride, LargeContextCount, LargeContextStride,
      Device.FreeLargeContexts);
  Device.FirstLargeContext = Device.FreeLargeContexts.back();
  Device.Pool = std::make_unique<RingPool>(
      Memory, Bytes, Settings.RingBytes, Config::LeastShrunkRingBytes,
      [&Device] { Device.flushHostWrites(); });
  Device.PoolReady.store(true, std::memory_order_release);
  if (Bytes < Settings.BufferBytes)
    return "only " + std::to_string(Bytes >> 10) +
           " KiB of ring memory to be had on " + Device.Target;
  return "";
}

void Agents::freePools() {
  std::lock_guard<std::mutex> Guard(Lock);
  for (const auto &Device : Gpus) {
    if (!Device->PoolReady.exchange(false, std::memory_order_acq_rel))
      continue;
    Api.hsa_amd_memory_pool_free(Device->PoolMemory);
    Api.hsa_amd_memory_pool_free(Device->ContextMemory);
  }
}

} // namespace kprobe
