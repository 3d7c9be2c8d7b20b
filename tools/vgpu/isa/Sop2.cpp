// SOP2: scalar instructions with two sources.
#include "ScalarOps.h"
#include "Tables.h"

namespace vgpu {

namespace {

/// Logical operations and shifts: SCC says whether the result is not zero.
template <class T> T withScc(Wave &W, T Result) {
  W.Scc = Result != 0;
  return Result;
}

template <class T> T bitFieldMask(uint32_t Count, uint32_t Offset) {
  constexpr uint32_t M = sizeof(T) * 8 - 1;
  return T(((T(1) << (Count & M)) - 1) << (Offset & M));
}

/// Control: offset in the low bits, width in bits 22..16. A field that goes
/// beyond the top is cut there.
template <class T, bool Signed> T bitFieldExtract(T Value, uint32_t Control) {
  constexpr uint32_t Bits = sizeof(T) * 8;
  const uint32_t Offset = Control & (Bits - 1);
  uint32_t Width = (Control >> 16) & 0x7f;
  if (Width == 0)
    return 0;
  if (Width > Bits - Offset)
    Width = Bits - Offset;
  const T Top = T(Value << (Bits - Offset - Width));
  if (Signed)
    return T(std::make_signed_t<T>(Top) >> (Bits - Width));
  return T(Top >> (Bits - Width));
}

template <unsigned Shift> uint32_t shiftAdd(Wave &W, uint32_t A, uint32_t B) {
  const uint64_t Sum = (uint64_t(A) << Shift) + B;
  W.Scc = Sum >> 32 != 0;
  return uint32_t(Sum);
}

#define LOGIC(Name, Expression)                                                                    \
  VGPU_SOP2(Name "_b32", S32, S32, S32, { return withScc<S32>(W, Expression); }),                  \
      VGPU_SOP2(Name "_b64", S64, S64, S64, { return withScc<S64>(W, Expression); })

const OpEntry Ops[] = {
    VGPU_SOP2("s_add_u32", S32, S32, S32, {
      W.Scc = __builtin_add_overflow(S0, S1, &S0);
      return S0;
    }),
    VGPU_SOP2("s_sub_u32", S32, S32, S32, {
      W.Scc = S1 > S0;
      return S0 - S1;
    }),
    VGPU_SOP2("s_add_i32", S32, S32, S32, {
      int32_t R;
      W.Scc = __builtin_add_overflow(int32_t(S0), int32_t(S1), &R);
      return uint32_t(R);
    }),
    VGPU_SOP2("s_sub_i32", S32, S32, S32, {
      int32_t R;
      W.Scc = __builtin_sub_overflow(int32_t(S0), int32_t(S1), &R);
      return uint32_t(R);
    }),
    VGPU_SOP2("s_addc_u32", S32, S32, S32, {
      const uint64_t R = uint64_t(S0) + S1 + W.Scc;
      W.Scc = R >> 32 != 0;
      return uint32_t(R);
    }),
    VGPU_SOP2("s_subb_u32", S32, S32, S32, {
      const uint64_t R = uint64_t(S0) - S1 - W.Scc;
      W.Scc = R >> 32 != 0;
      return uint32_t(R);
    }),
    VGPU_SOP2("s_min_i32", S32, S32, S32, {
      W.Scc = int32_t(S0) < int32_t(S1);
      return W.Scc ? S0 : S1;
    }),
    VGPU_SOP2("s_min_u32", S32, S32, S32, {
      W.Scc = S0 < S1;
      return W.Scc ? S0 : S1;
    }),
    VGPU_SOP2("s_max_i32", S32, S32, S32, {
      W.Scc = int32_t(S0) > int32_t(S1);
      return W.Scc ? S0 : S1;
    }),
    VGPU_SOP2("s_max_u32", S32, S32, S32, {
      W.Scc = S0 > S1;
      return W.Scc ? S0 : S1;
    }),
    VGPU_SOP2("s_cselect_b32", S32, S32, S32, { return W.Scc ? S0 : S1; }),
    VGPU_SOP2("s_cselect_b64", S64, S64, S64, { return W.Scc ? S0 : S1; }),
    LOGIC("s_and", S0 & S1),
    LOGIC("s_or", S0 | S1),
    LOGIC("s_xor", S0 ^ S1),
    LOGIC("s_andn2", S0 & ~S1),
    LOGIC("s_orn2", S0 | ~S1),
    LOGIC("s_nand", ~(S0 & S1)),
    LOGIC("s_nor", ~(S0 | S1)),
    LOGIC("s_xnor", ~(S0 ^ S1)),
    VGPU_SOP2("s_lshl_b32", S32, S32, S32, { return withScc<S32>(W, S0 << (S1 & 31)); }),
    VGPU_SOP2("s_lshl_b64", S64, S64, S32, { return withScc<S64>(W, S0 << (S1 & 63)); }),
    VGPU_SOP2("s_lshr_b32", S32, S32, S32, { return withScc<S32>(W, S0 >> (S1 & 31)); }),
    VGPU_SOP2("s_lshr_b64", S64, S64, S32, { return withScc<S64>(W, S0 >> (S1 & 63)); }),
    VGPU_SOP2("s_ashr_i32", S32, S32, S32,
              { return withScc<S32>(W, uint32_t(int32_t(S0) >> (S1 & 31))); }),
    VGPU_SOP2("s_ashr_i64", S64, S64, S32,
              { return withScc<S64>(W, uint64_t(int64_t(S0) >> (S1 & 63))); }),
    VGPU_SOP2("s_bfm_b32", S32, S32, S32, {
      (void)W;
      return bitFieldMask<S32>(S0, S1);
    }),
    VGPU_SOP2("s_bfm_b64", S64, S32, S32, {
      (void)W;
      return bitFieldMask<S64>(S0, S1);
    }),
    VGPU_SOP2("s_mul_i32", S32, S32, S32, {
      (void)W;
      return S0 * S1;
    }),
    VGPU_SOP2("s_bfe_u32", S32, S32, S32,
              { return withScc<S32>(W, bitFieldExtract<S32, false>(S0, S1)); }),
    VGPU_SOP2("s_bfe_i32", S32, S32, S32,
              { return withScc<S32>(W, bitFieldExtract<S32, true>(S0, S1)); }),
    VGPU_SOP2("s_bfe_u64", S64, S64, S32,
              { return withScc<S64>(W, bitFieldExtract<S64, false>(S0, S1)); }),
    VGPU_SOP2("s_bfe_i64", S64, S64, S32,
              { return withScc<S64>(W, bitFieldExtract<S64, true>(S0, S1)); }),
    VGPU_SOP2("s_absdiff_i32", S32, S32, S32, {
      const uint32_t R = S0 - S1;
      return withScc<S32>(W, int32_t(R) < 0 ? 0 - R : R);
    }),
    VGPU_SOP2("s_mul_hi_u32", S32, S32, S32, {
      (void)W;
      return uint32_t((uint64_t(S0) * S1) >> 32);
    }),
    VGPU_SOP2("s_mul_hi_i32", S32, S32, S32, {
      (void)W;
      return uint32_t(uint64_t(int64_t(int32_t(S0)) * int32_t(S1)) >> 32);
    }),
    VGPU_SOP2("s_lshl1_add_u32", S32, S32, S32, { return shiftAdd<1>(W, S0, S1); }),
    VGPU_SOP2("s_lshl2_add_u32", S32, S32, S32, { return shiftAdd<2>(W, S0, S1); }),
    VGPU_SOP2("s_lshl3_add_u32", S32, S32, S32, { return shiftAdd<3>(W, S0, S1); }),
    VGPU_SOP2("s_lshl4_add_u32", S32, S32, S32, { return shiftAdd<4>(W, S0, S1); }),
    VGPU_SOP2("s_pack_ll_b32_b16", S32, S32, S32, {
      (void)W;
      return (S0 & 0xffff) | S1 << 16;
    }),
    VGPU_SOP2("s_pack_lh_b32_b16", S32, S32, S32, {
      (void)W;
      return (S0 & 0xffff) | (S1 & 0xffff0000);
    }),
    VGPU_SOP2("s_pack_hh_b32_b16", S32, S32, S32, {
      (void)W;
      return S0 >> 16 | (S1 & 0xffff0000);
    }),
};

} // namespace

const OpTable Sop2Ops = {Ops, sizeof Ops / sizeof *Ops};

} // namespace vgpu
