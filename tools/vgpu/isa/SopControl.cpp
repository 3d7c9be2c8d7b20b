// SOPK, SOPC and SOPP: immediates, compares, branches, messages, and the
// hardware registers behind s_getreg and s_setreg.
#include "ScalarOps.h"
#include "Tables.h"
#include "core/WaitCounter.h"

namespace vgpu {

namespace {

enum HwReg : uint32_t {
  HwMode = 1,
  HwStatus = 2,
  HwMemBases = 15,
  // gfx10:
  HwFlatScratchLow = 20,
  HwFlatScratchHigh = 21,
};

/// The registers that hold FLAT_SCRATCH where it is no SGPR; else null.
uint32_t *flatScratchRegister(Wave &W, uint32_t Id) {
  if (W.Gen == Generation::Gfx9 || (Id != HwFlatScratchLow && Id != HwFlatScratchHigh))
    return nullptr;
  return &W.Sgpr[W.FlatScratchReg + (Id - HwFlatScratchLow)];
}

uint32_t statusRegister(const Wave &W) {
  return uint32_t(W.Scc) | uint32_t(W.exec() == 0) << 9 | uint32_t(W.vcc() == 0) << 10 |
         1u << 16; // VALID
}

bool readRegister(Wave &W, uint32_t Id, uint32_t &Value) {
  if (const uint32_t *Scratch = flatScratchRegister(W, Id)) {
    Value = *Scratch;
    return true;
  }
  switch (Id) {
  case HwMode:
    Value = W.Mode;
    return true;
  case HwStatus:
    Value = statusRegister(W);
    return true;
  case HwMemBases: // private base in the low half, shared base in the high one
    Value = uint32_t(W.Env->PrivateBase >> 48) | uint32_t(W.Env->SharedBase >> 48) << 16;
    return true;
  default:
    return W.Env->readHwReg(W, Id, Value);
  }
}

/// The immediate: id in [5:0], first bit in [10:6], width - 1 in [15:11].
struct RegisterField {
  uint32_t Id, Shift, Mask;
  explicit RegisterField(const Inst &I)
      : Id(uint32_t(I.Imm) & 63), Shift((uint32_t(I.Imm) >> 6) & 31),
        Mask(0xffffffffu >> (31 - ((uint32_t(I.Imm) >> 11) & 31))) {}
};

void raiseNoRegister(Wave &W, const Inst &I, uint32_t Id) {
  W.Env->fault(W, I, FaultKind::IllegalOperand, "no hardware register " + std::to_string(Id),
               MaxLanes, 0);
}

void getRegister(Wave &W, const Inst &I) {
  const RegisterField F(I);
  uint32_t Value = 0;
  if (!readRegister(W, F.Id, Value))
    raiseNoRegister(W, I, F.Id);
  else
    W.Sgpr[I.Dst.Reg] = (Value >> F.Shift) & F.Mask;
}

void setRegister(Wave &W, const Inst &I, uint32_t Value) {
  const RegisterField F(I);
  uint32_t Old = 0;
  if (!readRegister(W, F.Id, Old)) {
    raiseNoRegister(W, I, F.Id);
    return;
  }
  const uint32_t New = (Old & ~(F.Mask << F.Shift)) | (Value & F.Mask) << F.Shift;
  if (F.Id == HwMode)
    W.Mode = W.Gen == Generation::Gfx9 ? New : New & ~uint32_t(ModeGprIdxEn);
  else if (uint32_t *Scratch = flatScratchRegister(W, F.Id))
    *Scratch = New;
  else if (F.Id == HwStatus)
    W.Scc = New & 1; // the rest follows from the wave's state
  else if (!W.Env->writeHwReg(W, F.Id, New))
    raiseNoRegister(W, I, F.Id);
}

void branch(Wave &W, const Inst &I, bool Taken) {
  if (Taken)
    W.Pc += uint64_t(int64_t(I.Imm) * 4);
}

// SOPK compares take the destination field as a source.
#define CMPK(Name, T, Operator)                                                                    \
  {"s_cmpk_" Name, [](Wave &W, const Inst &I) {                                                    \
     W.Scc = T(W.Sgpr[I.Dst.Reg]) Operator T(std::is_signed_v<T>                                   \
                                                 ? uint32_t(I.Imm)                                 \
                                                 : uint32_t(I.Imm) & 0xffff);                      \
   },                                                                                              \
   OpClass::Salu, OpDataInDst, Ty::B32, {}, 0}
#define SOPK(Name, Class, Flags, D, ...)                                                           \
  {Name, [](Wave &W, const Inst &I) __VA_ARGS__, OpClass::Class, Flags, D, {}, 0}
/// gfx10: waits for one counter to fall to the immediate plus a register.
#define SOPK_WAIT(Name, Counter)                                                                   \
  {Name,                                                                                           \
   [](Wave &W, const Inst &I) {                                                                    \
     constexpr uint32_t Null = 125;                                                                \
     const uint32_t Reg = I.Raw[0] >> 16 & 127;                                                    \
     W.Env->waitCounters(W, I, uint32_t(I.Imm) + (Reg == Null ? 0 : W.Sgpr[Reg]));                 \
   },                                                                                              \
   OpClass::Wait, OpEndsRun, Ty::None, {}, uint16_t(Counter)}

const OpEntry KOps[] = {
    SOPK("s_movk_i32", Salu, 0, Ty::B32, { W.Sgpr[I.Dst.Reg] = uint32_t(I.Imm); }),
    SOPK("s_cmovk_i32", Salu, 0, Ty::B32, {
      if (W.Scc)
        W.Sgpr[I.Dst.Reg] = uint32_t(I.Imm);
    }),
    CMPK("eq_i32", int32_t, ==), CMPK("lg_i32", int32_t, !=), CMPK("gt_i32", int32_t, >),
    CMPK("ge_i32", int32_t, >=), CMPK("lt_i32", int32_t, <), CMPK("le_i32", int32_t, <=),
    CMPK("eq_u32", uint32_t, ==), CMPK("lg_u32", uint32_t, !=), CMPK("gt_u32", uint32_t, >),
    CMPK("ge_u32", uint32_t, >=), CMPK("lt_u32", uint32_t, <), CMPK("le_u32", uint32_t, <=),
    SOPK("s_addk_i32", Salu, 0, Ty::B32, {
      int32_t R;
      W.Scc = __builtin_add_overflow(int32_t(W.Sgpr[I.Dst.Reg]), I.Imm, &R);
      W.Sgpr[I.Dst.Reg] = uint32_t(R);
    }),
    SOPK("s_mulk_i32", Salu, 0, Ty::B32, { W.Sgpr[I.Dst.Reg] *= uint32_t(I.Imm); }),
    SOPK("s_getreg_b32", Salu, OpEndsRun, Ty::B32, { getRegister(W, I); }),
    SOPK("s_setreg_b32", Salu, OpEndsRun | OpDataInDst, Ty::B32, { setRegister(W, I, W.Sgpr[I.Dst.Reg]); }),
    SOPK("s_setreg_imm32_b32", Salu, OpEndsRun, Ty::None,
         { setRegister(W, I, uint32_t(I.Src[0].Value)); }),
    SOPK_WAIT("s_waitcnt_vmcnt", WaitCounter::Vm),
    SOPK_WAIT("s_waitcnt_vscnt", WaitCounter::Stores),
    SOPK_WAIT("s_waitcnt_expcnt", WaitCounter::Export),
    SOPK_WAIT("s_waitcnt_lgkmcnt", WaitCounter::Lgkm),
    SOPK("s_call_b64", Branch, OpBranch, Ty::B64, {
      setScalar<S64>(W, I.Dst, W.Pc);
      branch(W, I, true);
    }),
};

#define SOPC(Name, T, A, B, Expression)                                                            \
  {Name,                                                                                           \
   [](Wave &W, const Inst &I) {                                                                    \
     const auto S0 = T(scalarSource<A>(W, I.Src[0]));                                              \
     const auto S1 = scalarSource<B>(W, I.Src[1]);                                                 \
     W.Scc = Expression;                                                                           \
   },                                                                                              \
   OpClass::Salu, 0, Ty::None, {scalarTy<A>, scalarTy<B>, Ty::None}, 0}

const OpEntry COps[] = {
    SOPC("s_cmp_eq_i32", int32_t, S32, S32, S0 == int32_t(S1)),
    SOPC("s_cmp_lg_i32", int32_t, S32, S32, S0 != int32_t(S1)),
    SOPC("s_cmp_gt_i32", int32_t, S32, S32, S0 > int32_t(S1)),
    SOPC("s_cmp_ge_i32", int32_t, S32, S32, S0 >= int32_t(S1)),
    SOPC("s_cmp_lt_i32", int32_t, S32, S32, S0 < int32_t(S1)),
    SOPC("s_cmp_le_i32", int32_t, S32, S32, S0 <= int32_t(S1)),
    SOPC("s_cmp_eq_u32", uint32_t, S32, S32, S0 == S1),
    SOPC("s_cmp_lg_u32", uint32_t, S32, S32, S0 != S1),
    SOPC("s_cmp_gt_u32", uint32_t, S32, S32, S0 > S1),
    SOPC("s_cmp_ge_u32", uint32_t, S32, S32, S0 >= S1),
    SOPC("s_cmp_lt_u32", uint32_t, S32, S32, S0 < S1),
    SOPC("s_cmp_le_u32", uint32_t, S32, S32, S0 <= S1),
    SOPC("s_cmp_eq_u64", uint64_t, S64, S64, S0 == S1),
    SOPC("s_cmp_lg_u64", uint64_t, S64, S64, S0 != S1),
    SOPC("s_bitcmp0_b32", uint32_t, S32, S32, !((S0 >> (S1 & 31)) & 1)),
    SOPC("s_bitcmp1_b32", uint32_t, S32, S32, (S0 >> (S1 & 31)) & 1),
    SOPC("s_bitcmp0_b64", uint64_t, S64, S32, !((S0 >> (S1 & 63)) & 1)),
    SOPC("s_bitcmp1_b64", uint64_t, S64, S32, (S0 >> (S1 & 63)) & 1),
    // The second source field is four enable bits, not an operand.
    {"s_set_gpr_idx_on",
     [](Wave &W, const Inst &I) {
       W.Mode |= ModeGprIdxEn;
       W.Sgpr[RegM0] = (W.m0() & ~0xf0ffu) | (scalarSource<S32>(W, I.Src[0]) & 0xff) |
                       ((I.Raw[0] >> 8) & 15) << 12;
     },
     OpClass::Salu, 0, Ty::None, {Ty::B32, Ty::None, Ty::None}, 0},
};

#define SOPP(Name, Class, Flags, ...)                                                              \
  {Name,                                                                                           \
   [](Wave &W, const Inst &I) {                                                                    \
     (void)W, (void)I;                                                                             \
     __VA_ARGS__                                                                                   \
   },                                                                                              \
   OpClass::Class, Flags, Ty::None, {}, 0}

const OpEntry POps[] = {
    SOPP("s_nop", Nop, 0, ),
    SOPP("s_endpgm", End, OpEndsRun, W.Env->endProgram(W);),
    SOPP("s_endpgm_saved", End, OpEndsRun, W.Env->endProgram(W);),
    SOPP("s_branch", Branch, OpBranch, branch(W, I, true);),
    SOPP("s_cbranch_scc0", Branch, OpBranch, branch(W, I, !W.Scc);),
    SOPP("s_cbranch_scc1", Branch, OpBranch, branch(W, I, W.Scc);),
    SOPP("s_cbranch_vccz", Branch, OpBranch, branch(W, I, W.vcc() == 0);),
    SOPP("s_cbranch_vccnz", Branch, OpBranch, branch(W, I, W.vcc() != 0);),
    SOPP("s_cbranch_execz", Branch, OpBranch, branch(W, I, W.exec() == 0);),
    SOPP("s_cbranch_execnz", Branch, OpBranch, branch(W, I, W.exec() != 0);),
    // No debugger is attached: these conditions are false.
    SOPP("s_cbranch_cdbgsys", Branch, OpBranch, ),
    SOPP("s_cbranch_cdbguser", Branch, OpBranch, ),
    SOPP("s_cbranch_cdbgsys_or_user", Branch, OpBranch, ),
    SOPP("s_cbranch_cdbgsys_and_user", Branch, OpBranch, ),
    SOPP("s_barrier", Barrier, OpEndsRun, W.Env->barrier(W);),
    SOPP("s_waitcnt", Wait, OpEndsRun, W.Env->waitCounters(W, I, uint32_t(I.Imm) & 0xffff);),
    SOPP("s_sleep", Nop, OpEndsRun, W.Env->sleep(W, uint32_t(I.Imm) & 127);),
    SOPP("s_wakeup", Nop, 0, ),
    SOPP("s_setprio", Message, 0, W.Env->setPriority(W, uint32_t(I.Imm) & 3);),
    SOPP("s_sendmsg", Message, OpEndsRun,
         W.Env->sendMessage(W, I, uint32_t(I.Imm) & 0xffff, W.m0());),
    SOPP("s_trap", Message, OpEndsRun, W.Env->trap(W, I, uint32_t(I.Imm) & 0xff);),
    SOPP("s_icache_inv", Nop, OpEndsRun, W.Env->invalidateCode(W);),
    SOPP("s_incperflevel", Nop, 0, ),
    SOPP("s_decperflevel", Nop, 0, ),
    SOPP("s_ttracedata", Nop, 0, ),
    SOPP("s_set_gpr_idx_off", Salu, 0, W.Mode &= ~uint32_t(ModeGprIdxEn);),
    SOPP("s_set_gpr_idx_mode", Salu, 0,
         W.Sgpr[RegM0] = (W.m0() & ~0xf000u) | (uint32_t(I.Imm) & 15) << 12;),
};

} // namespace

const OpTable SopkOps = {KOps, sizeof KOps / sizeof *KOps};
const OpTable SopcOps = {COps, sizeof COps / sizeof *COps};
const OpTable SoppOps = {POps, sizeof POps / sizeof *POps};

} // namespace vgpu
