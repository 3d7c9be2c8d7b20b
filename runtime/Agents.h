// The agents (devices) of the process and the memory that kprobe takes there.
#ifndef KPROBE_RUNTIME_AGENTS_H
#define KPROBE_RUNTIME_AGENTS_H

#include "Config.h"
#include "HsaApi.h"
#include "KnownAgents.h"
#include "RingPool.h"

#include "kprobe/wire.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace kprobe {

struct Agent {
  hsa_agent_t Handle = {};
  uint32_t Number = 0;
  std::string Target;
  std::string Name;
  uint32_t Flags = 0;
  uint32_t WaveSize = 64;
  uint32_t ComputeUnits = 0;
  uint32_t SimdsPerUnit = 0;
  uint32_t ShaderEngines = 0;
  uint64_t CycleHz = 0;
  uint64_t StatedTickHz = 0;
  uint64_t PciId = 0; // domain << 32 | bus << 8 | device << 3 | function

  // Ring memory; null until an instrumented kernel is loaded for this agent,
  // and for good when the agent had none to give. Written once under
  // Agents::Lock, then published: the release store of PoolReady pairs with
  // the acquire load in pool().
  RingPool *pool() const {
    return PoolReady.load(std::memory_order_acquire) ? Pool.get() : nullptr;
  }
  // Makes what the host wrote to the agent's own memory arrive there, so that
  // it cannot land on top of what a later kernel writes.
  void flushHostWrites() const;
  // With room for that many bytes of kernel arguments behind it; null when
  // there is none.
  KprobeDispatchContext *acquireContext(size_t ArgumentBytes);
  void releaseContext(KprobeDispatchContext *Context);

  // Only the drain thread touches these.
  bool Announced = false;
  bool ClockDue = false;
  uint64_t TickHz = 0;
  uint64_t KnownTick = 0;

private:
  friend class Agents;
  volatile uint32_t *HdpFlush = nullptr; // register; null: not needed
  std::unique_ptr<RingPool> Pool;
  std::atomic<bool> PoolReady{false};
  bool PoolTried = false;
  void *PoolMemory = nullptr;
  void *ContextMemory = nullptr;
  std::mutex ContextLock;
  // Small ones, and behind them in memory those for more arguments.
  std::vector<KprobeDispatchContext *> FreeContexts, FreeLargeContexts;
  KprobeDispatchContext *FirstLargeContext = nullptr;
};

class Agents {
public:
  Agents(const HsaApi &Api, const Config &Settings, KnownAgents &Known)
      : Api(Api), Settings(Settings), Known(Known) {}

  // The agent of that handle; asks the runtime for its agents again when the
  // handle is new. Null for a CPU.
  Agent *find(hsa_agent_t Handle);
  std::vector<Agent *> all();

  // Takes ring memory on first call. A problem to tell the user, or "".
  std::string providePool(Agent &Device);

  // Gives the memory back. Only when no dispatch can be running any more.
  void freePools();

private:
  void discover();
  hsa_amd_memory_pool_t devicePool(const Agent &Device);
  void *allocate(hsa_amd_memory_pool_t Pool, uint64_t Bytes,
                 const Agent &Device);

  const HsaApi &Api;
  const Config &Settings;
  KnownAgents &Known;
  std::mutex Lock;
  std::vector<std::unique_ptr<Agent>> Gpus;
  std::vector<hsa_agent_t> Cpus;
  hsa_amd_memory_pool_t HostPool = {};
};

} // namespace kprobe

#endif
