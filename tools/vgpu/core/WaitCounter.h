// Which counters a wait instruction is about: OpEntry::Arg of its entry, so that
// ExecEnv::waitCounters need not look at names.
#ifndef VGPU_CORE_WAITCOUNTER_H
#define VGPU_CORE_WAITCOUNTER_H

#include <cstdint>

namespace vgpu {

enum class WaitCounter : uint16_t {
  All, // s_waitcnt: several, encoded by target
  // gfx10: one each, the immediate is the count.
  Vm,
  Stores,
  Export,
  Lgkm,
};

} // namespace vgpu

#endif
