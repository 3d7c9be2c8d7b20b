// VOP3P: two 16-bit results a lane, and mixed precision fma.
#include "isa/HalfMath.h"
#include "isa/PackedSource.h"
#include "isa/VectorTables.h"

namespace vgpu::VGPU_SIMD {

namespace {

inline U16 bitsOf(Half V) { return V.Bits; }
inline U16 bitsOf(U16 V) { return V; }
inline U16 bitsOf(I16 V) { return U16(V); }
template <class T> inline T valueOf(U16 Bits) {
  if constexpr (std::is_same_v<T, Half>) return Half{Bits};
  else return T(Bits);
}

/// Clamp of packed halves: to [0, 1] each.
inline Half clampHalf(Half V, bool Dx10) {
  if (isNan(V))
    return Dx10 ? Half{0} : V;
  return isNegative(V) ? Half{0} : V.Bits > 0x3c00 ? Half{0x3c00} : V;
}

template <class T, unsigned Count, class F> inline void packed(Wave &W, const Inst &I, F Fn) {
  const Context X(W, I);
  const PackedSource A(W, I, 0), B(W, I, Count > 1 ? 1 : 0), C(W, I, Count > 2 ? 2 : 0);
  const bool Dx10 = W.Mode & ModeDx10Clamp;
  LaneBuffer R;
  for (unsigned L = 0; L < MaxLanes; ++L) {
    T Low = Fn(valueOf<T>(A.low(L)), valueOf<T>(B.low(L)), valueOf<T>(C.low(L)), X);
    T High = Fn(valueOf<T>(A.high(L)), valueOf<T>(B.high(L)), valueOf<T>(C.high(L)), X);
    R.Lane[L] = U32(bitsOf(Low)) | U32(bitsOf(High)) << 16;
  }
  if (std::is_same_v<T, Half> && I.Clamp)
    for (U32 &L : R.Lane)
      L = U32(clampHalf(Half{U16(L)}, Dx10).Bits) |
          U32(clampHalf(Half{U16(L >> 16)}, Dx10).Bits) << 16;
  blend(W.Vgpr[I.Dst.Reg].Lane, R.Lane, W.exec());
}

inline U16 clampU16(I64 V, bool Clamp) {
  return Clamp ? U16(V < 0 ? 0 : V > 0xffff ? 0xffff : V) : U16(V);
}
inline I16 clampI16(I64 V, bool Clamp) {
  return Clamp ? I16(V < INT16_MIN ? INT16_MIN : V > INT16_MAX ? INT16_MAX : V) : I16(V);
}

// --- Mixed precision ------------------------------------------------------------
/// Source of fma_mix, all lanes: op_sel_hi says half, then op_sel which one.
void mixSource(const Wave &W, const Inst &I, unsigned N, F32 *Out) {
  const Operand &O = I.Src[N];
  LaneBuffer Scalar;
  const uint32_t *P = O.isVgpr() ? W.Vgpr[O.Reg].Lane : Scalar.Lane;
  if (!O.isVgpr())
    for (U32 &L : Scalar.Lane)
      L = scalarSource<uint32_t>(W, O);
  const U32 Keep = O.Mods & ModAbs ? 0x7fffffff : ~0u, Flip = O.Mods & ModNeg ? 0x80000000 : 0;
  if ((I.OpSelHi >> N) & 1) {
    const unsigned Shift = (I.OpSel >> N) & 1 ? 16 : 0;
    const U32 Denormal = FloatMode::of64(W.Mode).FlushIn ? 0x8000 : 0xffff;
    for (unsigned L = 0; L < MaxLanes; ++L) {
      const U32 H = (P[L] >> Shift) & 0xffff;
      const U32 Flushed = H & 0x7c00 ? H : H & Denormal;
      Out[L] = fromBits<F32>((toBits(DefaultHalf::widen(Half{U16(Flushed)})) & Keep) ^ Flip);
    }
    return;
  }
  for (unsigned L = 0; L < MaxLanes; ++L)
    Out[L] = fromBits<F32>((P[L] & Keep) ^ Flip);
}

enum MixResult { MixSingle, MixLow, MixHigh };

template <MixResult Result, bool Fused> void mix(Wave &W, const Inst &I) {
  LaneBuffer R;
  {
    alignas(64) F32 A[MaxLanes], B[MaxLanes], C[MaxLanes];
    mixSource(W, I, 0, A);
    mixSource(W, I, 1, B);
    mixSource(W, I, 2, C);
    FloatScope Scope(FloatMode::of32(W.Mode));
    for (unsigned L = 0; L < MaxLanes; ++L)
      R.Lane[L] = toBits(nanRule(Fused ? __builtin_fmaf(A[L], B[L], C[L]) : A[L] * B[L] + C[L],
                                 A[L], B[L], C[L]));
  }
  if (I.Clamp)
    modify32(W, I, R.Lane);
  uint32_t *D = W.Vgpr[I.Dst.Reg].Lane;
  if (Result != MixSingle) {
    const FloatMode M = FloatMode::of64(W.Mode);
    if (M.isDefault())
      for (U32 &L : R.Lane)
        L = DefaultHalf::narrowKeepingNan(fromBits<F32>(L)).Bits;
    else
      for (U32 &L : R.Lane)
        L = toHalf(F64(fromBits<F32>(L)), M).Bits;
    for (unsigned L = 0; L < MaxLanes; ++L)
      R.Lane[L] = Result == MixLow ? (D[L] & 0xffff0000) | R.Lane[L]
                                   : (D[L] & 0xffff) | R.Lane[L] << 16;
  }
  blend(D, R.Lane, W.exec());
}

#define PK(Name, T, TheTy, Count, ...)                                                             \
  {Name, [](Wave &W, const Inst &I) {                                                              \
     packed<T, Count>(W, I, [](T a, T b, T c, const Context &x) -> T {                             \
       (void)b, (void)c, (void)x;                                                                  \
       __VA_ARGS__                                                                                 \
     });                                                                                           \
   },                                                                                              \
   OpClass::Valu, OpPacked, TheTy, {TheTy, TheTy, Count > 2 ? TheTy : Ty::None}, 0}
// Half arithmetic in one of two loops by the mode; M is the kind of arithmetic.
#define PKH(Name, Count, ...)                                                                      \
  {Name, [](Wave &W, const Inst &I) {                                                              \
     const auto Run = [&](auto m) {                                                                \
       (void)m;                                                                                    \
       using M = decltype(m);                                                                      \
       packed<Half, Count>(W, I, [](Half a, Half b, Half c, const Context &x) -> Half {            \
         (void)c;                                                                                  \
         __VA_ARGS__                                                                               \
       });                                                                                         \
     };                                                                                            \
     FloatMode::of64(W.Mode).isDefault() ? Run(DefaultHalf()) : Run(ModedHalf());                  \
   },                                                                                              \
   OpClass::Valu, OpPacked, Ty::PF16, {Ty::PF16, Ty::PF16, Count > 2 ? Ty::PF16 : Ty::None}, 0}
#define PKI(Name, T, Count, ...) PK(Name, T, Ty::P16, Count, __VA_ARGS__)
#define PKF(Name, Count, ...) PK(Name, Half, Ty::PF16, Count, __VA_ARGS__)
#define MIX(Name, Result, Fused)                                                                   \
  {Name, mix<Result, Fused>, OpClass::Valu, OpPacked | OpMix, Ty::F32,                             \
   {Ty::F32, Ty::F32, Ty::F32}, 0}

const OpEntry Ops[] = {
    PKH("v_pk_add_f16", 2, return M::add(a, b, x.Float64);),
    PKH("v_pk_mul_f16", 2, return M::mul(a, b, x.Float64);),
    PKH("v_pk_fma_f16", 3, return M::fma(a, b, c, x.Float64);),
    PKF("v_pk_min_f16", 2, return minimum(a, b, x.Ieee, x.Float64);),
    PKF("v_pk_max_f16", 2, return maximum(a, b, x.Ieee, x.Float64);),
    PKI("v_pk_add_u16", U16, 2, return clampU16(I64(a) + b, x.Clamp);),
    PKI("v_pk_sub_u16", U16, 2, return clampU16(I64(a) - b, x.Clamp);),
    PKI("v_pk_mul_lo_u16", U16, 2, return clampU16(I64(a) * b, x.Clamp);),
    PKI("v_pk_mad_u16", U16, 3, return clampU16(I64(a) * b + c, x.Clamp);),
    PKI("v_pk_min_u16", U16, 2, return a < b ? a : b;),
    PKI("v_pk_max_u16", U16, 2, return a > b ? a : b;),
    PKI("v_pk_lshlrev_b16", U16, 2, return U16(U32(b) << (a & 15));),
    PKI("v_pk_lshrrev_b16", U16, 2, return U16(b >> (a & 15));),
    PKI("v_pk_add_i16", I16, 2, return clampI16(I64(a) + b, x.Clamp);),
    PKI("v_pk_sub_i16", I16, 2, return clampI16(I64(a) - b, x.Clamp);),
    PKI("v_pk_mad_i16", I16, 3, return clampI16(I64(a) * b + c, x.Clamp);),
    PKI("v_pk_min_i16", I16, 2, return a < b ? a : b;),
    PKI("v_pk_max_i16", I16, 2, return a > b ? a : b;),
    PKI("v_pk_ashrrev_i16", I16, 2, return I16(b >> (a & 15));),
    MIX("v_fma_mix_f32", MixSingle, true), MIX("v_fma_mixlo_f16", MixLow, true),
    MIX("v_fma_mixhi_f16", MixHigh, true), MIX("v_mad_mix_f32", MixSingle, false),
    MIX("v_mad_mixlo_f16", MixLow, false), MIX("v_mad_mixhi_f16", MixHigh, false),
};

} // namespace

const OpTable PackedOps = {Ops, sizeof Ops / sizeof *Ops};

} // namespace vgpu::VGPU_SIMD
