// VOPC: comparisons that give a lane mask, to VCC or any SGPR pair, and with
// v_cmpx to EXEC as well.
#include "isa/Vector.h"
#include "isa/VectorTables.h"

namespace vgpu::VGPU_SIMD {

namespace {

template <class T> inline T compareValue(const T &V, const FloatMode &) { return V; }
inline double compareValue(Half V, const FloatMode &M) { return toDouble(M.flushInput(V)); }

template <class T> FloatMode modeOf(const Wave &W) {
  return std::is_same_v<T, float> ? FloatMode::of32(W.Mode) : FloatMode::of64(W.Mode);
}

/// Fn(A, B) for all lanes, as a mask of the active ones.
template <class A, class B, class F> inline void compare(Wave &W, const Inst &I, F Fn) {
  LaneBuffer R;
  {
    const FloatMode M = modeOf<A>(W);
    FloatScope Scope(scopeMode<A>(W));
    const Source<A> S0(W, I, 0);
    const Source<B> S1(W, I, 1);
    for (unsigned L = 0; L < MaxLanes; ++L)
      R.Lane[L] = Fn(compareValue(S0[L], M), compareValue(S1[L], M)) ? ~0u : 0;
  }
  const uint64_t Active = I.Dpp ? activeLanes(W, I) : W.exec();
  const uint64_t Mask = packMask(R.Lane) & Active;
  W.setScalarMask(I.SDst, Mask);
  if (I.Info->Flags & OpCompareX)
    W.setExec(Mask);
}

/// v_cmp_class: bit per class that the value may belong to. Selections, so
/// that it vectorises.
template <class T> inline bool inClass(T V, U32 Classes) {
  const bool Negative = isNegative(V), Quiet = toBits(V) & FloatTraits<T>::Quiet;
  U32 Bit = Negative ? 1u << 3 : 1u << 8; // normal
  Bit = exponentField(V) == 0 ? (Negative ? 1u << 4 : 1u << 7) : Bit; // denormal
  Bit = isZero(V) ? (Negative ? 1u << 5 : 1u << 6) : Bit;
  Bit = isInf(V) ? (Negative ? 1u << 2 : 1u << 9) : Bit;
  Bit = isNan(V) ? (Quiet ? 1u << 1 : 1u << 0) : Bit;
  return Classes & Bit;
}

template <class T> void compareClass(Wave &W, const Inst &I) {
  LaneBuffer R;
  const Source<T> S0(W, I, 0);
  const Source<U32> S1(W, I, 1);
  for (unsigned L = 0; L < MaxLanes; ++L)
    R.Lane[L] = inClass(S0[L], S1[L]) ? ~0u : 0;
  const uint64_t Mask = packMask(R.Lane) & (I.Dpp ? activeLanes(W, I) : W.exec());
  W.setScalarMask(I.SDst, Mask);
  if (I.Info->Flags & OpCompareX)
    W.setExec(Mask);
}

#define ROW(Name, Flags, T, Expression)                                                            \
  {Name, [](Wave &W, const Inst &I) {                                                              \
     compare<T, T>(W, I, [](auto a, auto b) -> bool {                                              \
       (void)a, (void)b;                                                                           \
       return Expression;                                                                          \
     });                                                                                           \
   },                                                                                              \
   OpClass::Valu, OpCompare | (Flags), Ty::None, {tyOf<T>(), tyOf<T>(), Ty::None}, 0}

#define INTEGER_ROWS(Prefix, Type, Flags, T)                                                       \
  ROW(Prefix "_f_" Type, Flags, T, false), ROW(Prefix "_lt_" Type, Flags, T, a < b),               \
      ROW(Prefix "_eq_" Type, Flags, T, a == b), ROW(Prefix "_le_" Type, Flags, T, a <= b),        \
      ROW(Prefix "_gt_" Type, Flags, T, a > b), ROW(Prefix "_ne_" Type, Flags, T, a != b),         \
      ROW(Prefix "_ge_" Type, Flags, T, a >= b), ROW(Prefix "_t_" Type, Flags, T, true)

#define FLOAT_ROWS(Prefix, Type, Flags, T)                                                         \
  ROW(Prefix "_f_" Type, Flags, T, false), ROW(Prefix "_lt_" Type, Flags, T, a < b),               \
      ROW(Prefix "_eq_" Type, Flags, T, a == b), ROW(Prefix "_le_" Type, Flags, T, a <= b),        \
      ROW(Prefix "_gt_" Type, Flags, T, a > b),                                                    \
      ROW(Prefix "_lg_" Type, Flags, T, (a < b) | (a > b)),                                        \
      ROW(Prefix "_ge_" Type, Flags, T, a >= b),                                                   \
      ROW(Prefix "_o_" Type, Flags, T, (a == a) & (b == b)),                                       \
      ROW(Prefix "_u_" Type, Flags, T, (a != a) | (b != b)),                                       \
      ROW(Prefix "_nge_" Type, Flags, T, !(a >= b)),                                               \
      ROW(Prefix "_nlg_" Type, Flags, T, !((a < b) | (a > b))),                                    \
      ROW(Prefix "_ngt_" Type, Flags, T, !(a > b)), ROW(Prefix "_nle_" Type, Flags, T, !(a <= b)), \
      ROW(Prefix "_neq_" Type, Flags, T, a != b), ROW(Prefix "_nlt_" Type, Flags, T, !(a < b)),    \
      ROW(Prefix "_tru_" Type, Flags, T, true)

#define CLASS_ROW(Name, Flags, T)                                                                  \
  {Name, compareClass<T>, OpClass::Valu, OpCompare | (Flags), Ty::None,                            \
   {tyOf<T>(), Ty::B32, Ty::None}, 0}

#define ALL_ROWS(Prefix, Flags)                                                                    \
  INTEGER_ROWS(Prefix, "i16", Flags, I16), INTEGER_ROWS(Prefix, "u16", Flags, U16),                \
      INTEGER_ROWS(Prefix, "i32", Flags, I32), INTEGER_ROWS(Prefix, "u32", Flags, U32),            \
      INTEGER_ROWS(Prefix, "i64", Flags, I64), INTEGER_ROWS(Prefix, "u64", Flags, U64),            \
      FLOAT_ROWS(Prefix, "f16", Flags, F16), FLOAT_ROWS(Prefix, "f32", Flags, F32),                \
      FLOAT_ROWS(Prefix, "f64", Flags, F64), CLASS_ROW(Prefix "_class_f16", Flags, F16),           \
      CLASS_ROW(Prefix "_class_f32", Flags, F32), CLASS_ROW(Prefix "_class_f64", Flags, F64)

const OpEntry Ops[] = {ALL_ROWS("v_cmp", 0), ALL_ROWS("v_cmpx", OpCompareX)};

} // namespace

const OpTable CompareOps = {Ops, sizeof Ops / sizeof *Ops};

} // namespace vgpu::VGPU_SIMD
