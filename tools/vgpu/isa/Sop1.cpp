// SOP1: scalar instructions with one source, among them the jumps through
// registers and the EXEC family.
#include "ScalarOps.h"
#include "Tables.h"

namespace vgpu {

namespace {

template <class T> T withScc(Wave &W, T Result) {
  W.Scc = Result != 0;
  return Result;
}

template <class T> T reverse(T Value) {
  T R = 0;
  for (unsigned N = 0; N < sizeof(T) * 8; ++N)
    R |= ((Value >> N) & 1) << (sizeof(T) * 8 - 1 - N);
  return R;
}

/// Every quad with a bit set becomes all ones.
template <class T> T wholeQuads(T Value) {
  T Any = Value | Value >> 1;
  Any = (Any | Any >> 2) & T(0x1111111111111111);
  return Any * 15;
}

/// One bit a quad: whether any of its bits is set.
template <class T> T quadMask(T Value) {
  T R = 0;
  for (unsigned N = 0; N < sizeof(T) * 2; ++N)
    R |= T((Value >> (4 * N)) & 15 ? 1 : 0) << N;
  return R;
}

uint32_t countOnes(uint64_t Value) { return uint32_t(__builtin_popcountll(Value)); }

uint32_t firstOne(uint64_t Value) { return Value ? uint32_t(__builtin_ctzll(Value)) : ~0u; }

/// Distance of the highest set bit from the top of a Bits-wide value.
uint32_t leadingZeros(uint64_t Value, unsigned Bits) {
  return Value ? uint32_t(__builtin_clzll(Value)) - (64 - Bits) : ~0u;
}

/// First bit from the top that differs from the sign.
uint32_t leadingSigns(int64_t Value, unsigned Bits) {
  const uint64_t Mask = Bits == 64 ? ~uint64_t(0) : 0xffffffff;
  return leadingZeros(uint64_t(Value < 0 ? ~Value : Value) & Mask, Bits);
}

uint64_t replicateBits(uint32_t Value) {
  uint64_t R = 0;
  for (unsigned N = 0; N < 32; ++N)
    R |= ((Value >> N) & 1) * (uint64_t(3) << (2 * N));
  return R;
}

template <class T> T withBit(T Old, uint32_t Bit, bool On) {
  const T Mask = T(1) << (Bit & (sizeof(T) * 8 - 1));
  return On ? Old | Mask : Old & ~Mask;
}

template <class T> void bitSet(Wave &W, const Inst &I, bool On) {
  const T Old = scalarSource<T>(W, I.Dst);
  setScalar<T>(W, I.Dst, withBit<T>(Old, scalarSource<S32>(W, I.Src[0]), On));
}

template <class T> void moveRelative(Wave &W, const Inst &I, bool DstMoves) {
  const Operand &Moved = DstMoves ? I.Dst : I.Src[0];
  const uint64_t Reg = uint64_t(Moved.Reg) + W.m0();
  if (!Moved.isSgpr() || Reg + sizeof(T) / 4 > endOfSgprs(W)) {
    W.Env->fault(W, I, FaultKind::IllegalOperand, "relative scalar register out of range",
                 MaxLanes, 0);
    return;
  }
  Operand O = Moved;
  O.Reg = uint16_t(Reg);
  setScalar<T>(W, DstMoves ? O : I.Dst, scalarSource<T>(W, DstMoves ? I.Src[0] : O));
}

#define LOGIC1(Name, Expression)                                                                   \
  VGPU_SOP1(Name "_b32", S32, S32, { return withScc<S32>(W, Expression); }),                       \
      VGPU_SOP1(Name "_b64", S64, S64, { return withScc<S64>(W, Expression); })

#define PURE(Name, D, A, Expression)                                                               \
  VGPU_SOP1(Name, D, A, {                                                                          \
    (void)W;                                                                                       \
    return D(Expression);                                                                          \
  })

template <class T> constexpr const char *pick(const char *B32, const char *B64) {
  return sizeof(T) == 4 ? B32 : B64;
}
template <class T> T readExec(const Wave &W) {
  return sizeof(T) == 4 ? T(W.Sgpr[RegExec]) : T(W.scalar64(RegExec));
}
template <class T> void writeExec(Wave &W, T Value) {
  W.Sgpr[RegExec] = uint32_t(Value);
  if (sizeof(T) == 8)
    W.Sgpr[RegExec + 1] = uint32_t(uint64_t(Value) >> 32);
}

// D = EXEC, EXEC = Expression over S0 and the old EXEC, SCC = EXEC != 0.
#define SAVEEXEC_ROW(Name, T, Expression)                                                          \
  {pick<T>(Name "_b32", Name "_b64"),                                                              \
   [](Wave &W, const Inst &I) {                                                                    \
     const T S0 = scalarSource<T>(W, I.Src[0]), Exec = readExec<T>(W);                             \
     setScalar<T>(W, I.Dst, Exec);                                                                 \
     writeExec<T>(W, withScc<T>(W, Expression));                                                   \
   },                                                                                              \
   OpClass::Salu, 0, scalarTy<T>, {scalarTy<T>, Ty::None, Ty::None}, 0}
#define SAVEEXEC(Name, Expression)                                                                 \
  SAVEEXEC_ROW(Name, S64, Expression), SAVEEXEC_ROW(Name, S32, Expression)

// EXEC = D = Expression.
#define WREXEC_ROW(Name, T, Expression)                                                            \
  {pick<T>(Name "_b32", Name "_b64"),                                                              \
   [](Wave &W, const Inst &I) {                                                                    \
     const T S0 = scalarSource<T>(W, I.Src[0]), Exec = readExec<T>(W);                             \
     const T R = withScc<T>(W, Expression);                                                        \
     writeExec<T>(W, R);                                                                           \
     setScalar<T>(W, I.Dst, R);                                                                    \
   },                                                                                              \
   OpClass::Salu, 0, scalarTy<T>, {scalarTy<T>, Ty::None, Ty::None}, 0}
#define WREXEC(Name, Expression)                                                                   \
  WREXEC_ROW(Name, S64, Expression), WREXEC_ROW(Name, S32, Expression)

#define ROW(Name, D, A, ...)                                                                       \
  {Name, [](Wave &W, const Inst &I) __VA_ARGS__, OpClass::Salu, 0, D, {A, Ty::None, Ty::None}, 0}
#define JUMP(Name, D, A, ...)                                                                      \
  {Name,  [](Wave &W, const Inst &I) __VA_ARGS__, OpClass::Branch, OpBranch, D,                    \
   {A, Ty::None, Ty::None}, 0}

const OpEntry Ops[] = {
    PURE("s_mov_b32", S32, S32, S0),
    PURE("s_mov_b64", S64, S64, S0),
    ROW("s_cmov_b32", Ty::B32, Ty::B32, {
      if (W.Scc)
        setScalar<S32>(W, I.Dst, scalarSource<S32>(W, I.Src[0]));
    }),
    ROW("s_cmov_b64", Ty::B64, Ty::B64, {
      if (W.Scc)
        setScalar<S64>(W, I.Dst, scalarSource<S64>(W, I.Src[0]));
    }),
    LOGIC1("s_not", ~S0),
    VGPU_SOP1("s_wqm_b32", S32, S32, { return withScc<S32>(W, wholeQuads(S0)); }),
    VGPU_SOP1("s_wqm_b64", S64, S64, { return withScc<S64>(W, wholeQuads(S0)); }),
    PURE("s_brev_b32", S32, S32, reverse(S0)),
    PURE("s_brev_b64", S64, S64, reverse(S0)),
    VGPU_SOP1("s_bcnt0_i32_b32", S32, S32, { return withScc<S32>(W, 32 - countOnes(S0)); }),
    VGPU_SOP1("s_bcnt0_i32_b64", S32, S64, { return withScc<S32>(W, 64 - countOnes(S0)); }),
    VGPU_SOP1("s_bcnt1_i32_b32", S32, S32, { return withScc<S32>(W, countOnes(S0)); }),
    VGPU_SOP1("s_bcnt1_i32_b64", S32, S64, { return withScc<S32>(W, countOnes(S0)); }),
    PURE("s_ff0_i32_b32", S32, S32, firstOne(uint32_t(~S0))),
    PURE("s_ff0_i32_b64", S32, S64, firstOne(~S0)),
    PURE("s_ff1_i32_b32", S32, S32, firstOne(S0)),
    PURE("s_ff1_i32_b64", S32, S64, firstOne(S0)),
    PURE("s_flbit_i32_b32", S32, S32, leadingZeros(S0, 32)),
    PURE("s_flbit_i32_b64", S32, S64, leadingZeros(S0, 64)),
    PURE("s_flbit_i32", S32, S32, leadingSigns(int32_t(S0), 32)),
    PURE("s_flbit_i32_i64", S32, S64, leadingSigns(int64_t(S0), 64)),
    PURE("s_sext_i32_i8", S32, S32, int32_t(int8_t(S0))),
    PURE("s_sext_i32_i16", S32, S32, int32_t(int16_t(S0))),
    ROW("s_bitset0_b32", Ty::B32, Ty::B32, { bitSet<S32>(W, I, false); }),
    ROW("s_bitset0_b64", Ty::B64, Ty::B32, { bitSet<S64>(W, I, false); }),
    ROW("s_bitset1_b32", Ty::B32, Ty::B32, { bitSet<S32>(W, I, true); }),
    ROW("s_bitset1_b64", Ty::B64, Ty::B32, { bitSet<S64>(W, I, true); }),
    PURE("s_bitreplicate_b64_b32", S64, S32, replicateBits(S0)),
    VGPU_SOP1("s_quadmask_b32", S32, S32, { return withScc<S32>(W, quadMask(S0)); }),
    VGPU_SOP1("s_quadmask_b64", S64, S64, { return withScc<S64>(W, quadMask(S0)); }),
    VGPU_SOP1("s_abs_i32", S32, S32,
              { return withScc<S32>(W, int32_t(S0) < 0 ? 0 - S0 : S0); }),

    JUMP("s_getpc_b64", Ty::B64, Ty::None, { setScalar<S64>(W, I.Dst, W.Pc); }),
    JUMP("s_setpc_b64", Ty::None, Ty::B64, { W.Pc = scalarSource<S64>(W, I.Src[0]); }),
    JUMP("s_swappc_b64", Ty::B64, Ty::B64, {
      const uint64_t Target = scalarSource<S64>(W, I.Src[0]);
      setScalar<S64>(W, I.Dst, W.Pc);
      W.Pc = Target;
    }),

    SAVEEXEC("s_and_saveexec", S0 & Exec),
    SAVEEXEC("s_or_saveexec", S0 | Exec),
    SAVEEXEC("s_xor_saveexec", S0 ^ Exec),
    SAVEEXEC("s_andn2_saveexec", S0 & ~Exec),
    SAVEEXEC("s_orn2_saveexec", S0 | ~Exec),
    SAVEEXEC("s_nand_saveexec", ~(S0 & Exec)),
    SAVEEXEC("s_nor_saveexec", ~(S0 | Exec)),
    SAVEEXEC("s_xnor_saveexec", ~(S0 ^ Exec)),
    SAVEEXEC("s_andn1_saveexec", ~S0 & Exec),
    SAVEEXEC("s_orn1_saveexec", ~S0 | Exec),
    WREXEC("s_andn1_wrexec", ~S0 & Exec),
    WREXEC("s_andn2_wrexec", S0 & ~Exec),

    ROW("s_movrels_b32", Ty::B32, Ty::B32, { moveRelative<S32>(W, I, false); }),
    ROW("s_movrels_b64", Ty::B64, Ty::B64, { moveRelative<S64>(W, I, false); }),
    ROW("s_movreld_b32", Ty::B32, Ty::B32, { moveRelative<S32>(W, I, true); }),
    ROW("s_movreld_b64", Ty::B64, Ty::B64, { moveRelative<S64>(W, I, true); }),
    ROW("s_set_gpr_idx_idx", Ty::None, Ty::B32, {
      W.Sgpr[RegM0] = (W.m0() & ~0xffu) | (scalarSource<S32>(W, I.Src[0]) & 0xff);
    }),
};

} // namespace

const OpTable Sop1Ops = {Ops, sizeof Ops / sizeof *Ops};

} // namespace vgpu
