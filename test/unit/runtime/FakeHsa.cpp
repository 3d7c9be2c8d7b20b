// See FakeHsa.h.
#include "FakeHsa.h"

#include "SiteTables.h"

#include <cstdlib>
#include <cstring>
#include <elf.h>

namespace fake {

Hsa *Instance = nullptr;
static thread_local hsa_queue_t *Submitting = nullptr;

static uint64_t nowNs() {
  struct timespec Now;
  clock_gettime(CLOCK_MONOTONIC, &Now);
  return uint64_t(Now.tv_sec) * 1000000000ull + uint64_t(Now.tv_nsec);
}
// The fake system clock runs 5 s ahead of CLOCK_MONOTONIC, the fake counter
// starts 3 s before it; both are what a test can compute by hand.
static constexpr uint64_t SystemAheadNs = 5000000000ull;
static uint64_t ticksAt(uint64_t Ns) {
  return uint64_t((unsigned __int128)(Ns + 3000000000ull) * Instance->TickHz /
                  1000000000u);
}

// ------------------------------------------------------------ API functions

static hsa_status_t systemGetInfo(hsa_system_info_t What, void *Value) {
  if (What == HSA_SYSTEM_INFO_TIMESTAMP)
    *static_cast<uint64_t *>(Value) = nowNs() + SystemAheadNs;
  else if (What == HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY)
    *static_cast<uint64_t *>(Value) = 1000000000ull;
  else
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t iterateAgents(hsa_status_t (*Call)(hsa_agent_t, void *),
                                  void *Data) {
  for (auto *List : {&Instance->CpuAgents, &Instance->GpuAgents})
    for (uint64_t Handle : *List)
      Call({Handle}, Data);
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t agentGetInfo(hsa_agent_t Agent, hsa_agent_info_t What,
                                 void *Value) {
  bool Cpu = Agent.handle == Instance->CpuAgents[0];
  auto Number = [&](uint32_t N) {
    *static_cast<uint32_t *>(Value) = N;
    return HSA_STATUS_SUCCESS;
  };
  switch (unsigned(What)) {
  case HSA_AGENT_INFO_DEVICE:
    *static_cast<hsa_device_type_t *>(Value) =
        Cpu ? HSA_DEVICE_TYPE_CPU : HSA_DEVICE_TYPE_GPU;
    return HSA_STATUS_SUCCESS;
  case HSA_AGENT_INFO_NAME:
    std::strcpy(static_cast<char *>(Value), Instance->Target.c_str());
    return HSA_STATUS_SUCCESS;
  case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
    std::strcpy(static_cast<char *>(Value), Instance->ProductName.c_str());
    return HSA_STATUS_SUCCESS;
  case HSA_AGENT_INFO_WAVEFRONT_SIZE:
    return Number(64);
  case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
    return Number(60);
  case HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY:
    return Number(1800);
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

static hsa_status_t addQueue(hsa_agent_t Agent, uint32_t Size,
                             hsa_queue_t **Out) {
  auto New = std::make_unique<Queue>();
  New->Public.size = Size;
  New->Agent = Agent.handle;
  *Out = &New->Public;
  std::lock_guard<std::mutex> Guard(Instance->Lock);
  Instance->Queues[*Out] = std::move(New);
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t queueCreate(hsa_agent_t Agent, uint32_t Size,
                                hsa_queue_type32_t,
                                void (*)(hsa_status_t, hsa_queue_t *, void *),
                                void *, uint32_t, uint32_t, hsa_queue_t **Out) {
  return addQueue(Agent, Size, Out);
}

static hsa_status_t
interceptCreate(hsa_agent_t Agent, uint32_t Size, hsa_queue_type32_t,
                void (*OnError)(hsa_status_t, hsa_queue_t *, void *),
                void *Data, uint32_t, uint32_t, hsa_queue_t **Out) {
  if (Instance->InterceptFails)
    return HSA_STATUS_ERROR;
  addQueue(Agent, Size, Out);
  std::lock_guard<std::mutex> Guard(Instance->Lock);
  Instance->Queues[*Out]->OnError = OnError;
  Instance->Queues[*Out]->OnErrorData = Data;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t onSystemEvent(hsa_amd_system_event_callback_t Call,
                                  void *) {
  Instance->SystemHandler = Call;
  return HSA_STATUS_SUCCESS;
}

static Queue *findQueue(hsa_queue_t *Public) {
  std::lock_guard<std::mutex> Guard(Instance->Lock);
  return Instance->Queues.at(Public).get();
}

static hsa_status_t interceptRegister(hsa_queue_t *Public,
                                      hsa_amd_queue_intercept_handler Handler,
                                      void *Data) {
  Queue *Q = findQueue(Public);
  std::lock_guard<std::mutex> Guard(Q->Lock);
  Q->Handler = Handler;
  Q->HandlerData = Data;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t queueDestroy(hsa_queue_t *Public) {
  std::lock_guard<std::mutex> Guard(Instance->Lock);
  Instance->Queues.at(Public)->Destroyed = true;
  auto &Work = Instance->DeviceWork;
  for (auto It = Work.begin(); It != Work.end();)
    It = It->Queue == Public ? Work.erase(It) : std::next(It);
  Instance->Idle.notify_all();
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t setProfiler(hsa_queue_t *Public, int Enable) {
  findQueue(Public)->Profiling = Enable;
  return HSA_STATUS_SUCCESS;
}

static amd_signal_t *raw(hsa_signal_t Signal) {
  return reinterpret_cast<amd_signal_t *>(Signal.handle);
}
static std::atomic<int64_t> &valueOf(hsa_signal_t Signal) {
  return *reinterpret_cast<std::atomic<int64_t> *>(
      const_cast<int64_t *>(&raw(Signal)->value));
}

static hsa_status_t signalCreate(hsa_signal_value_t Initial, uint32_t,
                                 const hsa_agent_t *, hsa_signal_t *Out) {
  if (Instance->SignalsFail)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  void *Memory = nullptr;
  if (posix_memalign(&Memory, 64, sizeof(amd_signal_t)))
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  std::memset(Memory, 0, sizeof(amd_signal_t));
  Out->handle = reinterpret_cast<uint64_t>(Memory);
  valueOf(*Out).store(Initial);
  std::lock_guard<std::mutex> Guard(Instance->Lock);
  Instance->Signals.insert(Out->handle);
  return HSA_STATUS_SUCCESS;
}
static hsa_status_t signalDestroy(hsa_signal_t Signal) {
  std::lock_guard<std::mutex> Guard(Instance->Lock);
  Instance->Signals.erase(Signal.handle);
  free(raw(Signal));
  return HSA_STATUS_SUCCESS;
}
static hsa_signal_value_t signalLoad(hsa_signal_t Signal) {
  return valueOf(Signal).load(std::memory_order_acquire);
}

// Hands the handler of a fallen signal to the signal thread.
static void fallen(hsa_signal_t Signal) {
  std::lock_guard<std::mutex> Guard(Instance->Lock);
  auto Found = Instance->Handlers.find(Signal.handle);
  if (Found == Instance->Handlers.end() ||
      valueOf(Signal).load() >= Found->second.Below)
    return;
  Instance->SignalWork.push_back({Found->second.Call, Found->second.Data});
  Instance->Handlers.erase(Found);
  Instance->Arrival.notify_all();
}
static void signalStore(hsa_signal_t Signal, hsa_signal_value_t Value) {
  valueOf(Signal).store(Value, std::memory_order_release);
}
static void signalSubtract(hsa_signal_t Signal, hsa_signal_value_t Value) {
  valueOf(Signal).fetch_sub(Value, std::memory_order_acq_rel);
  fallen(Signal);
}
static hsa_status_t asyncHandler(hsa_signal_t Signal, hsa_signal_condition_t,
                                 hsa_signal_value_t Value,
                                 hsa_amd_signal_handler Call, void *Data) {
  {
    std::lock_guard<std::mutex> Guard(Instance->Lock);
    Instance->Handlers[Signal.handle] = {Call, Data, Value};
  }
  fallen(Signal);
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t convertTick(hsa_agent_t, uint64_t Tick, uint64_t *System) {
  if (Instance->ConversionFails)
    return HSA_STATUS_ERROR;
  *System = uint64_t((unsigned __int128)Tick * 1000000000u / Instance->TickHz) -
            3000000000ull + SystemAheadNs;
  return HSA_STATUS_SUCCESS;
}
static hsa_status_t dispatchTime(hsa_agent_t Agent, hsa_signal_t Signal,
                                 hsa_amd_profiling_dispatch_time_t *Time) {
  convertTick(Agent, raw(Signal)->start_ts, &Time->start);
  return convertTick(Agent, raw(Signal)->end_ts, &Time->end);
}

static hsa_status_t poolInfo(hsa_amd_memory_pool_t Pool,
                             hsa_amd_memory_pool_info_t What, void *Value) {
  switch (What) {
  case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
    *static_cast<hsa_amd_segment_t *>(Value) = HSA_AMD_SEGMENT_GLOBAL;
    return HSA_STATUS_SUCCESS;
  case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
    *static_cast<uint32_t *>(Value) = Instance->Pools.at(Pool.handle).Flags;
    return HSA_STATUS_SUCCESS;
  case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
    *static_cast<bool *>(Value) = true;
    return HSA_STATUS_SUCCESS;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}
static hsa_status_t
iteratePools(hsa_agent_t Agent,
             hsa_status_t (*Call)(hsa_amd_memory_pool_t, void *), void *Data) {
  for (auto &Entry : Instance->Pools)
    if (Entry.second.Agent == Agent.handle)
      Call({Entry.first}, Data);
  return HSA_STATUS_SUCCESS;
}
static hsa_status_t agentPoolInfo(hsa_agent_t, hsa_amd_memory_pool_t,
                                  hsa_amd_agent_memory_pool_info_t,
                                  void *Value) {
  *static_cast<hsa_amd_memory_pool_access_t *>(Value) =
      Instance->HostSeesDeviceMemory
          ? HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT
          : HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
  return HSA_STATUS_SUCCESS;
}
static hsa_status_t poolAllocate(hsa_amd_memory_pool_t, size_t Bytes, uint32_t,
                                 void **Out) {
  if (Bytes > Instance->MostPoolBytes ||
      Instance->AllocationsToFail.fetch_sub(1) > 0)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  if (posix_memalign(Out, 4096, Bytes))
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  // What was there before: not zero. Large pools are left to be lazy.
  std::memset(*Out, 0xa5, Bytes < (1u << 24) ? Bytes : (1u << 24));
  std::lock_guard<std::mutex> Guard(Instance->Lock);
  Instance->Allocations.insert(*Out);
  return HSA_STATUS_SUCCESS;
}
static hsa_status_t poolFree(void *Memory) {
  std::lock_guard<std::mutex> Guard(Instance->Lock);
  Instance->Allocations.erase(Memory);
  free(Memory);
  return HSA_STATUS_SUCCESS;
}
static hsa_status_t allowAccess(uint32_t, const hsa_agent_t *, const uint32_t *,
                                const void *) {
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t readerFromMemory(const void *Elf, size_t Bytes,
                                     hsa_code_object_reader_t *Out) {
  std::lock_guard<std::mutex> Guard(Instance->Lock);
  Out->handle = Instance->NextHandle++;
  auto *From = static_cast<const uint8_t *>(Elf);
  Instance->Readers[Out->handle].assign(From, From + Bytes);
  return HSA_STATUS_SUCCESS;
}
static hsa_status_t readerFromFile(hsa_file_t, hsa_code_object_reader_t *Out) {
  std::lock_guard<std::mutex> Guard(Instance->Lock);
  Out->handle = Instance->NextHandle++;
  return HSA_STATUS_SUCCESS;
}
static hsa_status_t readerDestroy(hsa_code_object_reader_t) {
  return HSA_STATUS_SUCCESS;
}
static hsa_status_t loadCodeObject(hsa_executable_t, hsa_agent_t,
                                   hsa_code_object_reader_t, const char *,
                                   hsa_loaded_code_object_t *) {
  return HSA_STATUS_SUCCESS;
}
static hsa_status_t freeze(hsa_executable_t, const char *) {
  return HSA_STATUS_SUCCESS;
}
static hsa_status_t executableDestroy(hsa_executable_t Executable) {
  std::lock_guard<std::mutex> Guard(Instance->Lock);
  Instance->Executables.erase(Executable.handle);
  return HSA_STATUS_SUCCESS;
}
static hsa_status_t
iterateSymbols(hsa_executable_t Executable, hsa_agent_t Agent,
               hsa_status_t (*Call)(hsa_executable_t, hsa_agent_t,
                                    hsa_executable_symbol_t, void *),
               void *Data) {
  std::vector<Symbol> Symbols;
  {
    std::lock_guard<std::mutex> Guard(Instance->Lock);
    Symbols = Instance->Executables[Executable.handle].ByAgent[Agent.handle];
  }
  for (const Symbol &S : Symbols) {
    uint64_t Handle;
    {
      std::lock_guard<std::mutex> Guard(Instance->Lock);
      Handle = Instance->NextHandle++;
      Instance->SymbolHandles[Handle] = S;
    }
    Call(Executable, Agent, {Handle}, Data);
    // The name is gone after the call-back.
    std::lock_guard<std::mutex> Guard(Instance->Lock);
    Instance->SymbolHandles.erase(Handle);
  }
  return HSA_STATUS_SUCCESS;
}
static hsa_status_t symbolInfo(hsa_executable_symbol_t Handle,
                               hsa_executable_symbol_info_t What, void *Value) {
  std::lock_guard<std::mutex> Guard(Instance->Lock);
  const Symbol &S = Instance->SymbolHandles.at(Handle.handle);
  switch (What) {
  case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
    *static_cast<hsa_symbol_kind_t *>(Value) = HSA_SYMBOL_KIND_KERNEL;
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
    *static_cast<uint32_t *>(Value) = uint32_t(S.Name.size());
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_NAME:
    std::memcpy(Value, S.Name.data(), S.Name.size());
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
    *static_cast<uint64_t *>(Value) = S.Object;
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
    *static_cast<uint32_t *>(Value) = S.GroupBytes;
    return HSA_STATUS_SUCCESS;
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
    *static_cast<uint32_t *>(Value) = S.PrivateBytes;
    return HSA_STATUS_SUCCESS;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

// ------------------------------------------------------------------ the fake

Hsa::Hsa(unsigned AgentCount) {
  Instance = this;
  CpuAgents = {1};
  Pools[10] = {1, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED |
                      HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT};
  for (unsigned I = 0; I < AgentCount; ++I) {
    GpuAgents.push_back(2 + I);
    Pools[20 + I] = {2 + I, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED};
  }
  auto Clear = [](auto &Part) {
    std::memset(reinterpret_cast<char *>(&Part) + sizeof(ApiTableVersion), 0,
                sizeof(Part) - sizeof(ApiTableVersion));
  };
  Clear(Container.core);
  Clear(Container.amd_ext);
  CoreApiTable &Core = Container.core;
  AmdExtTable &Amd = Container.amd_ext;
  Core.hsa_system_get_info_fn = systemGetInfo;
  Core.hsa_iterate_agents_fn = iterateAgents;
  Core.hsa_agent_get_info_fn = agentGetInfo;
  Core.hsa_queue_create_fn = queueCreate;
  Core.hsa_queue_destroy_fn = queueDestroy;
  Core.hsa_signal_create_fn = signalCreate;
  Core.hsa_signal_destroy_fn = signalDestroy;
  Core.hsa_signal_load_scacquire_fn = signalLoad;
  Core.hsa_signal_store_screlease_fn = signalStore;
  Core.hsa_signal_subtract_screlease_fn = signalSubtract;
  Core.hsa_executable_freeze_fn = freeze;
  Core.hsa_executable_destroy_fn = executableDestroy;
  Core.hsa_executable_symbol_get_info_fn = symbolInfo;
  Core.hsa_executable_iterate_agent_symbols_fn = iterateSymbols;
  Core.hsa_executable_load_agent_code_object_fn = loadCodeObject;
  Core.hsa_code_object_reader_create_from_file_fn = readerFromFile;
  Core.hsa_code_object_reader_create_from_memory_fn = readerFromMemory;
  Core.hsa_code_object_reader_destroy_fn = readerDestroy;
  Amd.hsa_amd_queue_intercept_create_fn = interceptCreate;
  Amd.hsa_amd_queue_intercept_register_fn = interceptRegister;
  Amd.hsa_amd_profiling_set_profiler_enabled_fn = setProfiler;
  Amd.hsa_amd_profiling_get_dispatch_time_fn = dispatchTime;
  Amd.hsa_amd_profiling_convert_tick_to_system_domain_fn = convertTick;
  Amd.hsa_amd_signal_async_handler_fn = asyncHandler;
  Amd.hsa_amd_memory_pool_get_info_fn = poolInfo;
  Amd.hsa_amd_agent_iterate_memory_pools_fn = iteratePools;
  Amd.hsa_amd_agent_memory_pool_get_info_fn = agentPoolInfo;
  Amd.hsa_amd_memory_pool_allocate_fn = poolAllocate;
  Amd.hsa_amd_memory_pool_free_fn = poolFree;
  Amd.hsa_amd_agents_allow_access_fn = allowAccess;
  Amd.hsa_amd_register_system_event_handler_fn = onSystemEvent;
  Device = std::thread([this] { deviceThread(); });
  SignalCaller = std::thread([this] { signalThread(); });
}

Hsa::~Hsa() {
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Stop = true;
  }
  Arrival.notify_all();
  Device.join();
  SignalCaller.join();
}

hsa_queue_t *Hsa::createQueue(unsigned Agent, uint32_t Size) {
  hsa_queue_t *Result = nullptr;
  Container.core.hsa_queue_create_fn({GpuAgents[Agent]}, Size,
                                     HSA_QUEUE_TYPE_MULTI, nullptr, nullptr,
                                     UINT32_MAX, UINT32_MAX, &Result);
  return Result;
}

void Hsa::destroyQueue(hsa_queue_t *Q) {
  Container.core.hsa_queue_destroy_fn(Q);
}

hsa_executable_t Hsa::load(const std::vector<uint8_t> &Elf,
                           const std::vector<Symbol> &Symbols,
                           std::vector<unsigned> AgentList) {
  hsa_executable_t Executable;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Executable.handle = NextHandle++;
    for (unsigned Agent : AgentList)
      Executables[Executable.handle].ByAgent[GpuAgents[Agent]] = Symbols;
  }
  // The program frees its copy at once.
  auto *Copy = new std::vector<uint8_t>(Elf);
  hsa_code_object_reader_t Reader;
  Container.core.hsa_code_object_reader_create_from_memory_fn(
      Copy->data(), Copy->size(), &Reader);
  delete Copy;
  for (unsigned Agent : AgentList)
    Container.core.hsa_executable_load_agent_code_object_fn(
        Executable, {GpuAgents[Agent]}, Reader, nullptr, nullptr);
  Container.core.hsa_code_object_reader_destroy_fn(Reader);
  Container.core.hsa_executable_freeze_fn(Executable, nullptr);
  return Executable;
}

static void writePackets(const void *Packets, uint64_t Count) {
  auto *First = static_cast<const hsa_kernel_dispatch_packet_t *>(Packets);
  std::lock_guard<std::mutex> Guard(Instance->Lock);
  Queue &Q = *Instance->Queues.at(Submitting);
  for (uint64_t I = 0; I < Count; ++I)
    Instance->DeviceWork.push_back({First[I], Q.Agent, Submitting,
                                    nowNs() + Instance->DelayMs * 1000000ull});
  Instance->Arrival.notify_all();
}

void Hsa::submit(hsa_queue_t *Public, const void *Packets, size_t Count) {
  Queue *Q = findQueue(Public);
  std::lock_guard<std::mutex> Guard(Q->Lock);
  Submitting = Public;
  auto *First = static_cast<const hsa_kernel_dispatch_packet_t *>(Packets);
  for (size_t I = 0; I < Count; ++I) {
    uint64_t Index = Q->WriteIndex++;
    if (Q->Handler)
      Q->Handler(First + I, 1, Index, Q->HandlerData, writePackets);
    else
      writePackets(First + I, 1);
  }
}

void Hsa::waitIdle() {
  std::unique_lock<std::mutex> Guard(Lock);
  Idle.wait(Guard, [&] {
    return DeviceWork.empty() && SignalWork.empty() && !InDevice && !InSignals;
  });
}

std::vector<hsa_kernel_dispatch_packet_t> Hsa::seen() {
  std::lock_guard<std::mutex> Guard(Lock);
  return Seen;
}
size_t Hsa::livePools() {
  std::lock_guard<std::mutex> Guard(Lock);
  return Allocations.size();
}
size_t Hsa::liveSignals() {
  std::lock_guard<std::mutex> Guard(Lock);
  return Signals.size();
}

void Hsa::wave(const KprobeDispatchContext &Context, uint64_t Wave) {
  if (Wave & ((1ull << Context.SampleShift) - 1))
    return;
  uint64_t Slot = Wave >> Context.SampleShift;
  if (Slot >= Context.SlotCount)
    return;
  auto *At = reinterpret_cast<uint8_t *>(
      Context.Slots + Slot * (sizeof(KprobeWaveHeader) + Context.RingBytes));
  auto *Header = reinterpret_cast<KprobeWaveHeader *>(At);
  uint8_t *Ring = At + sizeof(*Header);
  // The contract: slots start zeroed.
  for (uint64_t I = 0; I < sizeof(*Header) + Context.RingBytes; I += 8)
    if (*reinterpret_cast<uint64_t *>(At + I)) {
      std::fprintf(stderr, "fake device: slot %llu is not zero at byte %llu\n",
                   (unsigned long long)Slot, (unsigned long long)I);
      abort();
    }
  Header->WaveIndex = Wave;
  Header->RingBytes = Context.RingBytes;
  Header->BeginTicks = ticksAt(nowNs());
  Header->BeginCycles = Header->BeginTicks * 18;
  Header->State = KPROBE_WAVE_BEGUN;
  uint64_t Events = EventsOfWave(Wave);
  for (uint64_t I = 0; I < Events; ++I) {
    KprobeEvent Event = {
        uint32_t(I), KPROBE_TAG_BASE(KPROBE_EVENT_BLOCK, I % 5) + (64 << 4)};
    std::memcpy(Ring + ((I * 8) & KPROBE_RING_MASK(Context.RingBytes)), &Event,
                8);
  }
  if (WaveDies(Wave))
    return;
  Header->Cursor = uint32_t(Events * 8);
  Header->EndTicks = ticksAt(nowNs());
  Header->EndCycles = Header->EndTicks * 18;
  Header->State = KPROBE_WAVE_ENDED;
}

void Hsa::execute(const Work &Item) {
  const hsa_kernel_dispatch_packet_t &Packet = Item.Packet;
  uint64_t Begin = nowNs();
  if ((Packet.header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH &&
      Packet.reserved2 > 4096) {
    KprobeDispatchContext Context;
    std::memcpy(&Context, reinterpret_cast<void *>(Packet.reserved2),
                sizeof(Context));
    if (Context.Magic == KPROBE_CONTEXT_MAGIC) {
      uint64_t Groups = uint64_t(Context.GroupsX) * Context.GroupsY;
      for (uint64_t W = 0; W < Groups * Context.WavesPerGroup; ++W)
        wave(Context, W);
    }
  }
  if (Packet.completion_signal.handle) {
    amd_signal_t *Signal = raw(Packet.completion_signal);
    Signal->start_ts = ticksAt(Begin);
    Signal->end_ts = ticksAt(nowNs()) + 1;
    valueOf(Packet.completion_signal).fetch_sub(1, std::memory_order_acq_rel);
    fallen(Packet.completion_signal);
  }
}

void Hsa::deviceThread() {
  std::unique_lock<std::mutex> Guard(Lock);
  while (true) {
    Arrival.wait_for(Guard, std::chrono::milliseconds(5),
                     [&] { return Stop || (!Paused && !DeviceWork.empty()); });
    if (Stop)
      return;
    if (Paused || DeviceWork.empty() || DeviceWork.front().DueNs > nowNs())
      continue;
    Work Item = DeviceWork.front();
    DeviceWork.pop_front();
    Seen.push_back(Item.Packet);
    ++InDevice;
    Guard.unlock();
    execute(Item);
    Guard.lock();
    --InDevice;
    Idle.notify_all();
  }
}

void Hsa::signalThread() {
  std::unique_lock<std::mutex> Guard(Lock);
  while (true) {
    Arrival.wait_for(Guard, std::chrono::milliseconds(5),
                     [&] { return Stop || !SignalWork.empty(); });
    if (Stop)
      return;
    if (SignalWork.empty())
      continue;
    auto Next = SignalWork.front();
    SignalWork.pop_front();
    ++InSignals;
    Guard.unlock();
    Next.first(0, Next.second);
    Guard.lock();
    --InSignals;
    Idle.notify_all();
  }
}

// ------------------------------------------------------------ code objects

std::vector<uint8_t>
makeTable(const std::vector<std::pair<std::string, std::string>> &Kernels,
          const std::string &Producer) {
  std::string Strings(1, '\0');
  auto Add = [&](const std::string &Text) {
    uint32_t Offset = uint32_t(Strings.size());
    Strings += Text;
    Strings += '\0';
    return Offset;
  };
  std::vector<KprobeKernelRecord> Records;
  for (auto &Kernel : Kernels) {
    KprobeKernelRecord Record = {};
    Record.Name = Add(Kernel.first);
    Record.CloneName = Add(Kernel.second);
    Records.push_back(Record);
  }
  KprobeSiteTableHeader Header = {};
  Header.Magic = KPROBE_SITE_MAGIC;
  Header.Version = KPROBE_WIRE_MAJOR << 16 | KPROBE_WIRE_MINOR;
  Header.KernelCount = uint32_t(Records.size());
  Header.KernelOffset = sizeof(Header);
  Header.Producer = Add(Producer);
  Header.WaveSize = 64;
  Header.StringOffset =
      uint32_t(sizeof(Header) + Records.size() * sizeof(KprobeKernelRecord));
  Header.StringBytes = uint32_t(Strings.size());
  Header.TotalBytes = (Header.StringOffset + Header.StringBytes + 7) & ~7ull;
  std::vector<uint8_t> Table(Header.TotalBytes);
  std::memcpy(Table.data(), &Header, sizeof(Header));
  std::memcpy(Table.data() + Header.KernelOffset, Records.data(),
              Records.size() * sizeof(KprobeKernelRecord));
  std::memcpy(Table.data() + Header.StringOffset, Strings.data(),
              Strings.size());
  Header.ContentHash = kprobe::siteTableHash(Table.data(), Table.size());
  std::memcpy(Table.data(), &Header, sizeof(Header));
  return Table;
}

std::vector<uint8_t> makeElf(const std::vector<std::vector<uint8_t>> &Tables,
                             const std::string &Section) {
  std::vector<uint8_t> Content;
  for (auto &Table : Tables)
    Content.insert(Content.end(), Table.begin(), Table.end());
  std::string Names = std::string("\0.shstrtab\0", 11) + Section + '\0';
  Elf64_Ehdr Header = {};
  std::memcpy(Header.e_ident, ELFMAG, SELFMAG);
  Header.e_ident[EI_CLASS] = ELFCLASS64;
  Header.e_ident[EI_DATA] = ELFDATA2LSB;
  Header.e_shentsize = sizeof(Elf64_Shdr);
  Header.e_shnum = 3;
  Header.e_shstrndx = 1;
  Header.e_shoff = sizeof(Header);
  Elf64_Shdr Sections[3] = {};
  uint64_t NamesAt = sizeof(Header) + sizeof(Sections);
  Sections[1].sh_name = 1;
  Sections[1].sh_type = SHT_STRTAB;
  Sections[1].sh_offset = NamesAt;
  Sections[1].sh_size = Names.size();
  Sections[2].sh_name = 11;
  Sections[2].sh_type = SHT_PROGBITS;
  Sections[2].sh_offset = (NamesAt + Names.size() + 7) & ~7ull;
  Sections[2].sh_size = Content.size();
  std::vector<uint8_t> Elf(Sections[2].sh_offset + Content.size());
  std::memcpy(Elf.data(), &Header, sizeof(Header));
  std::memcpy(Elf.data() + sizeof(Header), Sections, sizeof(Sections));
  std::memcpy(Elf.data() + NamesAt, Names.data(), Names.size());
  if (!Content.empty())
    std::memcpy(Elf.data() + Sections[2].sh_offset, Content.data(),
                Content.size());
  return Elf;
}

hsa_kernel_dispatch_packet_t makeDispatch(uint64_t Object, uint32_t GridX,
                                          uint16_t GroupX,
                                          hsa_signal_t Signal) {
  hsa_kernel_dispatch_packet_t Packet = {};
  Packet.header = HSA_PACKET_TYPE_KERNEL_DISPATCH;
  Packet.setup = 1;
  Packet.grid_size_x = GridX;
  Packet.workgroup_size_x = GroupX;
  Packet.grid_size_y = Packet.grid_size_z = 1;
  Packet.workgroup_size_y = Packet.workgroup_size_z = 1;
  Packet.kernel_object = Object;
  Packet.completion_signal = Signal;
  return Packet;
}

} // namespace fake
