// hsa_amd_memory_async_copy_on_engine, of ROCm 5.5 and later: found in the table by
// its name alone, so that this builds with older headers, which have neither the
// entry nor the type that names an engine.
#ifndef KPROBE_RUNTIME_COPYONENGINE_H
#define KPROBE_RUNTIME_COPYONENGINE_H

#include "TableHooks.h"
#include "kprobe/wire.h"

#include <cstddef>
#include <cstdint>
#include <hsa/hsa.h>
#include <type_traits>
#include <utility>

namespace kprobe {

// Engines are bits; Mask 0 or several: not known which.
inline uint32_t engineOfMask(uint64_t Mask) {
  return Mask != 0 && (Mask & (Mask - 1)) == 0
             ? KPROBE_ENGINE_SDMA(__builtin_ctzll(Mask))
             : KPROBE_ENGINE_UNKNOWN;
}

// What a hook does with a copy: records it, and calls Submit with the signal that
// ROCr is to use.
struct CopyRequest {
  void *Target;
  hsa_agent_t TargetAgent;
  const void *Source;
  hsa_agent_t SourceAgent;
  size_t Bytes;
  hsa_signal_t Done;
  uint32_t Engine; // KPROBE_ENGINE_*
};

// Of a table without the entry: nothing.
template <typename Table, typename Recorder, typename = void>
struct CopyOnEngine {
  static void install(Table &) {}
  static void remove(Table &) {}
};

template <typename Table>
using CopyOnEngineEntry =
    decltype(std::declval<Table &>().hsa_amd_memory_async_copy_on_engine_fn);

// Recorder::copy(CopyRequest, Submit).
template <typename Table, typename Recorder>
struct CopyOnEngine<Table, Recorder, std::void_t<CopyOnEngineEntry<Table>>> {
  using Function = std::remove_pointer_t<CopyOnEngineEntry<Table>>;

  static void install(Table &Part) {
    hook(Part, offsetof(Table, hsa_amd_memory_async_copy_on_engine_fn),
         Part.hsa_amd_memory_async_copy_on_engine_fn, Next, ours(Next));
  }
  static void remove(Table &Part) {
    unhook(Part.hsa_amd_memory_async_copy_on_engine_fn, Next, ours(Next));
  }

private:
  static inline Function *Next = nullptr;

  template <typename Engine>
  using OfEngine = hsa_status_t(void *, hsa_agent_t, const void *, hsa_agent_t,
                                size_t, uint32_t, const hsa_signal_t *,
                                hsa_signal_t, Engine, bool);
  template <typename Engine>
  static Function *ours(OfEngine<Engine> *) {
    return &copy<Engine>;
  }
  template <typename Engine>
  static hsa_status_t copy(void *Target, hsa_agent_t TargetAgent,
                           const void *Source, hsa_agent_t SourceAgent,
                           size_t Bytes, uint32_t WaitCount,
                           const hsa_signal_t *Waits, hsa_signal_t Done,
                           Engine Which, bool Force) {
    return Recorder::copy(
        CopyRequest{Target, TargetAgent, Source, SourceAgent, Bytes, Done,
                    engineOfMask(static_cast<uint64_t>(Which))},
        [&](hsa_signal_t Signal) {
          return Next(Target, TargetAgent, Source, SourceAgent, Bytes, WaitCount,
                      Waits, Signal, Which, Force);
        });
  }
};

} // namespace kprobe

#endif
