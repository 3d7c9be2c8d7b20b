//===- Timing.h - The numbers of the timing model ---------------------------===//
//
// All modelled latencies and issue costs, in engine cycles, in one place: a row
// a target. Where each number comes from stands in tools/vgpu/README.md,
// "Timing"; nothing here was measured on hardware by us.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_MACHINE_TIMING_H
#define VGPU_MACHINE_TIMING_H

#include "core/Inst.h"
#include "machine/DeviceConfig.h"

#include <cstdint>

namespace vgpu {

/// Issue ports of a SIMD: each takes one instruction at a time.
enum class Port : uint8_t { None, Valu, Salu, Vmem, Lds, Count };

struct ClassCost {
  Port Unit;
  uint8_t Busy; ///< Cycles the port is taken.
  uint8_t Wave; ///< Cycles until the wave may issue again.
};

/// One target's numbers.
struct TimingModel {
  /// By OpClass, for a wave64 and for a wave32.
  const ClassCost *Costs[2];
  unsigned TakenBranch;    ///< On top of a branch's own cost.
  unsigned ScalarHit;      ///< SMEM, data in the scalar cache.
  unsigned ScalarClock;    ///< s_memtime until the value is there.
  unsigned ScalarMiss;     ///< Scalar cache miss until the next level sees it.
  unsigned LdsLatency;
  unsigned VectorHit;      ///< VMEM, data in the CU's vector cache.
  unsigned VectorMiss;     ///< A miss there until the next level sees it.
  unsigned ArrayHit;       ///< Shader array's cache and back; 0: there is none.
  unsigned ArrayMiss;      ///< A miss there until L2 sees it.
  unsigned L2Hit;          ///< L2 and back to the CU.
  unsigned LastCacheHit;   ///< On top of L2Hit.
  unsigned MemoryLatency;  ///< On top of L2Hit, LastCacheHit included.
  unsigned BarrierRelease; ///< Last arrival until the waves go on.
  unsigned WaveLaunch;     ///< A shader engine starts one wave in so many.
  unsigned GroupLaunch;    ///< Free slot until the first instruction.
  unsigned L2LinesPer64;   ///< Lines a channel serves in 64 cycles.
  unsigned LastLinesPer64; ///< Lines of L2 that the last-level cache serves.
  unsigned MemoryLinesPer64;
};

/// Cycles that a matrix instruction takes, by the shape in its mnemonic.
unsigned matrixCycles(const char *Mnemonic);

/// \p Config must be one that DeviceConfig::forTarget has filled.
const TimingModel &timingModel(const DeviceConfig &Config);

namespace timing {
/// Last arrival at a barrier across workgroups until the waves go on.
constexpr unsigned GlobalSync = 200;
constexpr unsigned LdsBanks = 32;

/// How far the SIMDs of one CU, and the CUs among each other, may run apart.
/// Smaller is truer in contention, larger is faster to run.
constexpr unsigned SimdQuantum = 256;
constexpr unsigned WindowCycles = 2048;
} // namespace timing

/// For tables of statistics: "valu", "salu", ….
extern const char *const ClassNames[unsigned(OpClass::Count)];

} // namespace vgpu
#endif
