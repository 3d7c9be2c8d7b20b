// Float operations that are more than one host instruction, shared by the
// files for each precision.
#ifndef VGPU_ISA_FLOATMATH_H
#define VGPU_ISA_FLOATMATH_H

#include "isa/Vector.h"

namespace vgpu::VGPU_SIMD {

/// Denormals become zeros of the same sign.
template <class T> inline T flushed(T V) {
  return exponentField(V) == 0 ? withSign(fromBits<T>(0), isNegative(V)) : V;
}

inline F32 multiplyThenAdd(F32 A, F32 B, F32 C) {
  const F32 P = flushed(flushed(A) * flushed(B));
  return nanRule(flushed(P + flushed(C)), A, B, C);
}

/// 0 times anything is 0.
inline F32 legacyMultiply(F32 A, F32 B) {
  const F32 P = nanRule(A * B, A, B);
  return A == 0 || B == 0 ? 0.0f : P;
}

/// … so that a zero factor leaves the addend.
inline F32 legacyFma(F32 A, F32 B, F32 C) {
  const F32 R = nanRule(__builtin_fmaf(A, B, C), A, B, C);
  return A == 0 || B == 0 ? nanRule(0.0f + C, C) : R;
}

/// The smaller or larger of two numbers, -0 being below +0.
template <bool Max, class T> inline T pick(T A, T B) {
  if constexpr (std::is_same_v<T, Half>) {
    // Sign-magnitude to two's complement order.
    const auto Key = [](Half V) { return V.Bits & 0x8000 ? -int(V.Bits & 0x7fff) - 1 : int(V.Bits); };
    return (Key(A) < Key(B)) == Max ? B : A;
  } else {
    const T R = Max ? (A > B ? A : B) : (A < B ? A : B);
    return A == B ? fromBits<T>(Max ? toBits(A) & toBits(B) : toBits(A) | toBits(B)) : R;
  }
}

/// A FloatMode known not to flush, so that loops have one condition less.
struct KeepDenormals {
  template <class T> T flushInput(T V) const { return V; }
};

/// min and max: a NaN loses against a number; in IEEE mode a signalling NaN
/// is returned quiet instead.
template <class T, bool Max, class Mode> inline T extreme(T A, T B, bool Ieee, const Mode &M) {
  A = M.flushInput(A);
  B = M.flushInput(B);
  T R = pick<Max>(A, B);
  R = isNan(B) ? A : R;
  R = isNan(A) ? B : R;
  R = Ieee & isSignalling(B) ? quiet(B) : R;
  R = Ieee & isSignalling(A) ? quiet(A) : R;
  return R;
}
template <class T, class Mode> inline T minimum(T A, T B, bool Ieee, const Mode &M) {
  return extreme<T, false>(A, B, Ieee, M);
}
template <class T, class Mode> inline T maximum(T A, T B, bool Ieee, const Mode &M) {
  return extreme<T, true>(A, B, Ieee, M);
}

/// Handler of a two-source minimum or maximum.
template <class T, bool Max> void extremeHandler(Wave &W, const Inst &I) {
  const FloatMode M = FloatMode::of<T>(W.Mode);
  const bool Ieee = W.Mode & ModeIeee;
  const Source<T> A(W, I, 0), B(W, I, 1);
  if (M.FlushIn)
    emit<T>(W, I, [&](unsigned L) { return extreme<T, Max>(A[L], B[L], Ieee, M); });
  else
    emit<T>(W, I, [&](unsigned L) { return extreme<T, Max>(A[L], B[L], Ieee, KeepDenormals()); });
}

template <class T> inline T median(T A, T B, T C, bool Ieee, const FloatMode &M) {
  const T Low = minimum(minimum(A, B, Ieee, M), C, Ieee, M);
  const T Mid = maximum(minimum(A, B, Ieee, M),
                        minimum(maximum(A, B, Ieee, M), C, Ieee, M), Ieee, M);
  return isNan(A) || isNan(B) || isNan(C) ? Low : Mid;
}

enum Rounding { RoundDown, RoundUp, RoundZero, RoundEven };

/// To an integral value. The host is in its default mode here.
template <Rounding R> inline F64 integral(F64 V) {
  return R == RoundDown ? __builtin_floor(V)
         : R == RoundUp ? __builtin_ceil(V)
         : R == RoundZero ? __builtin_trunc(V)
                          : __builtin_nearbyint(V);
}
template <Rounding R> inline F32 integral(F32 V) {
  return R == RoundDown ? __builtin_floorf(V)
         : R == RoundUp ? __builtin_ceilf(V)
         : R == RoundZero ? __builtin_truncf(V)
                          : __builtin_nearbyintf(V);
}
template <Rounding R, class T> inline T rounded(T V, const FloatMode &M) {
  V = M.flushInput(V);
  return isNan(V) ? quiet(V) : integral<R>(V);
}

/// V - floor(V), below 1.
template <class T> inline T fraction(T V, const FloatMode &M) {
  V = M.flushInput(V);
  const T R = V - integral<RoundDown>(V);
  constexpr BitsOf<T> BelowOne =
      (BitsOf<T>(FloatTraits<T>::Bias) << FloatTraits<T>::Mantissa) - 1;
  return nanRule(R < T(1) || isNan(R) ? R : fromBits<T>(BelowOne), V);
}

/// frexp: V = significand * 2^exponent with significand in [0.5, 1).
template <class T> inline int exponentOf(T V) { // finite, not 0
  constexpr int Bits = FloatTraits<T>::Mantissa;
  const int Field = exponentField(V);
  if (Field != 0)
    return Field - FloatTraits<T>::Bias + 1;
  const unsigned long long M = magnitude(V);
  return (63 - __builtin_clzll(M)) - Bits + 2 - FloatTraits<T>::Bias;
}
template <class T> inline I32 exponent(T V, const FloatMode &M) {
  V = M.flushInput(V);
  return exponentField(V) == FloatTraits<T>::MaxExponent || isZero(V) ? 0 : exponentOf(V);
}
template <class T> inline T significand(T V, const FloatMode &M) {
  V = M.flushInput(V);
  constexpr int Bits = FloatTraits<T>::Mantissa;
  if (isNan(V))
    return quiet(V);
  if (isInf(V) || isZero(V))
    return V;
  BitsOf<T> Fraction = BitsOf<T>(magnitude(V));
  if (exponentField(V) == 0) // bring the leading one to the implicit place
    Fraction = BitsOf<T>(Fraction << (Bits - (63 - __builtin_clzll(Fraction))));
  Fraction &= BitsOf<T>((BitsOf<T>(1) << Bits) - 1);
  return withSign(
      fromBits<T>(BitsOf<T>(BitsOf<T>(FloatTraits<T>::Bias - 1) << Bits | Fraction)),
      isNegative(V));
}

/// V * 2^E with one rounding.
inline F64 powerOfTwo(int E) { return fromBits<F64>(U64(E + 1023) << 52); } // normal E only
inline F32 scaled(F32 V, I32 E) {
  // A float times a double power of two within +-500 is exact in double.
  const I32 K = E < -500 ? -500 : E > 500 ? 500 : E;
  return nanRule(F32(F64(V) * powerOfTwo(K)), V);
}
/// Whether V * 2^E only changes the exponent field.
template <class T> inline bool scalesExactly(T V, I32 E) {
  const int Field = exponentField(V);
  const I32 K = E < -4000 ? -4000 : E > 4000 ? 4000 : E;
  return (Field != 0) & (Field != FloatTraits<T>::MaxExponent) & (Field + K > 0) &
         (Field + K < FloatTraits<T>::MaxExponent);
}
template <class T> inline T scaleExactly(T V, I32 E) {
  return fromBits<T>(toBits(V) + (BitsOf<T>(E) << FloatTraits<T>::Mantissa));
}
inline F64 scaled(F64 V, I32 E) {
  if (isNan(V))
    return quiet(V);
  if (isInf(V) || isZero(V))
    return V;
  // Bring the result near 1 exactly, then scale once or twice: only the last
  // multiplication can round.
  I64 Wanted = I64(exponentOf(V)) + E;
  Wanted = Wanted < -1200 ? -1200 : Wanted > 1200 ? 1200 : Wanted;
  const F64 S = significand(V, FloatMode{0, false, false});
  if (Wanted > 1000)
    return S * powerOfTwo(1000) * powerOfTwo(int(Wanted - 1000));
  if (Wanted < -1000)
    return S * powerOfTwo(-1000) * powerOfTwo(int(Wanted + 1000));
  return S * powerOfTwo(int(Wanted));
}

// Cube maps: which axis is the largest, and the coordinates on that face.
inline int cubeAxis(F32 X, F32 Y, F32 Z) {
  const F32 AX = absolute(X), AY = absolute(Y), AZ = absolute(Z);
  return AZ >= AX && AZ >= AY ? 2 : AY >= AX ? 1 : 0;
}
inline F32 cubeFace(F32 X, F32 Y, F32 Z) {
  switch (cubeAxis(X, Y, Z)) {
  case 2: return Z < 0 ? 5 : 4;
  case 1: return Y < 0 ? 3 : 2;
  default: return X < 0 ? 1 : 0;
  }
}
inline F32 cubeS(F32 X, F32 Y, F32 Z) {
  switch (cubeAxis(X, Y, Z)) {
  case 2: return Z < 0 ? -X : X;
  case 1: return X;
  default: return X < 0 ? Z : -Z;
  }
}
inline F32 cubeT(F32 X, F32 Y, F32 Z) {
  switch (cubeAxis(X, Y, Z)) {
  case 1: return Y < 0 ? -Z : Z;
  default: return -Y;
  }
}
inline F32 cubeMajor(F32 X, F32 Y, F32 Z) {
  const int Axis = cubeAxis(X, Y, Z);
  return 2 * (Axis == 2 ? Z : Axis == 1 ? Y : X);
}

} // namespace vgpu::VGPU_SIMD

#endif
