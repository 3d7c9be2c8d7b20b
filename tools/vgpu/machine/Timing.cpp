//===- Timing.cpp - The rows of the timing model ----------------------------===//
//
// Sources: tools/vgpu/README.md, "Timing".
//
//===----------------------------------------------------------------------===//
#include "machine/Timing.h"

#include <array>
#include <cassert>
#include <cstring>

namespace vgpu {
namespace {

using CostTable = std::array<ClassCost, unsigned(OpClass::Count)>;

/// Cycles that a class keeps its port, and the wave.
struct Issue {
  uint8_t Busy, Wave;
};

/// The costs that differ between targets and wave sizes, by rate.
struct Rates {
  Issue Scalar, Other; ///< Other: branches, waits, messages; no port.
  Issue Full, Half, Quarter, F64, TransF64;
  Issue ScalarMemory, VectorMemory, Lds, LdsAtomic;
};

constexpr CostTable tableOf(const Rates &R) {
  CostTable T = {};
  for (unsigned I = 0; I < T.size(); ++I) {
    Port Unit = Port::None;
    Issue Cost = R.Other;
    switch (OpClass(I)) {
    case OpClass::Salu:
      Unit = Port::Salu;
      Cost = R.Scalar;
      break;
    case OpClass::Valu:
      Unit = Port::Valu;
      Cost = R.Full;
      break;
    case OpClass::ValuHalf:
      Unit = Port::Valu;
      Cost = R.Half;
      break;
    case OpClass::ValuQuarter:
      Unit = Port::Valu;
      Cost = R.Quarter;
      break;
    case OpClass::ValuF64:
      Unit = Port::Valu;
      Cost = R.F64;
      break;
    case OpClass::ValuTransF64:
      Unit = Port::Valu;
      Cost = R.TransF64;
      break;
    case OpClass::Matrix:
      Unit = Port::Valu; // And matrixCycles().
      break;
    case OpClass::SmemLoad:
    case OpClass::SmemStore:
    case OpClass::SmemTime:
    case OpClass::SmemOther:
      Unit = Port::Salu;
      Cost = R.ScalarMemory;
      break;
    case OpClass::FlatLoad:
    case OpClass::FlatStore:
    case OpClass::FlatAtomic:
    case OpClass::VmemLoad:
    case OpClass::VmemStore:
    case OpClass::VmemAtomic:
    case OpClass::VmemOther:
      Unit = Port::Vmem;
      Cost = R.VectorMemory;
      break;
    case OpClass::LdsLoad:
    case OpClass::LdsStore:
    case OpClass::LdsOther:
      Unit = Port::Lds;
      Cost = R.Lds;
      break;
    case OpClass::LdsAtomic:
      Unit = Port::Lds;
      Cost = R.LdsAtomic;
      break;
    default:
      break;
    }
    T[I] = {Unit, Cost.Busy, Cost.Wave};
  }
  return T;
}

/// GCN: 64 lanes on 16 ALUs, four cycles for everything that is not slower.
constexpr Rates Gcn = {/*Scalar*/ {4, 4},       /*Other*/ {0, 4},        /*Full*/ {4, 4},
                       /*Half*/ {8, 8},         /*Quarter*/ {16, 16},    /*F64*/ {8, 8},
                       /*TransF64*/ {16, 16},   /*ScalarMemory*/ {4, 4}, /*VectorMemory*/ {4, 4},
                       /*Lds*/ {4, 4},          /*LdsAtomic*/ {4, 8}};

/// CDNA 2: f64 at the rate of f32.
constexpr Rates withFullF64(Rates R) {
  R.F64 = R.Full;
  return R;
}

/// RDNA 2: a wave32 on 32 ALUs. A result can be used five cycles later; every
/// vector instruction is taken to use that of the one before.
constexpr Rates Rdna32 = {/*Scalar*/ {1, 2},       /*Other*/ {0, 1},      /*Full*/ {1, 5},
                          /*Half*/ {2, 6},         /*Quarter*/ {4, 8},    /*F64*/ {16, 20},
                          /*TransF64*/ {32, 36},   /*ScalarMemory*/ {1, 1}, /*VectorMemory*/ {1, 1},
                          /*Lds*/ {1, 1},          /*LdsAtomic*/ {1, 1}};
/// A wave64 goes through in two passes.
constexpr Rates Rdna64 = {/*Scalar*/ {1, 2},       /*Other*/ {0, 1},      /*Full*/ {2, 6},
                          /*Half*/ {4, 8},         /*Quarter*/ {8, 12},   /*F64*/ {32, 36},
                          /*TransF64*/ {64, 68},   /*ScalarMemory*/ {1, 1}, /*VectorMemory*/ {2, 2},
                          /*Lds*/ {2, 2},          /*LdsAtomic*/ {2, 2}};

constexpr CostTable GcnCosts = tableOf(Gcn), Cdna2Costs = tableOf(withFullF64(Gcn)),
                    Rdna32Costs = tableOf(Rdna32), Rdna64Costs = tableOf(Rdna64);

/// What all gfx9 targets share; the rest follows from their data sheets.
TimingModel gcn(const CostTable &Costs, unsigned MemoryLinesPer64) {
  TimingModel M = {};
  M.Costs[0] = Costs.data();
  M.TakenBranch = 16;
  M.ScalarHit = 50;
  M.ScalarClock = 40;
  M.ScalarMiss = 60;
  M.LdsLatency = 64;
  M.VectorHit = 116;
  M.VectorMiss = 60;
  M.L2Hit = 150;
  M.MemoryLatency = 300;
  M.BarrierRelease = 12;
  M.WaveLaunch = 4;
  M.GroupLaunch = 100;
  M.L2LinesPer64 = 64;
  M.MemoryLinesPer64 = MemoryLinesPer64;
  return M;
}

TimingModel rdna2() {
  TimingModel M = gcn(Rdna64Costs, 113);
  M.Costs[1] = Rdna32Costs.data();
  M.VectorHit = 90;
  M.VectorMiss = 40;
  M.ArrayHit = 100;
  M.ArrayMiss = 40;
  M.L2Hit = 130;
  M.LastCacheHit = 110;
  M.L2LinesPer64 = 32;
  M.LastLinesPer64 = 441;
  return M;
}

} // namespace

unsigned matrixCycles(const char *Mnemonic) {
  constexpr unsigned Pass = 4;
  const bool F64 = std::strstr(Mnemonic, "f64");
  if (std::strstr(Mnemonic, "_32x32"))
    return 16 * Pass;
  if (std::strstr(Mnemonic, "_16x16"))
    return 8 * Pass;
  return (F64 ? 4 : 2) * Pass;
}

const TimingModel &timingModel(const DeviceConfig &Config) {
  static const struct {
    const char *Target;
    TimingModel Model;
  } Rows[] = {
      {"gfx900", gcn(GcnCosts, 322)},   {"gfx906", gcn(GcnCosts, 568)},
      {"gfx908", gcn(GcnCosts, 409)},   {"gfx90a", gcn(Cdna2Costs, 482)},
      {"gfx1030", rdna2()},
  };
  for (const auto &Row : Rows)
    if (Config.Target == Row.Target)
      return Row.Model;
  assert(false && "a target without timing");
  return Rows[0].Model;
}

const char *const ClassNames[unsigned(OpClass::Count)] = {
    "unknown",        "salu",       "branch",      "message",    "wait",         "nop",
    "barrier",        "end",        "valu",        "valu-half",  "valu-quarter", "valu-f64",
    "valu-trans-f64", "matrix",     "smem-load",   "smem-store", "smem-time",    "smem-other",
    "flat-load",      "flat-store", "flat-atomic", "vmem-load",  "vmem-store",   "vmem-atomic",
    "vmem-other",     "lds-load",   "lds-store",   "lds-atomic", "lds-other"};

} // namespace vgpu
