// Byte-wise instructions: sums of absolute differences, averages, permutes,
// saturating packs.
#include "isa/Vector.h"
#include "isa/VectorTables.h"

namespace vgpu::VGPU_SIMD {

namespace {

inline U32 byteOf(U32 V, unsigned N) { return (V >> (8 * N)) & 255; }
inline U32 difference(U32 A, U32 B) { return A > B ? A - B : B - A; }

inline U32 sadBytes(U32 A, U32 B, bool Masked) {
  U32 Sum = 0;
  for (unsigned N = 0; N < 4; ++N)
    Sum += Masked && byteOf(B, N) == 0 ? 0 : difference(byteOf(A, N), byteOf(B, N));
  return Sum;
}
inline U32 sadWords(U32 A, U32 B) {
  return difference(A & 0xffff, B & 0xffff) + difference(A >> 16, B >> 16);
}
inline U32 accumulate(U32 Sum, U32 Acc, bool Clamp) {
  const U32 R = Sum + Acc;
  return Clamp && R < Sum ? ~0u : R;
}

inline U32 average(U32 A, U32 B, U32 Round) {
  U32 R = 0;
  for (unsigned N = 0; N < 4; ++N)
    R |= ((byteOf(A, N) + byteOf(B, N) + (byteOf(Round, N) & 1)) >> 1) << (8 * N);
  return R;
}

/// A holds bytes 7..4 of the source, B bytes 3..0.
inline U32 permute(U32 A, U32 B, U32 Selectors) {
  const U64 Data = U64(A) << 32 | B;
  U32 R = 0;
  for (unsigned N = 0; N < 4; ++N) {
    const U32 S = byteOf(Selectors, N);
    U32 V;
    if (S >= 13)
      V = 0xff;
    else if (S == 12)
      V = 0;
    else if (S >= 8) // sign of words 0..3 of the source
      V = (Data >> (16 * (S - 8) + 15)) & 1 ? 0xff : 0;
    else
      V = U32(Data >> (8 * S)) & 0xff;
    R |= V << (8 * N);
  }
  return R;
}

inline U32 saturateByte(I16 V) { return U32(V < 0 ? 0 : V > 255 ? 255 : V); }

const OpEntry Ops[] = {
    VGPU_V3("v_sad_u8", Valu, U32, U32, U32, U32,
            return accumulate(sadBytes(a, b, false), c, x.Clamp);),
    VGPU_V3("v_msad_u8", Valu, U32, U32, U32, U32,
            return accumulate(sadBytes(a, b, true), c, x.Clamp);),
    VGPU_V3("v_sad_hi_u8", Valu, U32, U32, U32, U32,
            return accumulate(sadBytes(a, b, false) << 16, c, x.Clamp);),
    VGPU_V3("v_sad_u16", Valu, U32, U32, U32, U32, return accumulate(sadWords(a, b), c, x.Clamp);),
    VGPU_V3("v_sad_u32", Valu, U32, U32, U32, U32,
            return accumulate(difference(a, b), c, x.Clamp);),
    VGPU_V3("v_lerp_u8", Valu, U32, U32, U32, U32, return average(a, b, c);),
    VGPU_V3("v_perm_b32", Valu, U32, U32, U32, U32, return permute(a, b, c);),
    VGPU_V1("v_sat_pk_u8_i16", Valu, U32, U32,
            return saturateByte(I16(a)) | saturateByte(I16(a >> 16)) << 8;),
    VGPU_V2("v_cvt_pk_u16_u32", Valu, U32, U32, U32,
            return (a > 0xffff ? 0xffff : a) | (b > 0xffff ? 0xffff : b) << 16;),
    VGPU_V2("v_cvt_pk_i16_i32", Valu, U32, I32, I32,
            const I32 p = a < INT16_MIN ? INT16_MIN : a > INT16_MAX ? INT16_MAX : a;
            const I32 q = b < INT16_MIN ? INT16_MIN : b > INT16_MAX ? INT16_MAX : b;
            return U32(U16(p)) | U32(U16(q)) << 16;),
};

} // namespace

const OpTable MediaOps = {Ops, sizeof Ops / sizeof *Ops};

} // namespace vgpu::VGPU_SIMD
