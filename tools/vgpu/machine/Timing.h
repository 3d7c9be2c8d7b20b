//===- Timing.h - The numbers of the timing model ---------------------------===//
//
// All modelled latencies and issue costs, in engine cycles, in one place. Where
// each number comes from stands in tools/vgpu/README.md, "Timing"; nothing here
// was measured on hardware by us.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_MACHINE_TIMING_H
#define VGPU_MACHINE_TIMING_H

#include "core/Inst.h"

#include <cstdint>

namespace vgpu {

/// Issue ports of a SIMD: each takes one instruction at a time.
enum class Port : uint8_t { None, Valu, Salu, Vmem, Lds, Count };

struct ClassCost {
  Port Unit;
  uint8_t Busy; ///< Cycles the port is taken.
  uint8_t Wave; ///< Cycles until the wave may issue again.
};

namespace timing {
constexpr unsigned TakenBranch = 16; ///< On top of a branch's 4.
constexpr unsigned ScalarHit = 50;   ///< SMEM, data in the scalar cache.
constexpr unsigned ScalarClock = 40; ///< s_memtime until the value is there.
constexpr unsigned ScalarMiss = 60;  ///< Scalar cache miss until L2 sees it.
constexpr unsigned LdsLatency = 64;
constexpr unsigned VectorHit = 116;     ///< VMEM, data in L1.
constexpr unsigned VectorMiss = 60;     ///< L1 miss until L2 sees it.
constexpr unsigned L2Hit = 150;         ///< L2 and back to the CU.
constexpr unsigned MemoryLatency = 300; ///< On top of L2Hit.
constexpr unsigned BarrierRelease = 12; ///< Last arrival until the waves go on.
constexpr unsigned WaveLaunch = 4;      ///< A shader engine starts one wave in so many.
constexpr unsigned GroupLaunch = 100;   ///< Free slot until the first instruction.
constexpr unsigned LineBytes = 64;
constexpr unsigned L2Channels = 16;        ///< Each serves one line a cycle.
constexpr unsigned MemoryLinesPer64 = 568; ///< 1024 GB/s at 1.8 GHz, in 64 cycles.
constexpr unsigned LdsBanks = 32;

/// How far the SIMDs of one CU, and the CUs among each other, may run apart.
/// Smaller is truer in contention, larger is faster to run.
constexpr unsigned SimdQuantum = 256;
constexpr unsigned WindowCycles = 2048;
} // namespace timing

/// By OpClass.
extern const ClassCost ClassCosts[unsigned(OpClass::Count)];
/// For tables of statistics: "valu", "salu", ….
extern const char *const ClassNames[unsigned(OpClass::Count)];

} // namespace vgpu
#endif
