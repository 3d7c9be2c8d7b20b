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

inline Half addHalf(Half A, Half B, const FloatMode &M) {
  return half2(A, B, M, [&](double X, double Y) { return exactSum(X, Y, M); });
}
inline Half mulHalf(Half A, Half B, const FloatMode &M) {
  return half2(A, B, M, [](double X, double Y) { return X * Y; });
}
inline Half fmaHalf(Half A, Half B, Half C, const FloatMode &M) {
  return half3(A, B, C, M, [&](double X, double Y, double Z) {
    const double S = fmaToOdd(X, Y, Z);
    return S == 0 ? exactSum(X * Y, Z, M) : S;
  });
}
inline Half madHalf(Half A, Half B, Half C, const FloatMode &M) {
  return nanRule(addHalf(mulHalf(A, B, M), C, M), A, B, C);
}

} // namespace vgpu::VGPU_SIMD

#endif
