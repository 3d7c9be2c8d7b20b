// Floating-point read-modify-write as the memory units do it: always to nearest
// even. LDS keeps denormals as MODE says; memory flushes those of single
// precision and keeps the others (LLVM's SIISelLowering on FP atomics).
#ifndef VGPU_ISA_MEMFLOAT_H
#define VGPU_ISA_MEMFLOAT_H

#include "core/Wave.h"

#include <cstdint>
#include <cstring>

namespace vgpu {

/// Which denormals an operation keeps; the others become zeros of their sign.
struct Denormals {
  bool Inputs, Results;
  static Denormals of32(uint32_t Mode) { return of(Mode >> ModeDenorm32Shift); }
  static Denormals of64(uint32_t Mode) { return of(Mode >> ModeDenorm64Shift); }

private:
  static Denormals of(uint32_t Bits) { return {(Bits & 1) != 0, (Bits & 2) != 0}; }
};

/// Single precision in 32 bits, double in 64.
template <typename T> struct FloatIn;
template <> struct FloatIn<uint32_t> {
  using Type = float;
  static constexpr uint32_t Sign = 0x80000000, Infinity = 0x7f800000, Quiet = 0x00400000;
};
template <> struct FloatIn<uint64_t> {
  using Type = double;
  static constexpr uint64_t Sign = 0x8000000000000000, Infinity = 0x7ff0000000000000,
                            Quiet = 0x0008000000000000;
};

template <typename T> inline typename FloatIn<T>::Type floatOf(T Bits) {
  typename FloatIn<T>::Type Value;
  std::memcpy(&Value, &Bits, sizeof Value);
  return Value;
}
template <typename T> inline bool isNanBits(T Bits) {
  return (Bits & ~FloatIn<T>::Sign) > FloatIn<T>::Infinity;
}
template <typename T> inline T flushBits(T Bits, bool Keep) {
  return !Keep && (Bits & FloatIn<T>::Infinity) == 0 ? Bits & FloatIn<T>::Sign : Bits;
}

/// NaN: the first one, made quiet; infinities that cancel give the default NaN.
template <typename T> inline T floatAdd(T Memory, T Data, Denormals Keep) {
  using F = FloatIn<T>;
  if (isNanBits(Memory))
    return Memory | F::Quiet;
  if (isNanBits(Data))
    return Data | F::Quiet;
  const auto Sum = floatOf(flushBits(Memory, Keep.Inputs)) + floatOf(flushBits(Data, Keep.Inputs));
  T Bits;
  std::memcpy(&Bits, &Sum, sizeof Bits);
  return isNanBits(Bits) ? F::Infinity | F::Quiet : flushBits(Bits, Keep.Results);
}

/// The smaller or larger; a NaN loses against a number.
template <bool Max, typename T> inline T floatExtreme(T Memory, T Data) {
  if (isNanBits(Memory) || isNanBits(Data))
    return isNanBits(Data) ? Memory : Data;
  const auto M = floatOf(Memory), D = floatOf(Data);
  if (M == D) // Of two zeros, -0 is the smaller.
    return Max ? Memory & Data : Memory | Data;
  return (D > M) == Max ? Data : Memory;
}

template <typename T> inline bool floatEqual(T A, T B) { return floatOf(A) == floatOf(B); }

/// Two sums of halves, denormals kept.
uint32_t packedHalfAdd(uint32_t Memory, uint32_t Data);

} // namespace vgpu

#endif
