// Integer vector instructions of 32 bits: arithmetic with and without carry,
// shifts, logic, bit counting, selections.
#include "isa/Vector.h"
#include "isa/VectorTables.h"

namespace vgpu::VGPU_SIMD {

namespace {

uint64_t maskSource(const Wave &W, const Operand &O) {
  if (O.isSgpr())
    return W.scalarMask(O.Reg);
  return scalarSource<uint64_t>(W, O);
}

// In is ~0 for a carry, so subtracting it adds one; Carry comes out as ~0 or 0.
struct AddCarry {
  static constexpr uint32_t Saturated = ~0u;
  static uint32_t run(uint32_t A, uint32_t B, uint32_t In, uint32_t &Carry) {
    const uint32_t S = A + B, R = S - In;
    Carry = (S < A ? ~0u : 0) | (R < S ? ~0u : 0);
    return R;
  }
};
struct SubBorrow {
  static constexpr uint32_t Saturated = 0;
  static uint32_t run(uint32_t A, uint32_t B, uint32_t In, uint32_t &Carry) {
    const uint32_t S = A - B, R = S + In;
    Carry = (A < B ? ~0u : 0) | (S < (In & 1) ? ~0u : 0);
    return R;
  }
};
struct SubBorrowReversed : SubBorrow {
  static uint32_t run(uint32_t A, uint32_t B, uint32_t In, uint32_t &Carry) {
    return SubBorrow::run(B, A, In, Carry);
  }
};

/// Arithmetic with a carry out of (and perhaps into) each lane.
template <bool CarryIn, class Op> void carryHandler(Wave &W, const Inst &I) {
  const Source<U32> A(W, I, 0), B(W, I, 1);
  LaneBuffer In, Out, R;
  if (CarryIn)
    expandMask(maskSource(W, I.Src[2]), In.Lane);
  const uint64_t Exec = W.exec();
  const bool Direct = I.Plain && Exec == ~uint64_t(0);
  uint32_t *D = Direct ? W.Vgpr[I.Dst.Reg].Lane : R.Lane;
#pragma GCC ivdep
  for (unsigned L = 0; L < MaxLanes; ++L) {
    uint32_t Carry;
    const uint32_t V = Op::run(A[L], B[L], CarryIn ? In.Lane[L] : 0, Carry);
    Out.Lane[L] = Carry;
    D[L] = V;
  }
  const uint64_t Mask = packMask(Out.Lane);
  if (I.Clamp)
    for (unsigned L = 0; L < MaxLanes; ++L)
      D[L] = Out.Lane[L] ? Op::Saturated : D[L];
  const uint64_t Active = I.Dpp ? activeLanes(W, I) : Exec;
  if (!Direct)
    store32(W, I, D);
  emitMask(W, I.SDst, Mask, Active);
}

void conditionalMask(Wave &W, const Inst &I) {
  const Source<U32> A(W, I, 0), B(W, I, 1);
  LaneBuffer M;
  expandMask(maskSource(W, I.Src[2]), M.Lane);
  emit<U32>(W, I, [&](unsigned L) { return (A[L] & ~M.Lane[L]) | (B[L] & M.Lane[L]); });
}

void swapRegisters(Wave &W, const Inst &I) {
  LaneBuffer Old;
  uint32_t *D = W.Vgpr[I.Dst.Reg].Lane, *S = W.Vgpr[I.Src[0].Reg].Lane;
  for (unsigned L = 0; L < MaxLanes; ++L)
    Old.Lane[L] = D[L];
  blend(D, S, W.exec());
  blend(S, Old.Lane, W.exec());
}

inline int32_t low24(int32_t V) { return int32_t(uint32_t(V) << 8) >> 8; }
inline uint32_t low24(uint32_t V) { return V & 0xffffff; }

inline uint32_t addSaturated(uint32_t A, uint32_t B, bool Clamp) {
  const uint32_t R = A + B;
  return Clamp && R < A ? ~0u : R;
}
inline uint32_t subSaturated(uint32_t A, uint32_t B, bool Clamp) {
  return Clamp && A < B ? 0 : A - B;
}
inline int32_t clampTo32(int64_t V) {
  return V > INT32_MAX ? INT32_MAX : V < INT32_MIN ? INT32_MIN : int32_t(V);
}

inline uint32_t reverseBits(uint32_t V) {
  V = (V >> 1 & 0x55555555) | (V & 0x55555555) << 1;
  V = (V >> 2 & 0x33333333) | (V & 0x33333333) << 2;
  V = (V >> 4 & 0x0f0f0f0f) | (V & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(V);
}

inline uint32_t countBits(uint32_t V) {
  V -= V >> 1 & 0x55555555;
  V = (V & 0x33333333) + (V >> 2 & 0x33333333);
  return ((V + (V >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

template <class T> T minOf(T A, T B) { return A < B ? A : B; }
template <class T> T maxOf(T A, T B) { return A > B ? A : B; }
template <class T> T median(T A, T B, T C) {
  return maxOf(minOf(A, B), minOf(maxOf(A, B), C));
}

/// mbcnt: set bits of the mask below this lane, within one half of the wave.
template <bool HighHalf> void maskedBitCount(Wave &W, const Inst &I) {
  const Source<U32> A(W, I, 0), B(W, I, 1);
  emit<U32>(W, I, [&](unsigned L) {
    const uint32_t Below = HighHalf ? (L < 32 ? 0u : (1u << (L & 31)) - 1)
                                    : (L < 32 ? (1u << L) - 1 : ~0u);
    return countBits(A[L] & Below) + B[L];
  });
}

#define CARRY(Name, Flags, In, Op)                                                                 \
  {Name, carryHandler<In, Op>, OpClass::Valu, OpCarryOut | (Flags), Ty::B32,            \
   {Ty::B32, Ty::B32, In ? Ty::Mask : Ty::None}, 0}

const OpEntry Ops[] = {
    VGPU_V1("v_mov_b32", Valu, U32, U32, return a;),
    VGPU_V1("v_not_b32", Valu, U32, U32, return ~a;),
    VGPU_V1("v_bfrev_b32", Valu, U32, U32, return reverseBits(a);),
    VGPU_V1("v_ffbh_u32", Valu, U32, U32, return a ? U32(__builtin_clz(a)) : ~0u;),
    VGPU_V1("v_ffbl_b32", Valu, U32, U32, return a ? U32(__builtin_ctz(a)) : ~0u;),
    VGPU_V1("v_ffbh_i32", Valu, U32, I32,
            const U32 v = U32(a < 0 ? ~a : a);
            return v ? U32(__builtin_clz(v)) : ~0u;),
    {"v_swap_b32", swapRegisters, OpClass::Valu, OpSwapsDst, Ty::B32,
     {Ty::B32, Ty::None, Ty::None}, 0},
    {"v_nop", [](Wave &, const Inst &) {}, OpClass::Valu, OpNoVector, Ty::None, {}, 0},
    {"v_clrexcp", [](Wave &, const Inst &) {}, OpClass::Valu, OpNoVector, Ty::None, {}, 0},
    {"v_cndmask_b32", conditionalMask, OpClass::Valu, OpCarryIn, Ty::B32,
     {Ty::B32, Ty::B32, Ty::Mask}, 0},

    VGPU_V2("v_and_b32", Valu, U32, U32, U32, return a & b;),
    VGPU_V2("v_or_b32", Valu, U32, U32, U32, return a | b;),
    VGPU_V2("v_xor_b32", Valu, U32, U32, U32, return a ^ b;),
    VGPU_V2("v_xnor_b32", Valu, U32, U32, U32, return ~(a ^ b);),
    VGPU_V2("v_lshlrev_b32", Valu, U32, U32, U32, return b << (a & 31);),
    VGPU_V2("v_lshrrev_b32", Valu, U32, U32, U32, return b >> (a & 31);),
    VGPU_V2("v_ashrrev_i32", Valu, I32, U32, I32, return b >> (a & 31);),
    VGPU_V2("v_min_i32", Valu, I32, I32, I32, return minOf(a, b);),
    VGPU_V2("v_max_i32", Valu, I32, I32, I32, return maxOf(a, b);),
    VGPU_V2("v_min_u32", Valu, U32, U32, U32, return minOf(a, b);),
    VGPU_V2("v_max_u32", Valu, U32, U32, U32, return maxOf(a, b);),
    VGPU_V2("v_add_u32", Valu, U32, U32, U32, return addSaturated(a, b, x.Clamp);),
    VGPU_V2("v_sub_u32", Valu, U32, U32, U32, return subSaturated(a, b, x.Clamp);),
    VGPU_V2("v_subrev_u32", Valu, U32, U32, U32, return subSaturated(b, a, x.Clamp);),
    VGPU_V2("v_add_i32", Valu, I32, I32, I32,
            return x.Clamp ? clampTo32(I64(a) + b) : I32(U32(a) + U32(b));),
    VGPU_V2("v_sub_i32", Valu, I32, I32, I32,
            return x.Clamp ? clampTo32(I64(a) - b) : I32(U32(a) - U32(b));),
    VGPU_V2("v_mul_i32_i24", Valu, U32, I32, I32, return U32(low24(a)) * U32(low24(b));),
    VGPU_V2("v_mul_hi_i32_i24", Valu, U32, I32, I32,
            return U32(U64(I64(low24(a)) * low24(b)) >> 32);),
    VGPU_V2("v_mul_u32_u24", Valu, U32, U32, U32, return low24(a) * low24(b);),
    VGPU_V2("v_mul_hi_u32_u24", Valu, U32, U32, U32,
            return U32((U64(low24(a)) * low24(b)) >> 32);),
    VGPU_V2("v_bfm_b32", Valu, U32, U32, U32, return ((1u << (a & 31)) - 1) << (b & 31);),
    VGPU_V2("v_bcnt_u32_b32", Valu, U32, U32, U32, return countBits(a) + b;),
    {"v_mbcnt_lo_u32_b32", maskedBitCount<false>, OpClass::Valu, 0, Ty::B32,
     {Ty::B32, Ty::B32, Ty::None}, 0},
    {"v_mbcnt_hi_u32_b32", maskedBitCount<true>, OpClass::Valu, 0, Ty::B32,
     {Ty::B32, Ty::B32, Ty::None}, 0},

    CARRY("v_add_co_u32", 0, false, AddCarry),
    CARRY("v_sub_co_u32", 0, false, SubBorrow),
    CARRY("v_subrev_co_u32", 0, false, SubBorrowReversed),
    CARRY("v_addc_co_u32", OpCarryIn, true, AddCarry),
    CARRY("v_subb_co_u32", OpCarryIn, true, SubBorrow),
    CARRY("v_subbrev_co_u32", OpCarryIn, true, SubBorrowReversed),

    VGPU_V2("v_mul_lo_u32", ValuQuarter, U32, U32, U32, return a * b;),
    VGPU_V2("v_mul_hi_u32", ValuQuarter, U32, U32, U32, return U32((U64(a) * b) >> 32);),
    VGPU_V2("v_mul_hi_i32", ValuQuarter, U32, I32, I32, return U32(U64(I64(a) * b) >> 32);),

    VGPU_V3("v_mad_i32_i24", Valu, U32, I32, I32, U32,
            if (x.Clamp) return U32(clampTo32(I64(low24(a)) * low24(b) + I32(c)));
            return U32(low24(a)) * U32(low24(b)) + c;),
    VGPU_V3("v_mad_u32_u24", Valu, U32, U32, U32, U32,
            const U64 r = U64(low24(a)) * low24(b) + c;
            return x.Clamp && r >> 32 ? ~0u : U32(r);),
    VGPU_V3("v_mad_u32_u16", Valu, U32, U32, U32, U32,
            const U64 r = U64(U32(U16(a)) * U16(b)) + c;
            return x.Clamp && r >> 32 ? ~0u : U32(r);),
    VGPU_V3("v_mad_i32_i16", Valu, U32, I32, I32, I32,
            const I64 r = I64(I16(a)) * I16(b) + c;
            return x.Clamp ? U32(clampTo32(r)) : U32(r);),
    VGPU_V3("v_add3_u32", Valu, U32, U32, U32, U32, return a + b + c;),
    VGPU_V3("v_lshl_add_u32", Valu, U32, U32, U32, U32, return (a << (b & 31)) + c;),
    VGPU_V3("v_add_lshl_u32", Valu, U32, U32, U32, U32, return (a + b) << (c & 31);),
    VGPU_V3("v_lshl_or_b32", Valu, U32, U32, U32, U32, return (a << (b & 31)) | c;),
    VGPU_V3("v_and_or_b32", Valu, U32, U32, U32, U32, return (a & b) | c;),
    VGPU_V3("v_or3_b32", Valu, U32, U32, U32, U32, return a | b | c;),
    VGPU_V3("v_xad_u32", Valu, U32, U32, U32, U32, return (a ^ b) + c;),
    VGPU_V3("v_bfi_b32", Valu, U32, U32, U32, U32, return (a & b) | (~a & c);),
    VGPU_V3("v_bfe_u32", Valu, U32, U32, U32, U32,
            return (a >> (b & 31)) & ((1u << (c & 31)) - 1);),
    VGPU_V3("v_bfe_i32", Valu, U32, U32, U32, U32,
            const U32 w = c & 31;
            const U32 v = (a >> (b & 31)) & ((1u << w) - 1);
            const U32 sign = (1u << ((w - 1) & 31)) & (w ? ~0u : 0u);
            return (v ^ sign) - sign;),
    VGPU_V3("v_alignbit_b32", Valu, U32, U32, U32, U32,
            return U32(((U64(a) << 32) | b) >> (c & 31));),
    VGPU_V3("v_alignbyte_b32", Valu, U32, U32, U32, U32,
            return U32(((U64(a) << 32) | b) >> (8 * (c & 3)));),
    VGPU_V3("v_min3_i32", Valu, I32, I32, I32, I32, return minOf(minOf(a, b), c);),
    VGPU_V3("v_max3_i32", Valu, I32, I32, I32, I32, return maxOf(maxOf(a, b), c);),
    VGPU_V3("v_med3_i32", Valu, I32, I32, I32, I32, return median(a, b, c);),
    VGPU_V3("v_min3_u32", Valu, U32, U32, U32, U32, return minOf(minOf(a, b), c);),
    VGPU_V3("v_max3_u32", Valu, U32, U32, U32, U32, return maxOf(maxOf(a, b), c);),
    VGPU_V3("v_med3_u32", Valu, U32, U32, U32, U32, return median(a, b, c);),
};

} // namespace

const OpTable IntegerOps = {Ops, sizeof Ops / sizeof *Ops};

} // namespace vgpu::VGPU_SIMD
