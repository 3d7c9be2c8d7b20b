// The helpers of correctly rounded division (v_div_scale, v_div_fmas,
// v_div_fixup) and of argument reduction for large angles (v_trig_preop).
//
// A division runs Newton steps on scaled operands: div_scale multiplies by a
// power of two where a step could leave the normal range and says in its lane
// mask whether the quotient must be scaled back, which div_fmas does while
// rounding once; div_fixup puts the special cases right.
#include "isa/HalfMath.h"
#include "isa/Vector.h"
#include "isa/VectorTables.h"

namespace vgpu::VGPU_SIMD {

namespace {

template <class T> struct DivideLimits;
template <> struct DivideLimits<F32> {
  static constexpr int FarApart = 96, Scale = 64, TinyNumerator = 23, Underflow = -150;
};
template <> struct DivideLimits<F64> {
  static constexpr int FarApart = 768, Scale = 128, TinyNumerator = 53, Underflow = -1075;
};

/// Whether the exact quotient N / D lies below the normal range; both finite, not 0.
template <class T> bool quotientIsTiny(T N, T D) {
  const int E = exponentOf(N) - exponentOf(D); // quotient in (2^(E-1), 2^(E+1))
  const FloatMode Keep{0, false, false};
  const bool Below = magnitude(significand(N, Keep)) < magnitude(significand(D, Keep));
  return E - (Below ? 1 : 0) < 1 - FloatTraits<T>::Bias;
}

template <class T> T divideScale(T Value, T Den, T Num, bool &ScaleBack) {
  using L = DivideLimits<T>;
  ScaleBack = false;
  if (isZero(Den) || isZero(Num))
    return defaultNan<T>();
  const bool IsDen = toBits(Value) == toBits(Den), IsNum = toBits(Value) == toBits(Num);
  const bool Finite = exponentField(Den) != FloatTraits<T>::MaxExponent &&
                      exponentField(Num) != FloatTraits<T>::MaxExponent;
  if (exponentField(Num) - exponentField(Den) >= L::FarApart) {
    ScaleBack = true; // the quotient may overflow: make the denominator larger
    return IsDen ? scaled(Value, L::Scale) : Value;
  }
  if (isDenormal(Den))
    return scaled(Value, L::Scale);
  const bool TinyReciprocal = Finite && quotientIsTiny(T(1), Den);
  const bool TinyQuotient = Finite && quotientIsTiny(Num, Den);
  if (TinyReciprocal && TinyQuotient) {
    ScaleBack = true;
    return IsDen ? scaled(Value, -L::Scale) : Value;
  }
  if (TinyReciprocal)
    return scaled(Value, -L::Scale);
  if (TinyQuotient) {
    ScaleBack = true;
    return IsNum ? scaled(Value, L::Scale) : Value;
  }
  if (exponentField(Num) <= L::TinyNumerator)
    return scaled(Value, L::Scale);
  return Value;
}

/// Whether no operand of the division needs scaling, by exponents alone.
template <class T> inline bool needsNoScaling(T Den, T Num) {
  using L = DivideLimits<T>;
  constexpr int Max = FloatTraits<T>::MaxExponent;
  const int D = exponentField(Den), N = exponentField(Num);
  return (D > 0) & (D < Max - 3) & (N > L::TinyNumerator) & (N < Max) & (N - D < L::FarApart) &
         (N - D > 2 - FloatTraits<T>::Bias);
}

template <class T> void divScale(Wave &W, const Inst &I) {
  const Source<T> S0(W, I, 0), S1(W, I, 1), S2(W, I, 2);
  uint64_t Mask = 0;
  emitPatched<T>(
      W, I,
      [&](unsigned L, bool &Ordinary) {
        Ordinary = needsNoScaling(S1[L], S2[L]);
        return S0[L];
      },
      [&](unsigned L) {
        bool ScaleBack;
        const T R = divideScale(S0[L], S1[L], S2[L], ScaleBack);
        Mask |= uint64_t(ScaleBack) << L;
        return R;
      });
  emitMask(W, I.SDst, Mask, W.exec());
}

/// fma, then times a power of two, with one rounding for both. The direction
/// follows from the size of the addend, which approximates the quotient.
F32 scaledFma(F32 A, F32 B, F32 C) {
  const F64 S = fmaToOdd(A, B, C);
  return F32(S * powerOfTwo(exponentField(C) > 127 ? 64 : -64));
}
F64 scaledFma(F64 A, F64 B, F64 C) {
  if (!std::isfinite(A) || !std::isfinite(B) || !std::isfinite(C))
    return __builtin_fma(A, B, C);
  // 106 bits of product are exact in 113; round the sum to odd there.
  using Quad = __float128;
  const Quad P = Quad(A) * Quad(B), S = P + Quad(C), T = S - P;
  const Quad Error = (P - (S - T)) + (Quad(C) - T);
  Quad Odd = S;
  if (Error != 0) {
    auto Bits = __builtin_bit_cast(unsigned __int128, S);
    if (!(Bits & 1))
      Bits = (Error > 0) == (S > 0) ? Bits + 1 : Bits - 1;
    Odd = __builtin_bit_cast(Quad, Bits);
  }
  return F64(Odd * Quad(powerOfTwo(exponentField(C) > 1023 ? 128 : -128)));
}

inline F32 fusedMultiplyAdd(F32 A, F32 B, F32 C) { return __builtin_fmaf(A, B, C); }
inline F64 fusedMultiplyAdd(F64 A, F64 B, F64 C) { return __builtin_fma(A, B, C); }

template <class T> void divFmas(Wave &W, const Inst &I) {
  const Source<T> S0(W, I, 0), S1(W, I, 1), S2(W, I, 2);
  const uint64_t Vcc = W.vcc();
  FloatScope Scope(scopeMode<T>(W));
  LaneBuffer Scaled;
  expandMask(Vcc, Scaled.Lane);
  emitPatched<T>(
      W, I,
      [&](unsigned L, bool &Ordinary) {
        Ordinary = !Scaled.Lane[L];
        return nanRule(fusedMultiplyAdd(S0[L], S1[L], S2[L]), S0[L], S1[L], S2[L]);
      },
      [&](unsigned L) {
        return nanRule(scaledFma(S0[L], S1[L], S2[L]), S0[L], S1[L], S2[L]);
      });
}

/// Written as selections, the last one winning, so that it vectorises.
template <class T> inline T divideFixup(T Quotient, T Den, T Num, int Underflow) {
  const bool Negative = isNegative(Den) != isNegative(Num);
  const T Zero = withSign(fromBits<T>(0), Negative), Inf = withSign(infinity<T>(), Negative);
  // A quotient that overflowed on its way is an infinity, never a NaN.
  T R = isNan(Quotient) ? Inf : withSign(Quotient, Negative);
  R = exponentField(Num) - exponentField(Den) < Underflow ? Zero : R;
  R = isInf(Den) | isZero(Num) ? Zero : R;
  R = isZero(Den) | isInf(Num) ? Inf : R;
  R = (isZero(Den) & isZero(Num)) | (isInf(Den) & isInf(Num)) ? negate(defaultNan<T>()) : R;
  R = isNan(Den) ? quiet(Den) : R;
  R = isNan(Num) ? quiet(Num) : R;
  return R;
}

/// 2/pi after the binary point, most significant word first.
const uint64_t TwoOverPi[19] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

/// 53 bits of 2/pi, chosen by the size of the angle and the segment number.
F64 trigPreop(F64 Angle, U32 Segment) {
  int Shift = int(Segment & 31) * 53;
  const int E = exponentField(Angle);
  if (E > 1077)
    Shift += E - 1077;
  // The manual's constant has 1201 bits with the first one for the integer part.
  const int First = Shift - 1; // bit index after the point, may be -1
  uint64_t Bits = 0;
  for (int N = 0; N < 53; ++N) {
    const int At = First + N;
    const uint64_t B = At < 0 || At >= 1200 ? 0 : (TwoOverPi[At / 64] >> (63 - At % 64)) & 1;
    Bits = Bits << 1 | B;
  }
  int Exponent = -53 - Shift + 1;
  if (E >= 1968)
    Exponent += 128;
  return scaled(F64(Bits), Exponent);
}

const OpEntry Ops[] = {
    {"v_div_scale_f32", divScale<F32>, OpClass::Valu, OpCarryOut, Ty::F32,
     {Ty::F32, Ty::F32, Ty::F32}, 0},
    {"v_div_scale_f64", divScale<F64>, OpClass::ValuF64, OpCarryOut, Ty::F64,
     {Ty::F64, Ty::F64, Ty::F64}, 0},
    {"v_div_fmas_f32", divFmas<F32>, OpClass::Valu, OpReadsVcc, Ty::F32,
     {Ty::F32, Ty::F32, Ty::F32}, 0},
    {"v_div_fmas_f64", divFmas<F64>, OpClass::ValuF64, OpReadsVcc, Ty::F64,
     {Ty::F64, Ty::F64, Ty::F64}, 0},
    VGPU_V3X("v_div_fixup_f32", Valu, 0, F32, U32, F32, F32, F32,
             return divideFixup(a, b, c, DivideLimits<F32>::Underflow);),
    VGPU_V3X("v_div_fixup_f64", ValuF64, 0, F64, U32, F64, F64, F64,
             return divideFixup(a, b, c, DivideLimits<F64>::Underflow);),
    VGPU_V3X("v_div_fixup_f16", Valu, 0, F16, U32, F16, F16, F16,
             return divideFixup(a, b, c, INT32_MIN);),
    VGPU_V3X("v_div_fixup_legacy_f16", Valu, 0, F16, U32, F16, F16, F16,
             return divideFixup(a, b, c, INT32_MIN);),
    VGPU_V2X("v_trig_preop_f64", ValuF64, 0, F64, U32, F64, U32, return trigPreop(a, b);),
};

} // namespace

const OpTable DivideOps = {Ops, sizeof Ops / sizeof *Ops};

} // namespace vgpu::VGPU_SIMD
