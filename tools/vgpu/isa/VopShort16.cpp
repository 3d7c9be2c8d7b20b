// 16-bit integer vector instructions with one result a lane.
#include "isa/Vector.h"
#include "isa/VectorTables.h"

namespace vgpu::VGPU_SIMD {

namespace {

inline U16 clampU16(I32 V, bool Clamp) {
  return Clamp ? U16(V < 0 ? 0 : V > 0xffff ? 0xffff : V) : U16(V);
}
inline I16 clampI16(I64 V, bool Clamp) {
  return Clamp ? I16(V < INT16_MIN ? INT16_MIN : V > INT16_MAX ? INT16_MAX : V) : I16(V);
}
inline U16 madU16(U16 A, U16 B, U16 C, bool Clamp) {
  const U64 R = U64(U32(A) * B) + C;
  return Clamp && R > 0xffff ? U16(0xffff) : U16(R);
}
template <class T> inline T minOf(T A, T B) { return A < B ? A : B; }
template <class T> inline T maxOf(T A, T B) { return A > B ? A : B; }
template <class T> inline T median(T A, T B, T C) {
  return maxOf(minOf(A, B), minOf(maxOf(A, B), C));
}

const OpEntry Ops[] = {
    VGPU_V2("v_add_u16", Valu, U16, U16, U16, return clampU16(I32(a) + b, x.Clamp);),
    VGPU_V2("v_sub_u16", Valu, U16, U16, U16, return clampU16(I32(a) - b, x.Clamp);),
    VGPU_V2("v_subrev_u16", Valu, U16, U16, U16, return clampU16(I32(b) - a, x.Clamp);),
    VGPU_V2("v_add_i16", Valu, I16, I16, I16, return clampI16(I32(a) + b, x.Clamp);),
    VGPU_V2("v_sub_i16", Valu, I16, I16, I16, return clampI16(I32(a) - b, x.Clamp);),
    VGPU_V2("v_mul_lo_u16", Valu, U16, U16, U16, return madU16(a, b, 0, x.Clamp);),
    VGPU_V2("v_lshlrev_b16", Valu, U16, U16, U16, return U16(U32(b) << (a & 15));),
    VGPU_V2("v_lshrrev_b16", Valu, U16, U16, U16, return U16(b >> (a & 15));),
    VGPU_V2("v_ashrrev_i16", Valu, I16, U16, I16, return I16(b >> (a & 15));),
    VGPU_V2("v_min_u16", Valu, U16, U16, U16, return minOf(a, b);),
    VGPU_V2("v_max_u16", Valu, U16, U16, U16, return maxOf(a, b);),
    VGPU_V2("v_min_i16", Valu, I16, I16, I16, return minOf(a, b);),
    VGPU_V2("v_max_i16", Valu, I16, I16, I16, return maxOf(a, b);),
    VGPU_V3("v_min3_u16", Valu, U16, U16, U16, U16, return minOf(minOf(a, b), c);),
    VGPU_V3("v_max3_u16", Valu, U16, U16, U16, U16, return maxOf(maxOf(a, b), c);),
    VGPU_V3("v_med3_u16", Valu, U16, U16, U16, U16, return median(a, b, c);),
    VGPU_V3("v_min3_i16", Valu, I16, I16, I16, I16, return minOf(minOf(a, b), c);),
    VGPU_V3("v_max3_i16", Valu, I16, I16, I16, I16, return maxOf(maxOf(a, b), c);),
    VGPU_V3("v_med3_i16", Valu, I16, I16, I16, I16, return median(a, b, c);),
    VGPU_V3("v_mad_u16", Valu, U16, U16, U16, U16, return madU16(a, b, c, x.Clamp);),
    VGPU_V3("v_mad_legacy_u16", Valu, U16, U16, U16, U16, return madU16(a, b, c, x.Clamp);),
    VGPU_V3("v_mad_i16", Valu, I16, I16, I16, I16, return clampI16(I32(a) * b + I64(c), x.Clamp);),
    VGPU_V3("v_mad_legacy_i16", Valu, I16, I16, I16, I16,
            return clampI16(I32(a) * b + I64(c), x.Clamp);),
};

} // namespace

const OpTable Short16Ops = {Ops, sizeof Ops / sizeof *Ops};

} // namespace vgpu::VGPU_SIMD
