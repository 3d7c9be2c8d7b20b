// Half precision arithmetic: computed in double, where sums and products of
// halves are exact, and rounded once as MODE says.
#ifndef VGPU_ISA_HALFMATH_H
#define VGPU_ISA_HALFMATH_H

#include "isa/FloatMath.h"

namespace vgpu::VGPU_SIMD {

/// Fn over the doubles of the flushed sources, rounded to half.
template <class F> inline Half half1(Half A, const FloatMode &M, F Fn) {
  A = M.flushInput(A);
  return nanRule(toHalf(Fn(toDouble(A)), M), A);
}
template <class F> inline Half half2(Half A, Half B, const FloatMode &M, F Fn) {
  A = M.flushInput(A);
  B = M.flushInput(B);
  return nanRule(toHalf(Fn(toDouble(A), toDouble(B)), M), A, B);
}
template <class F> inline Half half3(Half A, Half B, Half C, const FloatMode &M, F Fn) {
  A = M.flushInput(A);
  B = M.flushInput(B);
  C = M.flushInput(C);
  return nanRule(toHalf(Fn(toDouble(A), toDouble(B), toDouble(C)), M), A, B, C);
}

/// A zero sum's sign depends on the rounding mode, which the host does not
/// have here: x + -x is -0 only when rounding down.
inline double exactSum(double A, double B, const FloatMode &M) {
  const double S = A + B;
  return S == 0 && A != 0 ? (M.Round == 2 ? -0.0 : 0.0)
         : S == 0 && isNegative(A) != isNegative(B) ? (M.Round == 2 ? -0.0 : 0.0)
                                                    : S;
}

/// Arithmetic as the mode says.
struct ModedHalf {
  static Half add(Half A, Half B, const FloatMode &M) {
    return half2(A, B, M, [&](double X, double Y) { return exactSum(X, Y, M); });
  }
  static Half mul(Half A, Half B, const FloatMode &M) {
    return half2(A, B, M, [](double X, double Y) { return X * Y; });
  }
  static Half fma(Half A, Half B, Half C, const FloatMode &M) {
    return half3(A, B, C, M, [&](double X, double Y, double Z) {
      const double S = fmaToOdd(X, Y, Z);
      return S == 0 ? exactSum(X * Y, Z, M) : S;
    });
  }
};

/// The same for nearest even with denormals, the mode that nearly all code
/// runs in: written without branches, so that loops vectorise.
struct DefaultHalf {
  static F32 widen(Half H) {
    const U32 Magnitude = U32(H.Bits & 0x7fff) << 13;
    // Rebias by multiplying: right for denormals too.
    const U32 Finite = toBits(fromBits<F32>(Magnitude) * 0x1p112f);
    const U32 R = Magnitude >= 0x0f800000 ? Magnitude | 0x7f800000 : Finite;
    return fromBits<F32>(U32(H.Bits & 0x8000) << 16 | R);
  }
  static Half narrow(F32 V) {
    const U32 B = toBits(V), A = B & 0x7fffffff;
    const U32 Normal = (A + 0xfff + ((A >> 13) & 1) - 0x38000000) >> 13;
    // Adding 0.5 leaves the denormal half in the low bits, rounded.
    const U32 Denormal = toBits(fromBits<F32>(A) + 0.5f) - 0x3f000000;
    U32 R = A < 0x38800000 ? Denormal : Normal;
    R = A >= 0x477ff000 ? 0x7c00 : R;
    R = A > 0x7f800000 ? 0x7e00 : R;
    return {U16((B >> 16 & 0x8000) | R)};
  }
  /// The same, but a NaN keeps the top of its payload.
  static Half narrowKeepingNan(F32 V) {
    const U32 Bits = toBits(V), Magnitude = Bits & 0x7fffffff;
    const U32 Nan = (Bits >> 16 & 0x8000) | 0x7e00 | (Magnitude >> 13 & 0x3ff);
    const U32 R = Magnitude > 0x7f800000 ? Nan : U32(narrow(V).Bits);
    return {U16(R)};
  }
  /// nanRule on 32-bit integers, whose selections vectorise.
  static Half ruled(Half Result, Half A, Half B, Half C) {
    const auto IsNan = [](Half V) { return U32(V.Bits & 0x7fff) > 0x7c00; };
    U32 Nan = 0x7e00;
    Nan = IsNan(C) ? U32(C.Bits) | 0x200 : Nan;
    Nan = IsNan(B) ? U32(B.Bits) | 0x200 : Nan;
    Nan = IsNan(A) ? U32(A.Bits) | 0x200 : Nan;
    const U32 R = IsNan(Result) ? Nan : U32(Result.Bits);
    return {U16(R)};
  }
  // A float has more than twice the bits of a half and two: rounding twice is
  // the same as rounding once for sums and products.
  static Half add(Half A, Half B, const FloatMode &) {
    return ruled(narrow(widen(A) + widen(B)), A, B, Half{0});
  }
  static Half mul(Half A, Half B, const FloatMode &) {
    return ruled(narrow(widen(A) * widen(B)), A, B, Half{0});
  }
  static Half fma(Half A, Half B, Half C, const FloatMode &) {
    // The product is exact in a float. The sum is rounded to odd there, so that
    // the rounding to half sees on which side of it the exact value lies.
    const F32 P = widen(A) * widen(B), Z = widen(C), S = P + Z, T = S - P;
    const F32 Error = (P - (S - T)) + (Z - T);
    const U32 Bits = toBits(S), Finite = (Bits & 0x7fffffff) < 0x7f800000 ? ~0u : 0;
    const U32 Inexact = (Error != 0 ? Finite : 0) & (~Bits & 1);
    const U32 Inwards = (toBits(Error) ^ Bits) >> 31; // towards zero, else away from it
    return ruled(narrow(fromBits<F32>(Bits + Inexact - 2 * (Inexact & Inwards))), A, B, C);
  }
};

template <class Arithmetic>
inline Half madHalf(Half A, Half B, Half C, const FloatMode &M) {
  return nanRule(Arithmetic::add(Arithmetic::mul(A, B, M), C, M), A, B, C);
}

} // namespace vgpu::VGPU_SIMD

#endif
