// Hooks on what makes memory reachable and on copies; see MemoryMap.h.
#include "MemoryMap.h"
#include "Guarded.h"
#include "TableHooks.h"

#include <algorithm>
#include <atomic>

namespace kprobe {

// Stored with release by install(), loaded with acquire by every hook; objects
// are never deleted.
static std::atomic<MemoryMap *> InCharge{nullptr};

#define KPROBE_MEMORY_HOOKS(F)                                                 \
  F(core_, CoreApiTable, hsa_memory_allocate)                                  \
  F(core_, CoreApiTable, hsa_memory_free)                                      \
  F(core_, CoreApiTable, hsa_memory_copy)                                      \
  F(core_, CoreApiTable, hsa_signal_destroy)                                   \
  F(amd_ext_, AmdExtTable, hsa_amd_memory_pool_allocate)                       \
  F(amd_ext_, AmdExtTable, hsa_amd_memory_pool_free)                           \
  F(amd_ext_, AmdExtTable, hsa_amd_memory_lock)                                \
  F(amd_ext_, AmdExtTable, hsa_amd_memory_lock_to_pool)                        \
  F(amd_ext_, AmdExtTable, hsa_amd_memory_fill)                                \
  F(amd_ext_, AmdExtTable, hsa_amd_memory_async_copy)                          \
  F(amd_ext_, AmdExtTable, hsa_amd_memory_async_copy_rect)                     \
  F(amd_ext_, AmdExtTable, hsa_amd_ipc_memory_attach)                          \
  F(amd_ext_, AmdExtTable, hsa_amd_interop_map_buffer)

// The functions as they were; null where the table had none.
#define KPROBE_NEXT(Part, Type, Name) static decltype(::Name) *Next_##Name;
KPROBE_MEMORY_HOOKS(KPROBE_NEXT)
#undef KPROBE_NEXT

struct MemoryHooks {
  // Runs Work while no dispatch is being run twice.
  template <typename Function> static hsa_status_t pass(Function &&Work) {
    MemoryMap *Map = InCharge.load(std::memory_order_acquire);
    std::unique_lock<std::mutex> Guard;
    if (Map)
      Guard = std::unique_lock<std::mutex>(Map->Gate);
    return Work();
  }
  // The same for what makes *Address reachable.
  template <typename Function>
  static hsa_status_t reach(Function &&Work, void *const *Address) {
    return pass([&] {
      hsa_status_t Status = Work();
      MemoryMap *Map = InCharge.load(std::memory_order_acquire);
      if (Map && Status == HSA_STATUS_SUCCESS)
        guarded([&] { Map->add(Map->ask(*Address)); });
      return Status;
    });
  }
  template <typename Function>
  static hsa_status_t copy(hsa_signal_t Done, Function &&Work) {
    return pass([&] {
      MemoryMap *Map = InCharge.load(std::memory_order_acquire);
      int64_t Before = 0;
      if (Map && Done.handle)
        Before = Map->Api.hsa_signal_load_scacquire(Done);
      hsa_status_t Status = Work();
      if (Map && Status == HSA_STATUS_SUCCESS)
        // One without a signal is never known to have ended.
        guarded([&] { Map->Copies[Done.handle] = Before; });
      return Status;
    });
  }
  static void forget(const void *Address) {
    if (MemoryMap *Map = InCharge.load(std::memory_order_acquire))
      guarded([&] { Map->remove(reinterpret_cast<uint64_t>(Address)); });
  }

  static hsa_status_t hsa_memory_allocate(hsa_region_t Region, size_t Bytes,
                                          void **Address) {
    return reach(
        [&] { return Next_hsa_memory_allocate(Region, Bytes, Address); },
        Address);
  }
  static hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t Pool,
                                                   size_t Bytes, uint32_t Flags,
                                                   void **Address) {
    return reach(
        [&] {
          return Next_hsa_amd_memory_pool_allocate(Pool, Bytes, Flags, Address);
        },
        Address);
  }
  // Unpinning has no hook: what was pinned and is no more is only a reason to
  // refuse too much.
  static hsa_status_t hsa_amd_memory_lock(void *Host, size_t Bytes,
                                          hsa_agent_t *Agents, int Count,
                                          void **Address) {
    return reach(
        [&] {
          return Next_hsa_amd_memory_lock(Host, Bytes, Agents, Count, Address);
        },
        Address);
  }
  static hsa_status_t
  hsa_amd_memory_lock_to_pool(void *Host, size_t Bytes, hsa_agent_t *Agents,
                              int Count, hsa_amd_memory_pool_t Pool,
                              uint32_t Flags, void **Address) {
    return reach(
        [&] {
          return Next_hsa_amd_memory_lock_to_pool(Host, Bytes, Agents, Count,
                                                  Pool, Flags, Address);
        },
        Address);
  }
  static hsa_status_t
  hsa_amd_ipc_memory_attach(const hsa_amd_ipc_memory_t *Handle, size_t Bytes,
                            uint32_t Count, const hsa_agent_t *Agents,
                            void **Address) {
    return reach(
        [&] {
          return Next_hsa_amd_ipc_memory_attach(Handle, Bytes, Count, Agents,
                                                Address);
        },
        Address);
  }
  static hsa_status_t
  hsa_amd_interop_map_buffer(uint32_t Count, hsa_agent_t *Agents, int Handle,
                             uint32_t Flags, size_t *Bytes, void **Address,
                             size_t *MetadataBytes, const void **Metadata) {
    return reach(
        [&] {
          return Next_hsa_amd_interop_map_buffer(Count, Agents, Handle, Flags,
                                                 Bytes, Address, MetadataBytes,
                                                 Metadata);
        },
        Address);
  }
  static hsa_status_t hsa_memory_free(void *Address) {
    forget(Address);
    return pass([&] { return Next_hsa_memory_free(Address); });
  }
  static hsa_status_t hsa_amd_memory_pool_free(void *Address) {
    forget(Address);
    return pass([&] { return Next_hsa_amd_memory_pool_free(Address); });
  }
  static hsa_status_t hsa_signal_destroy(hsa_signal_t Signal) {
    return pass([&] {
      if (MemoryMap *Map = InCharge.load(std::memory_order_acquire))
        Map->signalDestroyed(Signal);
      return Next_hsa_signal_destroy(Signal);
    });
  }
  static hsa_status_t hsa_memory_copy(void *Target, const void *Source,
                                      size_t Bytes) {
    return pass([&] { return Next_hsa_memory_copy(Target, Source, Bytes); });
  }
  static hsa_status_t hsa_amd_memory_fill(void *Target, uint32_t Value,
                                          size_t Count) {
    return pass([&] { return Next_hsa_amd_memory_fill(Target, Value, Count); });
  }
  static hsa_status_t
  hsa_amd_memory_async_copy(void *Target, hsa_agent_t TargetAgent,
                            const void *Source, hsa_agent_t SourceAgent,
                            size_t Bytes, uint32_t WaitCount,
                            const hsa_signal_t *Waits, hsa_signal_t Done) {
    return copy(Done, [&] {
      return Next_hsa_amd_memory_async_copy(Target, TargetAgent, Source,
                                            SourceAgent, Bytes, WaitCount,
                                            Waits, Done);
    });
  }
  static hsa_status_t hsa_amd_memory_async_copy_rect(
      const hsa_pitched_ptr_t *Target, const hsa_dim3_t *TargetOffset,
      const hsa_pitched_ptr_t *Source, const hsa_dim3_t *SourceOffset,
      const hsa_dim3_t *Range, hsa_agent_t CopyAgent,
      hsa_amd_copy_direction_t Direction, uint32_t WaitCount,
      const hsa_signal_t *Waits, hsa_signal_t Done) {
    return copy(Done, [&] {
      return Next_hsa_amd_memory_async_copy_rect(
          Target, TargetOffset, Source, SourceOffset, Range, CopyAgent,
          Direction, WaitCount, Waits, Done);
    });
  }
};

void MemoryMap::install(HsaApiTable *Table) {
  InCharge.store(this, std::memory_order_release);
#define KPROBE_INSTALL(Part, Type, Name)                                       \
  hook(*Table->Part, offsetof(Type, Name##_fn), Table->Part->Name##_fn,         \
       Next_##Name, MemoryHooks::Name);
  KPROBE_MEMORY_HOOKS(KPROBE_INSTALL)
#undef KPROBE_INSTALL
}

void MemoryMap::remove(HsaApiTable *Table) {
#define KPROBE_REMOVE(Part, Type, Name)                                        \
  unhook(Table->Part->Name##_fn, Next_##Name, MemoryHooks::Name);
  KPROBE_MEMORY_HOOKS(KPROBE_REMOVE)
#undef KPROBE_REMOVE
}

void MemoryMap::letGo() { InCharge.store(nullptr, std::memory_order_release); }

MemoryRange MemoryMap::ask(const void *Address) const {
  hsa_amd_pointer_info_t Info = {};
  Info.size = sizeof(Info);
  MemoryRange Range;
  if (Api.hsa_amd_pointer_info(Address, &Info, nullptr, nullptr, nullptr) !=
          HSA_STATUS_SUCCESS ||
      Info.type == HSA_EXT_POINTER_TYPE_UNKNOWN)
    return Range;
  Range.Begin = reinterpret_cast<uint64_t>(Info.agentBaseAddress);
  Range.Bytes = Info.sizeInBytes;
  hsa_device_type_t Type = HSA_DEVICE_TYPE_CPU;
  Api.hsa_agent_get_info(Info.agentOwner, HSA_AGENT_INFO_DEVICE, &Type);
  if (Info.type == HSA_EXT_POINTER_TYPE_HSA && Type == HSA_DEVICE_TYPE_GPU &&
      (Info.global_flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED))
    Range.Agent = Info.agentOwner.handle;
  return Range;
}

void MemoryMap::add(const MemoryRange &Range) {
  if (Range.Bytes == 0)
    return;
  std::lock_guard<std::mutex> Guard(Lock);
  Ranges[Range.Begin] = Range;
}

void MemoryMap::remove(uint64_t Begin) {
  std::lock_guard<std::mutex> Guard(Lock);
  Ranges.erase(Begin);
}

std::vector<MemoryRange> MemoryMap::all() const {
  std::lock_guard<std::mutex> Guard(Lock);
  std::vector<MemoryRange> Result;
  for (const auto &Entry : Ranges)
    Result.push_back(Entry.second);
  return Result;
}

void MemoryMap::barrierSubmitted(const hsa_queue_t *Queue,
                                 hsa_signal_t Signal) {
  // Those that have passed are of no use; without this they would only grow.
  isQuiet(Queue);
  Barriers.emplace_back(Queue, Signal.handle);
}

bool MemoryMap::isQuiet(const hsa_queue_t *Queue) {
  for (auto It = Copies.begin(); It != Copies.end();) {
    bool Ended = It->first != 0 &&
                 Api.hsa_signal_load_scacquire({It->first}) < It->second;
    It = Ended ? Copies.erase(It) : std::next(It);
  }
  Barriers.erase(
      std::remove_if(Barriers.begin(), Barriers.end(),
                     [&](const auto &Entry) {
                       return Entry.second != 0 &&
                              Api.hsa_signal_load_scacquire({Entry.second}) ==
                                  0;
                     }),
      Barriers.end());
  return Copies.empty() &&
         std::none_of(Barriers.begin(), Barriers.end(),
                      [&](const auto &Entry) {
                        return !Entry.first || Entry.first == Queue;
                      });
}

void MemoryMap::signalDestroyed(hsa_signal_t Signal) {
  Copies.erase(Signal.handle);
  Barriers.erase(std::remove_if(Barriers.begin(), Barriers.end(),
                                [&](const auto &Entry) {
                                  return Entry.second == Signal.handle;
                                }),
                 Barriers.end());
}

} // namespace kprobe
