// IEEE formats as the device sees them: bit casts, NaN rules, half precision
// in software, and the scope that puts the wave's rounding and denormal modes
// into the host's MXCSR. Included by the vector files only (VGPU_SIMD set).
#ifndef VGPU_ISA_FLOATBITS_H
#define VGPU_ISA_FLOATBITS_H

#include "core/Wave.h"

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <xmmintrin.h>

#ifndef VGPU_SIMD
#error "compile with VGPU_SIMD=base or v3"
#endif
// Everything below may use wider vectors. Headers shared with other files
// come before this line, so that their inline functions stay portable.
#ifdef VGPU_SIMD_V3
#pragma GCC target("arch=x86-64-v3")
#endif

namespace vgpu::VGPU_SIMD {

/// A half: its bits. Arithmetic goes through double.
struct Half {
  uint16_t Bits;
};

template <class T> struct FloatTraits;
template <> struct FloatTraits<float> {
  using Bits = uint32_t;
  static constexpr Bits Sign = 0x80000000, Inf = 0x7f800000, Quiet = 0x00400000;
  static constexpr int Mantissa = 23, MaxExponent = 255, Bias = 127;
};
template <> struct FloatTraits<double> {
  using Bits = uint64_t;
  static constexpr Bits Sign = 0x8000000000000000, Inf = 0x7ff0000000000000,
                        Quiet = 0x0008000000000000;
  static constexpr int Mantissa = 52, MaxExponent = 2047, Bias = 1023;
};
template <> struct FloatTraits<Half> {
  using Bits = uint16_t;
  static constexpr Bits Sign = 0x8000, Inf = 0x7c00, Quiet = 0x0200;
  static constexpr int Mantissa = 10, MaxExponent = 31, Bias = 15;
};

template <class T> using BitsOf = typename FloatTraits<T>::Bits;
template <class T> inline BitsOf<T> toBits(T Value) {
  return __builtin_bit_cast(BitsOf<T>, Value);
}
template <class T> inline T fromBits(BitsOf<T> Bits) { return __builtin_bit_cast(T, Bits); }

template <class T> inline BitsOf<T> magnitude(T Value) {
  return BitsOf<T>(toBits(Value) & ~FloatTraits<T>::Sign);
}
template <class T> inline bool isNan(T V) { return magnitude(V) > FloatTraits<T>::Inf; }
template <> inline bool isNan(float V) { return V != V; } // one instruction when vectorised
template <> inline bool isNan(double V) { return V != V; }
template <class T> inline bool isInf(T V) { return magnitude(V) == FloatTraits<T>::Inf; }
template <class T> inline bool isZero(T V) { return magnitude(V) == 0; }
template <class T> inline bool isNegative(T V) { return toBits(V) & FloatTraits<T>::Sign; }
template <class T> inline bool isSignalling(T V) {
  return isNan(V) & !(toBits(V) & FloatTraits<T>::Quiet);
}
template <class T> inline int exponentField(T V) {
  return int(magnitude(V) >> FloatTraits<T>::Mantissa);
}
template <class T> inline bool isDenormal(T V) { return exponentField(V) == 0 && !isZero(V); }
template <class T> inline T quiet(T V) { return fromBits<T>(BitsOf<T>(toBits(V) | FloatTraits<T>::Quiet)); }
template <class T> inline T negate(T V) { return fromBits<T>(BitsOf<T>(toBits(V) ^ FloatTraits<T>::Sign)); }
template <class T> inline T absolute(T V) { return fromBits<T>(magnitude(V)); }
template <class T> inline T withSign(T V, bool Negative) {
  return fromBits<T>(BitsOf<T>(magnitude(V) | (Negative ? FloatTraits<T>::Sign : 0)));
}
template <class T> inline T infinity() { return fromBits<T>(FloatTraits<T>::Inf); }
template <class T> inline T defaultNan() {
  return fromBits<T>(BitsOf<T>(FloatTraits<T>::Inf | FloatTraits<T>::Quiet));
}

/// NaN results: the first NaN among the sources, made quiet; else the default
/// NaN, positive. (A host would give other payloads and signs.)
template <class T> inline T nanRule(T R, T A) {
  const T N = isNan(A) ? quiet(A) : defaultNan<T>();
  return isNan(R) ? N : R;
}
template <class T> inline T nanRule(T R, T A, T B) {
  const T N = isNan(A) ? quiet(A) : isNan(B) ? quiet(B) : defaultNan<T>();
  return isNan(R) ? N : R;
}
template <class T> inline T nanRule(T R, T A, T B, T C) {
  const T N = isNan(A)   ? quiet(A)
              : isNan(B) ? quiet(B)
              : isNan(C) ? quiet(C)
                         : defaultNan<T>();
  return isNan(R) ? N : R;
}

/// Rounding and denormal mode of one float type, taken from MODE.
struct FloatMode {
  unsigned Round;   // 0 nearest even, 1 +inf, 2 -inf, 3 zero
  bool FlushIn, FlushOut;

  static FloatMode of32(uint32_t Mode) {
    return {(Mode >> ModeRound32Shift) & 3, !((Mode >> ModeDenorm32Shift) & 1),
            !((Mode >> ModeDenorm32Shift) & 2)};
  }
  static FloatMode of64(uint32_t Mode) {
    return {(Mode >> ModeRound64Shift) & 3, !((Mode >> ModeDenorm64Shift) & 1),
            !((Mode >> ModeDenorm64Shift) & 2)};
  }
  template <class T> static FloatMode of(uint32_t Mode) {
    return std::is_same_v<T, float> ? of32(Mode) : of64(Mode);
  }
  bool isDefault() const { return Round == 0 && !FlushIn && !FlushOut; }
  template <class T> T flushInput(T V) const {
    return FlushIn && exponentField(V) == 0 ? withSign(fromBits<T>(0), isNegative(V)) : V;
  }
  template <class T> T flushOutput(T V) const {
    return FlushOut && exponentField(V) == 0 ? withSign(fromBits<T>(0), isNegative(V)) : V;
  }
};

/// Host arithmetic between construction and destruction follows the mode.
/// Nearly always the mode is the host's own, and this is one test.
class FloatScope {
public:
  explicit FloatScope(FloatMode M) : Changed(!M.isDefault()) {
    if (__builtin_expect(Changed, false)) {
      // MXCSR: rounding control in 14..13 (0 nearest, 1 down, 2 up, 3 zero).
      static const unsigned HostRound[4] = {0, 2, 1, 3};
      _mm_setcsr(0x1f80u | HostRound[M.Round] << 13 | (M.FlushIn ? 1u << 6 : 0) |
                 (M.FlushOut ? 1u << 15 : 0));
      asm volatile("" ::: "memory");
    }
  }
  ~FloatScope() {
    if (__builtin_expect(Changed, false)) {
      asm volatile("" ::: "memory");
      _mm_setcsr(0x1f80u);
    }
  }
  FloatScope(const FloatScope &) = delete;
  FloatScope &operator=(const FloatScope &) = delete;

private:
  bool Changed;
};

inline double toDouble(Half H) {
  const uint32_t Exponent = (H.Bits >> 10) & 31, Fraction = H.Bits & 0x3ff;
  const uint64_t Sign = uint64_t(H.Bits & 0x8000) << 48;
  if (Exponent == 31)
    return fromBits<double>(Sign | 0x7ff0000000000000 | uint64_t(Fraction) << 42);
  if (Exponent != 0)
    return fromBits<double>(Sign | uint64_t(Exponent + 1008) << 52 | uint64_t(Fraction) << 42);
  const double Small = double(Fraction) * 0x1p-24;
  return fromBits<double>(Sign | toBits(Small));
}
inline float toFloat(Half H) {
  if (isNan(H)) // keep the payload, signalling or not
    return fromBits<float>(uint32_t(H.Bits & 0x8000) << 16 | 0x7f800000 |
                           uint32_t(H.Bits & 0x3ff) << 13);
  return float(toDouble(H));
}

/// One rounding from double to half. NaNs keep the top of their payload.
inline Half toHalf(double Value, FloatMode M) {
  const uint64_t Bits = toBits(Value);
  const uint16_t Sign = uint16_t((Bits >> 48) & 0x8000);
  const uint64_t Mag = Bits & ~FloatTraits<double>::Sign;
  if (Mag > FloatTraits<double>::Inf)
    return {uint16_t(Sign | 0x7e00 | ((Mag >> 42) & 0x3ff))};
  if (Mag == FloatTraits<double>::Inf)
    return {uint16_t(Sign | 0x7c00)};
  const int Exponent = int(Mag >> 52) - 1023;
  if (Mag == 0 || Exponent < -60)
    return {uint16_t(Sign | (Mag != 0 && !M.FlushOut &&
                             ((M.Round == 1 && !Sign) || (M.Round == 2 && Sign))))};
  const uint64_t Significand = (Mag & 0xfffffffffffff) | uint64_t(1) << 52;
  // Bits below the result's last place: 42 for normal halves, more for denormal ones.
  const unsigned Drop = Exponent >= -14 ? 42 : unsigned(42 + (-14 - Exponent));
  uint32_t Kept = Drop > 63 ? 0 : uint32_t(Significand >> Drop);
  const uint64_t Rest = Drop > 63 ? Significand : Significand & ((uint64_t(1) << Drop) - 1);
  const uint64_t HalfPlace = Drop > 63 ? ~uint64_t(0) : uint64_t(1) << (Drop - 1);
  bool Up = false;
  switch (M.Round) {
  case 0: Up = Rest > HalfPlace || (Rest == HalfPlace && (Kept & 1)); break;
  case 1: Up = Rest && !Sign; break;
  case 2: Up = Rest && Sign; break;
  }
  // Kept holds the implicit bit for normal results, so adding carries right.
  uint32_t Result = Exponent >= -14 ? uint32_t(Exponent + 14) * 1024 + Kept : Kept;
  Result += Up;
  if (Result >= 0x7c00) { // overflow
    const bool ToInf = M.Round == 0 || (M.Round == 1 && !Sign) || (M.Round == 2 && Sign);
    Result = ToInf ? 0x7c00 : 0x7bff;
  }
  if (M.FlushOut && Result < 0x400)
    Result = 0;
  return {uint16_t(Sign | Result)};
}

/// a * b + c where a * b is exact in double; the result is rounded to odd, so
/// that one more rounding to at most 51 bits is right in every mode.
inline double fmaToOdd(double A, double B, double C) {
  const double P = A * B, S = P + C;
  const double T = S - P;
  const double Error = (P - (S - T)) + (C - T);
  if (Error != 0 && std::isfinite(S)) {
    uint64_t Bits = toBits(S);
    if (!(Bits & 1)) {
      // The exact value lies beyond S on the side of Error's sign.
      const bool Away = (Error > 0) == (S > 0);
      Bits += Away ? 1 : uint64_t(-1);
      return fromBits<double>(Bits);
    }
  }
  return S;
}

} // namespace vgpu::VGPU_SIMD

#endif
