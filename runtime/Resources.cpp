// Hooks on allocation and copy functions; see Resources.h.
#include "Resources.h"
#include "CopyOnEngine.h"
#include "Guarded.h"
#include "HostRecorder.h"
#include "TableHooks.h"

#include <cstdlib>
#include <cstring>
#include <hsa/amd_hsa_signal.h>
#include <memory>

namespace kprobe {

// Stored with release by install(), loaded with acquire by every hook; objects
// are never deleted.
static std::atomic<Resources *> InCharge{nullptr};

#define KPROBE_RESOURCE_HOOKS(F)                                               \
  F(core_, CoreApiTable, hsa_memory_allocate)                                  \
  F(core_, CoreApiTable, hsa_memory_free)                                      \
  F(core_, CoreApiTable, hsa_memory_copy)                                      \
  F(amd_ext_, AmdExtTable, hsa_amd_memory_pool_allocate)                       \
  F(amd_ext_, AmdExtTable, hsa_amd_memory_pool_free)                           \
  F(amd_ext_, AmdExtTable, hsa_amd_memory_async_copy)                          \
  F(amd_ext_, AmdExtTable, hsa_amd_memory_async_copy_rect)                     \
  F(amd_ext_, AmdExtTable, hsa_amd_profiling_async_copy_enable)                \
  F(amd_ext_, AmdExtTable, hsa_amd_profiling_get_async_copy_time)

// The functions as they were; null where the table had none.
#define KPROBE_NEXT(Part, Type, Name) static decltype(::Name) *Next_##Name;
KPROBE_RESOURCE_HOOKS(KPROBE_NEXT)
#undef KPROBE_NEXT

static Resources *active() {
  Resources *Self = InCharge.load(std::memory_order_acquire);
  return Self && HostRecorder::get().recording() ? Self : nullptr;
}

struct ResourceHooks {
  static hsa_status_t hsa_memory_allocate(hsa_region_t Region, size_t Bytes,
                                          void **Address) {
    hsa_status_t Status = Next_hsa_memory_allocate(Region, Bytes, Address);
    if (Resources *R = active(); R && Status == HSA_STATUS_SUCCESS)
      // Regions of an agent carry the handles of its pools.
      guarded([&] {
        R->allocated(*Address, Bytes, R->agentOfPool({Region.handle}));
      });
    return Status;
  }
  static hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t Pool,
                                                   size_t Bytes, uint32_t Flags,
                                                   void **Address) {
    hsa_status_t Status =
        Next_hsa_amd_memory_pool_allocate(Pool, Bytes, Flags, Address);
    if (Resources *R = active(); R && Status == HSA_STATUS_SUCCESS)
      guarded([&] { R->allocated(*Address, Bytes, R->agentOfPool(Pool)); });
    return Status;
  }
  // Before the original: afterwards another thread may get the same address.
  static hsa_status_t hsa_memory_free(void *Address) {
    if (Resources *R = active(); R && Address)
      guarded([&] { R->freed(Address); });
    return Next_hsa_memory_free(Address);
  }
  static hsa_status_t hsa_amd_memory_pool_free(void *Address) {
    if (Resources *R = active(); R && Address)
      guarded([&] { R->freed(Address); });
    return Next_hsa_amd_memory_pool_free(Address);
  }
  // Returns when the copy is done.
  static hsa_status_t hsa_memory_copy(void *Target, const void *Source,
                                      size_t Bytes) {
    Resources *R = active();
    uint64_t Number = 0;
    if (R)
      guarded([&] {
        Number = R->Copies.fetch_add(1, std::memory_order_relaxed) + 1;
        recordHostEvent(KPROBE_HOST_COPY,
                        KprobeHostCopy{{},
                                       Number,
                                       reinterpret_cast<uint64_t>(Target),
                                       reinterpret_cast<uint64_t>(Source),
                                       Bytes,
                                       KPROBE_NO_INDEX,
                                       KPROBE_NO_INDEX});
      });
    hsa_status_t Status = Next_hsa_memory_copy(Target, Source, Bytes);
    if (R)
      guarded([&] {
        recordHostEvent(
            KPROBE_HOST_COPY_DONE,
            KprobeHostCopyDone{{},
                               Number,
                               0,
                               0,
                               KPROBE_NO_INDEX,
                               uint32_t(Status != HSA_STATUS_SUCCESS)});
      });
    return Status;
  }
  // Runs Submit with the completion signal that it should use.
  template <typename Function>
  static hsa_status_t copy(const KprobeHostCopy &Event, hsa_signal_t App,
                           Function &&Submit) {
    Resources *R = active();
    if (!R)
      return Submit(App);
    uint32_t Agent = Event.TargetAgent != KPROBE_NO_INDEX ? Event.TargetAgent
                                                          : Event.SourceAgent;
    Resources::Copy *Which = nullptr;
    guarded([&] { Which = R->begin(Event, Agent, App); });
    hsa_status_t Status = Submit(Which ? Which->Own : App);
    if (Status != HSA_STATUS_SUCCESS && Which)
      guarded([&] { R->refused(Which, Which->Number); });
    return Status;
  }
  template <typename Function>
  static hsa_status_t copy(const CopyRequest &Request, Function &&Submit) {
    KprobeHostCopy Event = {};
    if (Resources *R = active())
      guarded([&] {
        Event.Head.Function = Request.Engine != KPROBE_ENGINE_UNKNOWN
                                  ? Request.Engine
                                  : R->DefaultEngine;
        Event.Target = reinterpret_cast<uint64_t>(Request.Target);
        Event.Source = reinterpret_cast<uint64_t>(Request.Source);
        Event.Bytes = Request.Bytes;
        Event.TargetAgent = R->agentNumber(Request.TargetAgent);
        Event.SourceAgent = R->agentNumber(Request.SourceAgent);
      });
    return copy(Event, Request.Done, Submit);
  }
  static hsa_status_t
  hsa_amd_memory_async_copy(void *Target, hsa_agent_t TargetAgent,
                            const void *Source, hsa_agent_t SourceAgent,
                            size_t Bytes, uint32_t WaitCount,
                            const hsa_signal_t *Waits, hsa_signal_t Done) {
    return copy(CopyRequest{Target, TargetAgent, Source, SourceAgent, Bytes, Done,
                            KPROBE_ENGINE_UNKNOWN},
                [&](hsa_signal_t Signal) {
                  return Next_hsa_amd_memory_async_copy(
                      Target, TargetAgent, Source, SourceAgent, Bytes, WaitCount,
                      Waits, Signal);
                });
  }
  static hsa_status_t hsa_amd_memory_async_copy_rect(
      const hsa_pitched_ptr_t *Target, const hsa_dim3_t *TargetOffset,
      const hsa_pitched_ptr_t *Source, const hsa_dim3_t *SourceOffset,
      const hsa_dim3_t *Range, hsa_agent_t CopyAgent,
      hsa_amd_copy_direction_t Direction, uint32_t WaitCount,
      const hsa_signal_t *Waits, hsa_signal_t Done) {
    KprobeHostCopy Event = {};
    if (Resources *R = active(); R && Target && Source && Range)
      guarded([&] {
        uint32_t Number = R->agentNumber(CopyAgent);
        bool ToDevice =
            Direction == hsaHostToDevice || Direction == hsaDeviceToDevice;
        bool FromDevice =
            Direction == hsaDeviceToHost || Direction == hsaDeviceToDevice;
        Event.Head.Function = R->DefaultEngine;
        Event.Target = reinterpret_cast<uint64_t>(Target->base);
        Event.Source = reinterpret_cast<uint64_t>(Source->base);
        Event.Bytes = uint64_t(Range->x) * Range->y * Range->z;
        Event.TargetAgent = ToDevice ? Number : KPROBE_NO_INDEX;
        Event.SourceAgent = FromDevice ? Number : KPROBE_NO_INDEX;
      });
    return copy(Event, Done, [&](hsa_signal_t Signal) {
      return Next_hsa_amd_memory_async_copy_rect(
          Target, TargetOffset, Source, SourceOffset, Range, CopyAgent,
          Direction, WaitCount, Waits, Signal);
    });
  }
  // The program may switch it off again; our time stamps need it on.
  static hsa_status_t hsa_amd_profiling_async_copy_enable(bool Enable) {
    if (!Enable && active())
      return HSA_STATUS_SUCCESS;
    return Next_hsa_amd_profiling_async_copy_enable(Enable);
  }
  static hsa_status_t hsa_amd_profiling_get_async_copy_time(
      hsa_signal_t Signal, hsa_amd_profiling_async_copy_time_t *Time) {
    // Also after recording has ended: the copy was ours all the same.
    if (Resources *R = InCharge.load(std::memory_order_acquire); R && Time) {
      std::lock_guard<std::mutex> Guard(R->Lock);
      auto Found = R->Times.find(Signal.handle);
      if (Found != R->Times.end()) {
        *Time = Found->second;
        return HSA_STATUS_SUCCESS;
      }
    }
    return Next_hsa_amd_profiling_get_async_copy_time(Signal, Time);
  }
};

// Once, and before the hooks: the program may change its environment at any time.
static uint32_t defaultEngine() {
  const char *Sdma = getenv("HSA_ENABLE_SDMA");
  return Sdma && strcmp(Sdma, "0") == 0 ? KPROBE_ENGINE_SHADER
                                        : KPROBE_ENGINE_UNKNOWN;
}

void Resources::install(HsaApiTable *Table) {
  DefaultEngine = defaultEngine();
  InCharge.store(this, std::memory_order_release);
#define KPROBE_INSTALL(Part, Type, Name)                                       \
  hook(*Table->Part, offsetof(Type, Name##_fn), Table->Part->Name##_fn,         \
       Next_##Name, ResourceHooks::Name);
  KPROBE_RESOURCE_HOOKS(KPROBE_INSTALL)
#undef KPROBE_INSTALL
  CopyOnEngine<AmdExtTable, ResourceHooks>::install(*Table->amd_ext_);
  if (Next_hsa_amd_profiling_async_copy_enable)
    Next_hsa_amd_profiling_async_copy_enable(true);
}

void Resources::remove(HsaApiTable *Table) {
#define KPROBE_REMOVE(Part, Type, Name)                                        \
  unhook(Table->Part->Name##_fn, Next_##Name, ResourceHooks::Name);
  KPROBE_RESOURCE_HOOKS(KPROBE_REMOVE)
#undef KPROBE_REMOVE
  CopyOnEngine<AmdExtTable, ResourceHooks>::remove(*Table->amd_ext_);
}

uint32_t Resources::agentNumber(hsa_agent_t Handle) {
  Agent *Device = Devices.find(Handle);
  return Device ? Device->Number : KPROBE_NO_INDEX;
}

// With the lock held.
void Resources::findPools() {
  PoolsKnown = true;
  for (Agent *Device : Devices.all()) {
    struct Visit {
      Resources *Self;
      uint32_t Number;
    } Each{this, Device->Number};
    Api.hsa_amd_agent_iterate_memory_pools(
        Device->Handle,
        [](hsa_amd_memory_pool_t Pool, void *Data) {
          auto *To = static_cast<Visit *>(Data);
          To->Self->Pools[Pool.handle] = To->Number;
          return HSA_STATUS_SUCCESS;
        },
        &Each);
  }
}

uint32_t Resources::agentOfPool(hsa_amd_memory_pool_t Pool) {
  std::lock_guard<std::mutex> Guard(Lock);
  if (!PoolsKnown)
    findPools();
  auto Found = Pools.find(Pool.handle);
  return Found == Pools.end() ? KPROBE_NO_INDEX : Found->second;
}

void Resources::allocated(const void *Address, uint64_t Bytes, uint32_t Agent) {
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Allocations[Address] = {Bytes, Agent};
  }
  recordHostEvent(
      KPROBE_HOST_ALLOCATE,
      KprobeHostMemory{
          {}, reinterpret_cast<uint64_t>(Address), Bytes, Agent, 0});
}

void Resources::freed(const void *Address) {
  Allocation Known = {0, KPROBE_NO_INDEX};
  {
    std::lock_guard<std::mutex> Guard(Lock);
    auto Found = Allocations.find(Address);
    if (Found != Allocations.end()) {
      Known = Found->second;
      Allocations.erase(Found);
    }
  }
  recordHostEvent(KPROBE_HOST_FREE,
                  KprobeHostMemory{{},
                                   reinterpret_cast<uint64_t>(Address),
                                   Known.Bytes,
                                   Known.Agent,
                                   0});
}

Resources::Copy *Resources::begin(KprobeHostCopy Event, uint32_t Agent,
                                  hsa_signal_t App) {
  Event.Copy = Copies.fetch_add(1, std::memory_order_relaxed) + 1;
  recordHostEvent(KPROBE_HOST_COPY, Event);
  {
    // What was known of the signal is about its last copy.
    std::lock_guard<std::mutex> Guard(Lock);
    Times.erase(App.handle);
  }
  if (App.handle == 0)
    return nullptr;
  auto Which = std::make_unique<Copy>(
      Copy{this, Event.Copy, Agent, Signals.acquire(), App, false});
  if (Which->Own.handle == 0)
    return nullptr;
  if (Api.hsa_amd_signal_async_handler(Which->Own, HSA_SIGNAL_CONDITION_LT, 1,
                                       onCopyDone,
                                       Which.get()) != HSA_STATUS_SUCCESS) {
    Signals.release(Which->Own);
    return nullptr;
  }
  return Which.release();
}

// The handler stands already: it is called, and leaves the program's signal.
void Resources::refused(Copy *Which, uint64_t Number) {
  Which->Refused = true;
  hsa_signal_t Own = Which->Own;
  recordHostEvent(KPROBE_HOST_COPY_DONE,
                  KprobeHostCopyDone{{}, Number, 0, 0, KPROBE_NO_INDEX, 1});
  // Releases Refused to the handler.
  Api.hsa_signal_store_screlease(Own, 0);
}

// On ROCr's signal thread.
bool Resources::onCopyDone(hsa_signal_value_t Value, void *Data) {
  std::unique_ptr<Copy> Which(static_cast<Copy *>(Data));
  Resources &Self = *Which->Owner;
  if (Which->Refused) {
    Self.Signals.release(Which->Own);
    return false;
  }
  hsa_amd_profiling_async_copy_time_t Time = {};
  if (Next_hsa_amd_profiling_get_async_copy_time &&
      Next_hsa_amd_profiling_get_async_copy_time(Which->Own, &Time) ==
          HSA_STATUS_SUCCESS)
    guarded([&] {
      std::lock_guard<std::mutex> Guard(Self.Lock);
      Self.Times[Which->App.handle] = Time;
    });
  auto *Own = reinterpret_cast<amd_signal_t *>(Which->Own.handle);
  auto *App = reinterpret_cast<amd_signal_t *>(Which->App.handle);
  App->start_ts = Own->start_ts;
  App->end_ts = Own->end_ts;
  // A negative value is ROCr's word for a copy that failed. Both release the
  // time stamps to whoever acquires the signal's value.
  if (Value < 0)
    Self.Api.hsa_signal_store_screlease(Which->App, Value);
  else
    Self.Api.hsa_signal_subtract_screlease(Which->App, 1);
  recordHostEvent(KPROBE_HOST_COPY_DONE,
                  KprobeHostCopyDone{{},
                                     Which->Number,
                                     Time.start,
                                     Time.end,
                                     Which->Agent,
                                     uint32_t(Value < 0)});
  Self.Signals.release(Which->Own);
  return false;
}

} // namespace kprobe
