// The HSA functions of the fake, on its maps of handles.
#include "FakeInternal.h"

#include <cstdlib>
#include <cstring>

namespace fake {

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
  case HSA_AMD_AGENT_INFO_HDP_FLUSH:
    static_cast<hsa_amd_hdp_flush_t *>(Value)->HDP_MEM_FLUSH_CNTL =
        &Instance->HdpFlush;
    return HSA_STATUS_SUCCESS;
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

static uint64_t addWriteIndex(const hsa_queue_t *Public, uint64_t Count) {
  Queue *Q = findQueue(const_cast<hsa_queue_t *>(Public));
  std::lock_guard<std::mutex> Guard(Q->Lock);
  return (Q->WriteIndex += Count) - Count;
}

static hsa_status_t memoryCopy(void *Target, const void *Source, size_t Bytes) {
  std::memcpy(Target, Source, Bytes);
  return HSA_STATUS_SUCCESS;
}

// What the fake's addresses belong to is not known to it.
static hsa_status_t pointerInfo(const void *, hsa_amd_pointer_info_t *Info,
                                void *(*)(size_t), uint32_t *, hsa_agent_t **) {
  Info->type = HSA_EXT_POINTER_TYPE_UNKNOWN;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t setProfiler(hsa_queue_t *Public, int Enable) {
  findQueue(Public)->Profiling = Enable;
  return HSA_STATUS_SUCCESS;
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
static hsa_status_t signalCreateAmd(hsa_signal_value_t Initial, uint32_t Count,
                                    const hsa_agent_t *Consumers,
                                    uint64_t Attributes, hsa_signal_t *Out) {
  Instance->PlainSignalsMade += Attributes == HSA_AMD_SIGNAL_AMD_GPU_ONLY;
  return signalCreate(Initial, Count, Consumers, Out);
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

void fallen(hsa_signal_t Signal) {
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
  ++Instance->HandlersMade;
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
  case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
    *static_cast<uint32_t *>(Value) = S.ArgumentBytes;
    return HSA_STATUS_SUCCESS;
  default:
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

void fillTable(Hsa &Fake) {
  auto Clear = [](auto &Part) {
    std::memset(reinterpret_cast<char *>(&Part) + sizeof(ApiTableVersion), 0,
                sizeof(Part) - sizeof(ApiTableVersion));
  };
  Clear(Fake.Container.core);
  Clear(Fake.Container.amd_ext);
  CoreApiTable &Core = Fake.Container.core;
  AmdExtTable &Amd = Fake.Container.amd_ext;
  Core.hsa_system_get_info_fn = systemGetInfo;
  Core.hsa_iterate_agents_fn = iterateAgents;
  Core.hsa_agent_get_info_fn = agentGetInfo;
  Core.hsa_queue_create_fn = queueCreate;
  Core.hsa_queue_destroy_fn = queueDestroy;
  Core.hsa_queue_add_write_index_screlease_fn = addWriteIndex;
  Core.hsa_memory_copy_fn = memoryCopy;
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
  Amd.hsa_amd_signal_create_fn = signalCreateAmd;
  Amd.hsa_amd_memory_pool_get_info_fn = poolInfo;
  Amd.hsa_amd_pointer_info_fn = pointerInfo;
  Amd.hsa_amd_agent_iterate_memory_pools_fn = iteratePools;
  Amd.hsa_amd_agent_memory_pool_get_info_fn = agentPoolInfo;
  Amd.hsa_amd_memory_pool_allocate_fn = poolAllocate;
  Amd.hsa_amd_memory_pool_free_fn = poolFree;
  Amd.hsa_amd_agents_allow_access_fn = allowAccess;
  Amd.hsa_amd_register_system_event_handler_fn = onSystemEvent;
}

} // namespace fake
