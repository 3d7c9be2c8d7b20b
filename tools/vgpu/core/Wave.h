// The architectural state of one wave: what an instruction may read or write
// without leaving the wave. Everything beyond it (memory, clocks, barriers,
// faults) goes through Wave::Env. The machine derives its own wave from this
// one to add scheduling and timing state; handlers only see this part.
#ifndef VGPU_CORE_WAVE_H
#define VGPU_CORE_WAVE_H

#include "TargetTraits.h"

#include <cstdint>
#include <cstring>

namespace vgpu {

class ExecEnv;
struct Workgroup; // the machine's; opaque here

constexpr unsigned MaxLanes = 64;

/// Accumulation registers (AccVGPRs) follow the 256 architectural numbers: a
/// decoded operand a5 is register FirstAcc + 5, wherever a kernel's
/// ACCUM_OFFSET puts it in the hardware's file.
constexpr unsigned FirstAcc = 256;

/// One vector register: a 32-bit value a lane. wave32 uses the first half.
struct alignas(64) Vreg {
  uint32_t Lane[MaxLanes];
};

/// Places in Wave::Sgpr: the hardware's scalar operand encoding, and behind it
/// what no operand names.
enum ScalarReg : unsigned {
  RegFlatScratch = 102, // 102 low, 103 high; on gfx10 these are plain registers
  RegXnackMask = 104,   // gfx9
  RegVcc = 106,
  RegTtmp0 = 108,
  RegM0 = 124,
  RegNull = 125,        // gfx10; the decoder turns it into 0 or RegSink
  RegExec = 126,
  RegHiddenFlatScratch = 128, // 128 low, 129 high; gfx10: behind s_getreg and s_setreg
  RegSink = 130,        // to RegSink + 15: where results for NULL go
  RegZero = 146,        // never written: NULL where an operand must be a register
  ScalarSlots = 147,
};

/// Bits of the MODE register (hwreg 1), the same on gfx9 and gfx10.
enum ModeBits : uint32_t {
  ModeRound32Shift = 0, // 2 bits: nearest even, +inf, -inf, zero
  ModeRound64Shift = 2, // 2 bits, for f64 and f16
  ModeDenorm32Shift = 4, // bit 0 keeps denormal inputs, bit 1 denormal results
  ModeDenorm64Shift = 6, // for f64 and f16
  ModeDx10Clamp = 1u << 8, // clamp turns NaN into 0
  ModeIeee = 1u << 9,      // min, max and others quiet a signalling NaN
  ModeGprIdxEn = 1u << 27, // s_set_gpr_idx_on is in force (gfx9)
};

enum class WaveStatus : uint8_t {
  Running,
  AtBarrier,
  Sleeping,
  Ended,
  Faulted,
};

struct Wave {
  uint32_t Sgpr[ScalarSlots] = {};
  Vreg *Vgpr = nullptr;     // NumVgprs registers, and NumAccs from FirstAcc on
  unsigned NumVgprs = 0;    // a decoded instruction's VgprEnd must not exceed it
  unsigned NumAccs = 0;     // nor its AccEnd this
  unsigned WaveSize = 64;   // 32 or 64
  Generation Gen = Generation::Gfx9;
  unsigned FlatScratchReg = RegFlatScratch; // see setTarget
  uint64_t Pc = 0;          // while a handler runs: address of the *next* instruction
  uint32_t Mode = 0;
  bool Scc = false;
  WaveStatus Status = WaveStatus::Running;
  uint64_t Cycle = 0;       // modelled time of this wave
  ExecEnv *Env = nullptr;
  Workgroup *Group = nullptr;

  /// To be called before the first instruction.
  void setTarget(const TargetTraits &T, unsigned Lanes) {
    WaveSize = Lanes;
    Gen = T.Gen;
    FlatScratchReg = T.hasFlatScratchSgprs() ? RegFlatScratch : RegHiddenFlatScratch;
  }

  /// Base of the wave's scratch memory, as FLAT_SCRATCH holds it.
  uint64_t flatScratch() const { return scalar64(FlatScratchReg); }

  /// Length of the array that Vgpr points to. The part between the two kinds
  /// is never touched: left uninitialised, it mostly costs addresses but no memory.
  static unsigned registerSlots(unsigned Vgprs, unsigned Accs) {
    return Accs ? FirstAcc + Accs : Vgprs;
  }

  /// Mask of the lanes that exist, whether active or not.
  uint64_t laneMask() const {
    return WaveSize == 64 ? ~uint64_t(0) : (uint64_t(1) << WaveSize) - 1;
  }

  /// Aligned or not, little endian, as the hardware pairs registers.
  uint64_t scalar64(unsigned Reg) const {
    return uint64_t(Sgpr[Reg]) | uint64_t(Sgpr[Reg + 1]) << 32;
  }
  void setScalar64(unsigned Reg, uint64_t Value) {
    Sgpr[Reg] = uint32_t(Value);
    Sgpr[Reg + 1] = uint32_t(Value >> 32);
  }

  /// A lane mask held in scalar registers: one register on wave32, else two.
  uint64_t scalarMask(unsigned Reg) const {
    return WaveSize == 64 ? scalar64(Reg) : Sgpr[Reg];
  }
  void setScalarMask(unsigned Reg, uint64_t Value) {
    Sgpr[Reg] = uint32_t(Value);
    if (WaveSize == 64)
      Sgpr[Reg + 1] = uint32_t(Value >> 32);
  }

  uint64_t exec() const { return scalarMask(RegExec); }
  void setExec(uint64_t Value) { setScalarMask(RegExec, Value); }
  uint64_t vcc() const { return scalarMask(RegVcc); }
  void setVcc(uint64_t Value) { setScalarMask(RegVcc, Value); }
  uint32_t m0() const { return Sgpr[RegM0]; }
};

} // namespace vgpu

#endif
