// Conversions. To integers they truncate (or round as named), saturate, and
// make NaN 0; to floats they round as MODE says.
#include "isa/FloatMath.h"
#include "isa/HalfMath.h"
#include "isa/Vector.h"
#include "isa/VectorTables.h"

namespace vgpu::VGPU_SIMD {

namespace {

template <class T> inline I32 toI32(T V) {
  if (isNan(V))
    return 0;
  return V >= T(2147483648.0) ? INT32_MAX : V <= T(-2147483648.0) ? INT32_MIN : I32(V);
}
template <class T> inline U32 toU32(T V) {
  if (!(V > T(0)))
    return 0;
  return V >= T(4294967296.0) ? UINT32_MAX : U32(I64(V));
}
inline I32 toIntegral(F64 V, I32 Min, I32 Max) { // V integral or NaN
  return V != V ? 0 : V <= Min ? Min : V >= Max ? Max : I32(V);
}

/// Fixed point of a value clamped to [-1, 1] or [0, 1], nearest even.
inline I16 normI16(F64 V) {
  return I16(toIntegral(__builtin_nearbyint(V * 32767.0), -32767, 32767));
}
inline U16 normU16(F64 V) { return U16(toIntegral(__builtin_nearbyint(V * 65535.0), 0, 65535)); }

inline U32 pack(U16 Low, U16 High) { return U32(Low) | U32(High) << 16; }

/// A float rounded to half towards zero: no denormal flushing, no overflow to inf.
inline Half toHalfZero(F32 V) {
  if (isNan(V))
    return {U16(toBits(V) >> 16 & 0x8000) ? U16(0xfe00 | (toBits(V) >> 13 & 0x3ff))
                                          : U16(0x7e00 | (toBits(V) >> 13 & 0x3ff))};
  return toHalf(F64(V), FloatMode{3, false, false});
}

inline Half floatToHalf(F32 V, const Context &X) {
  return toHalf(F64(X.Float32.flushInput(V)), X.Float64);
}
inline F32 halfToFloat(Half V, const Context &X) {
  V = X.Float64.flushInput(V);
  return isNan(V) ? quiet(toFloat(V)) : toFloat(V);
}
// Nearly all code keeps denormals and rounds to nearest even: that is a loop of
// its own, which vectorises.
void singleToHalf(Wave &W, const Inst &I) {
  const Context X(W, I);
  const Source<F32> A(W, I, 0);
  if (X.Float64.isDefault() && !X.Float32.FlushIn)
    emit<Half>(W, I, [&](unsigned L) { return DefaultHalf::narrowKeepingNan(A[L]); });
  else
    emit<Half>(W, I, [&](unsigned L) { return floatToHalf(A[L], X); });
}
void halfToSingle(Wave &W, const Inst &I) {
  const Context X(W, I);
  const Source<Half> A(W, I, 0);
  if (!X.Float64.FlushIn)
    emit<F32>(W, I, [&](unsigned L) {
      const U32 Bits = toBits(DefaultHalf::widen(A[L]));
      return fromBits<F32>((Bits & 0x7fffffff) > 0x7f800000 ? Bits | 0x00400000 : Bits);
    });
  else
    emit<F32>(W, I, [&](unsigned L) { return halfToFloat(A[L], X); });
}

inline F32 doubleToFloat(F64 V, const Context &X) {
  // Inputs flush by the f64 mode, the result by the f32 mode.
  V = X.Float64.flushInput(V);
  if (isNan(V)) {
    const U64 B = toBits(V);
    return fromBits<F32>(U32(B >> 32 & 0x80000000) | 0x7fc00000 | U32(B >> 29 & 0x3fffff));
  }
  return X.Float32.flushOutput(F32(V));
}
void doubleToSingle(Wave &W, const Inst &I) {
  const Context X(W, I);
  // The host must not flush denormal doubles because singles are flushed.
  FloatScope Scope(FloatMode{X.Float32.Round, false, X.Float32.FlushOut});
  const Source<F64> A(W, I, 0);
  emit<F32>(W, I, [&](unsigned L) { return doubleToFloat(A[L], X); });
}
inline F64 floatToDouble(F32 V, const Context &X) {
  V = X.Float32.flushInput(V);
  if (isNan(V))
    return fromBits<F64>(U64(toBits(V) & 0x80000000) << 32 | 0x7ff8000000000000 |
                         U64(toBits(V) & 0x3fffff) << 29);
  return F64(V);
}

/// Byte from a float: rounded to nearest even and clamped.
inline U32 toByte(F32 V) { return U32(toIntegral(__builtin_nearbyint(F64(V)), 0, 255)); }

void packByte(Wave &W, const Inst &I) {
  const Source<F32> A(W, I, 0);
  const Source<U32> B(W, I, 1), C(W, I, 2);
  emit<U32>(W, I, [&](unsigned L) {
    const U32 Shift = 8 * (B[L] & 3);
    return (C[L] & ~(255u << Shift)) | toByte(A[L]) << Shift;
  });
}
/// The accumulating form keeps the other bytes of the destination.
void packByteAccumulate(Wave &W, const Inst &I) {
  const Source<F32> A(W, I, 0);
  const Source<U32> B(W, I, 1);
  const uint32_t *Old = W.Vgpr[I.Dst.Reg].Lane;
  emit<U32>(W, I, [&](unsigned L) {
    const U32 Shift = 8 * (B[L] & 3);
    return (Old[L] & ~(255u << Shift)) | toByte(A[L]) << Shift;
  });
}

#define UBYTE(N)                                                                                   \
  VGPU_V1X("v_cvt_f32_ubyte" #N, Valu, 0, F32, F32, U32, return F32(a >> (8 * N) & 255);)

const OpEntry Ops[] = {
    VGPU_V1("v_cvt_f32_i32", Valu, F32, I32, return F32(a);),
    VGPU_V1("v_cvt_f32_u32", Valu, F32, U32, return F32(a);),
    VGPU_V1X("v_cvt_i32_f32", Valu, 0, I32, U32, F32, return toI32(a);),
    VGPU_V1X("v_cvt_u32_f32", Valu, 0, U32, U32, F32, return toU32(a);),
    VGPU_V1X("v_cvt_rpi_i32_f32", Valu, 0, I32, U32, F32,
             return toI32(__builtin_floor(F64(a) + 0.5));),
    VGPU_V1X("v_cvt_flr_i32_f32", Valu, 0, I32, U32, F32, return toI32(__builtin_floorf(a));),
    VGPU_V1X("v_cvt_off_f32_i4", Valu, 0, F32, U32, U32,
             return F32(I32(a << 28) >> 28) * 0.0625f;),
    UBYTE(0), UBYTE(1), UBYTE(2), UBYTE(3),
    VGPU_V1X("v_cvt_f64_i32", ValuF64, 0, F64, U32, I32, return F64(a);),
    VGPU_V1X("v_cvt_f64_u32", ValuF64, 0, F64, U32, U32, return F64(a);),
    VGPU_V1X("v_cvt_i32_f64", ValuF64, 0, I32, U32, F64, return toI32(a);),
    VGPU_V1X("v_cvt_u32_f64", ValuF64, 0, U32, U32, F64, return toU32(a);),
    {"v_cvt_f32_f64", doubleToSingle, OpClass::ValuF64, 0, Ty::F32,
     {Ty::F64, Ty::None, Ty::None}, 0},
    VGPU_V1X("v_cvt_f64_f32", ValuF64, 0, F64, U32, F32, return floatToDouble(a, x);),
    {"v_cvt_f16_f32", singleToHalf, OpClass::Valu, 0, Ty::F16, {Ty::F32, Ty::None, Ty::None}, 0},
    {"v_cvt_f32_f16", halfToSingle, OpClass::Valu, 0, Ty::F32, {Ty::F16, Ty::None, Ty::None}, 0},
    VGPU_V1("v_cvt_f16_u16", Valu, F16, U16, return toHalf(F64(a), x.Float64);),
    VGPU_V1("v_cvt_f16_i16", Valu, F16, I16, return toHalf(F64(a), x.Float64);),
    VGPU_V1X("v_cvt_u16_f16", Valu, 0, U16, U32, F16,
             return U16(toIntegral(__builtin_trunc(toDouble(a)), 0, 0xffff));),
    VGPU_V1X("v_cvt_i16_f16", Valu, 0, I16, U32, F16,
             return I16(toIntegral(__builtin_trunc(toDouble(a)), INT16_MIN, INT16_MAX));),
    VGPU_V1X("v_cvt_norm_i16_f16", Valu, 0, I16, U32, F16, return normI16(toDouble(a));),
    VGPU_V1X("v_cvt_norm_u16_f16", Valu, 0, U16, U32, F16, return normU16(toDouble(a));),
    VGPU_V2X("v_cvt_pknorm_i16_f32", Valu, 0, U32, U32, F32, F32,
             return pack(U16(normI16(a)), U16(normI16(b)));),
    VGPU_V2X("v_cvt_pknorm_u16_f32", Valu, 0, U32, U32, F32, F32,
             return pack(normU16(a), normU16(b));),
    VGPU_V2X("v_cvt_pknorm_i16_f16", Valu, 0, U32, U32, F16, F16,
             return pack(U16(normI16(toDouble(a))), U16(normI16(toDouble(b))));),
    VGPU_V2X("v_cvt_pknorm_u16_f16", Valu, 0, U32, U32, F16, F16,
             return pack(normU16(toDouble(a)), normU16(toDouble(b)));),
    VGPU_V2X("v_cvt_pkrtz_f16_f32", Valu, 0, U32, U32, F32, F32,
             return pack(toHalfZero(a).Bits, toHalfZero(b).Bits);),
    {"v_cvt_pk_u8_f32", packByte, OpClass::Valu, 0, Ty::B32, {Ty::F32, Ty::B32, Ty::B32}, 0},
    {"v_cvt_pkaccum_u8_f32", packByteAccumulate, OpClass::Valu, 0, Ty::B32,
     {Ty::F32, Ty::B32, Ty::None}, 0},
};

} // namespace

const OpTable ConvertOps = {Ops, sizeof Ops / sizeof *Ops};

} // namespace vgpu::VGPU_SIMD
