// Scalar instructions that gfx10 has beyond gfx9: loops over the halves of a
// wave64, moves between two relative registers, modes as immediates, and the
// hints to caches and schedulers, which change no result.
#include "ScalarOps.h"
#include "Tables.h"

namespace vgpu {

namespace {

void jump(Wave &W, const Inst &I) { W.Pc += uint64_t(int64_t(I.Imm) * 4); }

/// Runs the body first for the low half of a wave64, then for the high one; a
/// half without active lanes is skipped. D keeps the other half's mask.
void loopBegin(Wave &W, const Inst &I) {
  uint32_t &Low = W.Sgpr[RegExec], &High = W.Sgpr[RegExec + 1];
  if (W.exec() == 0) {
    jump(W, I);
  } else if (W.WaveSize == 32 || Low == 0) {
    W.Sgpr[I.Dst.Reg] = W.WaveSize == 32 ? 0 : Low;
  } else {
    W.Sgpr[I.Dst.Reg] = High;
    High = 0;
  }
}

void loopEnd(Wave &W, const Inst &I) {
  uint32_t &Low = W.Sgpr[RegExec], &High = W.Sgpr[RegExec + 1], &Kept = W.Sgpr[I.Dst.Reg];
  if (W.WaveSize == 32)
    return;
  if (High != 0) { // the high half is done
    Low = Kept;
  } else if (Kept != 0) { // it is still to come
    High = Kept;
    Kept = Low;
    Low = 0;
    jump(W, I);
  }
}

/// M0: [9:0] is added to the source's number, [25:16] to the destination's.
void moveBothRelative(Wave &W, const Inst &I) {
  const uint32_t From = I.Src[0].Reg + (W.m0() & 0x3ff), To = I.Dst.Reg + (W.m0() >> 16 & 0x3ff);
  if (!I.Src[0].isSgpr() || From >= endOfSgprs(W) || To >= endOfSgprs(W))
    W.Env->fault(W, I, FaultKind::IllegalOperand, "relative scalar register out of range",
                 MaxLanes, 0);
  else
    W.Sgpr[To] = W.Sgpr[From];
}

/// Four bits of MODE, from Shift on.
template <unsigned Shift> void setMode(Wave &W, const Inst &I) {
  W.Mode = (W.Mode & ~(15u << Shift)) | (uint32_t(I.Imm) & 15) << Shift;
}

void nothing(Wave &, const Inst &) {}

const OpEntry Ops[] = {
    {"s_subvector_loop_begin", loopBegin, OpClass::Branch, OpBranch, Ty::B32, {}, 0},
    {"s_subvector_loop_end", loopEnd, OpClass::Branch, OpBranch, Ty::B32, {}, 0},
    {"s_movrelsd_2_b32", moveBothRelative, OpClass::Salu, 0, Ty::B32,
     {Ty::B32, Ty::None, Ty::None}, 0},
    {"s_round_mode", setMode<ModeRound32Shift>, OpClass::Salu, 0, Ty::None, {}, 0},
    {"s_denorm_mode", setMode<ModeDenorm32Shift>, OpClass::Salu, 0, Ty::None, {}, 0},
    {"s_version", nothing, OpClass::Nop, 0, Ty::None, {}, 0},
    {"s_clause", nothing, OpClass::Nop, 0, Ty::None, {}, 0},
    {"s_inst_prefetch", nothing, OpClass::Nop, 0, Ty::None, {}, 0},
    // Nothing in this model is written late, so there is no dependency to wait for.
    {"s_waitcnt_depctr", nothing, OpClass::Nop, 0, Ty::None, {}, 0},
    {"s_wait_idle", nothing, OpClass::Nop, 0, Ty::None, {}, 0},
    {"s_ttracedata_imm", nothing, OpClass::Nop, 0, Ty::None, {}, 0},
};

} // namespace

const OpTable SopGfx10Ops = {Ops, sizeof Ops / sizeof *Ops};

} // namespace vgpu
