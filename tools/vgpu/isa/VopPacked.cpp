// VOP3P: two 16-bit results a lane, mixed precision fma, dot products. op_sel
// says which half of a source feeds the low result, op_sel_hi the high one.
#include "isa/HalfMath.h"
#include "isa/Vector.h"
#include "isa/VectorTables.h"

namespace vgpu::VGPU_SIMD {

namespace {

/// A packed source: both halves after op_sel and neg.
class PackedSource {
public:
  PackedSource(const Wave &W, const Inst &I, unsigned N)
      : LowShift((I.OpSel >> N) & 1 ? 16 : 0), HighShift((I.OpSelHi >> N) & 1 ? 16 : 0),
        LowFlip(I.Src[N].Mods & ModNeg ? 0x8000 : 0),
        HighFlip(I.Src[N].Mods & ModNegHi ? 0x8000 : 0) {
    const Operand &O = I.Src[N];
    if (O.isVgpr()) {
      P = W.Vgpr[O.Reg].Lane;
      return;
    }
    const uint32_t V = scalarSource<uint32_t>(W, O);
    for (uint32_t &L : Buffer.Lane)
      L = V;
    P = Buffer.Lane;
  }
  U16 low(unsigned L) const { return U16((P[L] >> LowShift) ^ LowFlip); }
  U16 high(unsigned L) const { return U16((P[L] >> HighShift) ^ HighFlip); }
  U32 whole(unsigned L) const { return P[L]; }

private:
  const uint32_t *P;
  U32 LowShift, HighShift, LowFlip, HighFlip;
  LaneBuffer Buffer;
};

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
  const bool Clamps = I.Clamp && std::is_same_v<T, Half>, Dx10 = W.Mode & ModeDx10Clamp;
  LaneBuffer R;
  for (unsigned L = 0; L < MaxLanes; ++L) {
    T Low = Fn(valueOf<T>(A.low(L)), valueOf<T>(B.low(L)), valueOf<T>(C.low(L)), X);
    T High = Fn(valueOf<T>(A.high(L)), valueOf<T>(B.high(L)), valueOf<T>(C.high(L)), X);
    if constexpr (std::is_same_v<T, Half>)
      if (Clamps) {
        Low = clampHalf(Low, Dx10);
        High = clampHalf(High, Dx10);
      }
    R.Lane[L] = U32(bitsOf(Low)) | U32(bitsOf(High)) << 16;
  }
  blend(W.Vgpr[I.Dst.Reg].Lane, R.Lane, W.exec());
}

inline U16 clampU16(I64 V, bool Clamp) {
  return Clamp ? U16(V < 0 ? 0 : V > 0xffff ? 0xffff : V) : U16(V);
}
inline I16 clampI16(I64 V, bool Clamp) {
  return Clamp ? I16(V < INT16_MIN ? INT16_MIN : V > INT16_MAX ? INT16_MAX : V) : I16(V);
}

// --- Mixed precision ------------------------------------------------------------
/// Source of fma_mix: op_sel_hi says half, then op_sel which one.
F32 mixSource(const Wave &W, const Inst &I, unsigned N, unsigned L) {
  const Operand &O = I.Src[N];
  const U32 Raw = O.isVgpr() ? W.Vgpr[O.Reg].Lane[L] : scalarSource<uint32_t>(W, O);
  F32 V;
  if ((I.OpSelHi >> N) & 1)
    V = toFloat(FloatMode::of64(W.Mode).flushInput(Half{U16(Raw >> ((I.OpSel >> N) & 1 ? 16 : 0))}));
  else
    V = fromBits<F32>(Raw);
  if (O.Mods & ModAbs)
    V = absolute(V);
  return O.Mods & ModNeg ? negate(V) : V;
}

enum MixResult { MixSingle, MixLow, MixHigh };

template <MixResult Result, bool Fused> void mix(Wave &W, const Inst &I) {
  LaneBuffer R;
  {
    FloatScope Scope(FloatMode::of32(W.Mode));
    for (unsigned L = 0; L < MaxLanes; ++L) {
      const F32 A = mixSource(W, I, 0, L), B = mixSource(W, I, 1, L), C = mixSource(W, I, 2, L);
      F32 V = nanRule(Fused ? __builtin_fmaf(A, B, C) : A * B + C, A, B, C);
      if (I.Clamp)
        V = isNan(V) ? (W.Mode & ModeDx10Clamp ? 0.0f : V) : V < 0 ? 0.0f : V > 1 ? 1.0f : V;
      R.Lane[L] = toBits(V);
    }
  }
  uint32_t *D = W.Vgpr[I.Dst.Reg].Lane;
  if (Result != MixSingle)
    for (unsigned L = 0; L < MaxLanes; ++L) {
      const U32 H = toHalf(F64(fromBits<F32>(R.Lane[L])), FloatMode::of64(W.Mode)).Bits;
      R.Lane[L] = Result == MixLow ? (D[L] & 0xffff0000) | H : (D[L] & 0xffff) | H << 16;
    }
  blend(D, R.Lane, W.exec());
}

// --- Dot products -----------------------------------------------------------------
inline U32 saturate(I64 V, bool Signed, bool Clamp) {
  if (!Clamp)
    return U32(V);
  if (Signed)
    return U32(V < INT32_MIN ? INT32_MIN : V > INT32_MAX ? INT32_MAX : I32(V));
  return V > I64(UINT32_MAX) ? UINT32_MAX : U32(V);
}

/// Sum of products of Bits-wide parts, plus the accumulator.
template <unsigned Bits, bool Signed> inline I64 dot(U32 A, U32 B) {
  I64 Sum = 0;
  for (unsigned N = 0; N < 32; N += Bits) {
    const U32 P = (A >> N) << (32 - Bits), Q = (B >> N) << (32 - Bits);
    Sum += Signed ? I64(I32(P) >> (32 - Bits)) * (I32(Q) >> (32 - Bits))
                  : I64(P >> (32 - Bits)) * (Q >> (32 - Bits));
  }
  return Sum;
}

template <unsigned Bits, bool Signed> void dotInteger(Wave &W, const Inst &I) {
  const PackedSource A(W, I, 0), B(W, I, 1), C(W, I, 2);
  LaneBuffer R;
  for (unsigned L = 0; L < MaxLanes; ++L) {
    U32 X = A.whole(L), Y = B.whole(L);
    if (Bits == 16) { // only these take op_sel
      X = A.low(L) | U32(A.high(L)) << 16;
      Y = B.low(L) | U32(B.high(L)) << 16;
    }
    const U32 Acc = C.whole(L);
    R.Lane[L] = saturate(dot<Bits, Signed>(X, Y) + (Signed ? I64(I32(Acc)) : I64(Acc)), Signed,
                         I.Clamp);
  }
  blend(W.Vgpr[I.Dst.Reg].Lane, R.Lane, W.exec());
}

void dotHalf(Wave &W, const Inst &I) {
  const PackedSource A(W, I, 0), B(W, I, 1), C(W, I, 2);
  const FloatMode M16 = FloatMode::of64(W.Mode), M32 = FloatMode::of32(W.Mode);
  LaneBuffer R;
  for (unsigned L = 0; L < MaxLanes; ++L) {
    const auto Value = [&](U16 Bits) { return toDouble(M16.flushInput(Half{Bits})); };
    F32 Acc = fromBits<F32>(C.whole(L));
    if (I.Src[2].Mods & ModNeg)
      Acc = negate(Acc);
    // Both products and their sum are exact in double, the rest rounds once or nearly.
    const F64 Sum = Value(A.low(L)) * Value(B.low(L)) + Value(A.high(L)) * Value(B.high(L)) +
                    F64(M32.flushInput(Acc));
    F32 V = M32.flushOutput(F32(Sum));
    V = isNan(V) ? (isNan(Acc) ? quiet(Acc) : defaultNan<F32>()) : V;
    if (I.Clamp)
      V = isNan(V) ? (W.Mode & ModeDx10Clamp ? 0.0f : V) : V < 0 ? 0.0f : V > 1 ? 1.0f : V;
    R.Lane[L] = toBits(V);
  }
  blend(W.Vgpr[I.Dst.Reg].Lane, R.Lane, W.exec());
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
#define DOT(Name, Bits, Signed)                                                                    \
  {Name, dotInteger<Bits, Signed>, OpClass::Valu, OpPacked, Ty::B32, {Ty::P16, Ty::P16, Ty::B32}, 0}

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
    DOT("v_dot2_i32_i16", 16, true), DOT("v_dot2_u32_u16", 16, false),
    DOT("v_dot4_i32_i8", 8, true), DOT("v_dot4_u32_u8", 8, false),
    DOT("v_dot8_i32_i4", 4, true), DOT("v_dot8_u32_u4", 4, false),
    {"v_dot2_f32_f16", dotHalf, OpClass::Valu, OpPacked, Ty::F32, {Ty::PF16, Ty::PF16, Ty::F32}, 0},
};

} // namespace

const OpTable PackedOps = {Ops, sizeof Ops / sizeof *Ops};

} // namespace vgpu::VGPU_SIMD
