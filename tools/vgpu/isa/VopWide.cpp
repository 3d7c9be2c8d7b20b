// Integer vector instructions with 64-bit operands.
#include "isa/Vector.h"
#include "isa/VectorTables.h"

namespace vgpu::VGPU_SIMD {

namespace {

/// 32 * 32 + 64 bits with the 65th bit of the exact sum going to the lane mask.
template <bool Signed> void multiplyAdd64(Wave &W, const Inst &I) {
  const Source<U32> A(W, I, 0), B(W, I, 1);
  const Source<U64> C(W, I, 2);
  LaneBuffer Carry;
  emit<U64>(W, I, [&](unsigned L) -> U64 {
    const U64 P = Signed ? U64(I64(I32(A[L])) * I32(B[L])) : U64(A[L]) * B[L];
    const U64 R = P + C[L];
    // Signed: bit 64 of the sign-extended sum is carry ^ sign ^ sign.
    const U64 Out = Signed ? (U64(R < P) ^ (P >> 63) ^ (C[L] >> 63)) : U64(R < P);
    Carry.Lane[L] = U32(0) - U32(Out);
    return R;
  });
  emitMask(W, I.SDst, packMask(Carry.Lane), W.exec());
}

/// Four sums of absolute differences of 4 bytes, the first source sliding by
/// one byte. Masked: bytes that are 0 in the reference do not count.
template <bool Masked> inline U32 sumOfDifferences(U32 A, U32 B) {
  U32 Sum = 0;
  for (unsigned N = 0; N < 32; N += 8) {
    const U32 P = (A >> N) & 255, Q = (B >> N) & 255;
    Sum += Masked && Q == 0 ? 0 : P > Q ? P - Q : Q - P;
  }
  return Sum;
}

template <bool Masked> void quadSad16(Wave &W, const Inst &I) {
  const Source<U64> A(W, I, 0), C(W, I, 2);
  const Source<U32> B(W, I, 1);
  emit<U64>(W, I, [&](unsigned L) -> U64 {
    U64 R = 0;
    for (unsigned N = 0; N < 4; ++N) {
      U32 Sum = sumOfDifferences<Masked>(U32(A[L] >> (8 * N)), B[L]) + U16(C[L] >> (16 * N));
      if (I.Clamp && Sum > 0xffff)
        Sum = 0xffff;
      R |= U64(U16(Sum)) << (16 * N);
    }
    return R;
  });
}

void quadSad32(Wave &W, const Inst &I) {
  const Source<U64> A(W, I, 0);
  const Source<U32> B(W, I, 1);
  // The four accumulators are a VGPR quad, or one constant or scalar quad.
  LaneBuffer R[4];
  const Operand &C = I.Src[2];
  for (unsigned L = 0; L < MaxLanes; ++L)
    for (unsigned N = 0; N < 4; ++N) {
      const U32 Acc = C.isVgpr()   ? W.Vgpr[C.Reg + N].Lane[L]
                      : C.isSgpr() ? W.Sgpr[C.Reg + N]
                                   : (N == 0 ? U32(C.Value) : 0);
      const U64 Sum = U64(sumOfDifferences<true>(U32(A[L] >> (8 * N)), B[L])) + Acc;
      R[N].Lane[L] = I.Clamp && Sum >> 32 ? ~0u : U32(Sum);
    }
  for (unsigned N = 0; N < 4; ++N)
    blend(W.Vgpr[I.Dst.Reg + N].Lane, R[N].Lane, W.exec());
}

const OpEntry Ops[] = {
    VGPU_V2("v_lshlrev_b64", ValuHalf, U64, U32, U64, return b << (a & 63);),
    VGPU_V2("v_lshrrev_b64", ValuHalf, U64, U32, U64, return b >> (a & 63);),
    VGPU_V2("v_ashrrev_i64", ValuHalf, I64, U32, I64, return b >> (a & 63);),
    {"v_mad_u64_u32", multiplyAdd64<false>, OpClass::ValuQuarter, OpCarryOut, Ty::B64,
     {Ty::B32, Ty::B32, Ty::B64}, 0},
    {"v_mad_i64_i32", multiplyAdd64<true>, OpClass::ValuQuarter, OpCarryOut, Ty::B64,
     {Ty::B32, Ty::B32, Ty::I64}, 0},
    {"v_qsad_pk_u16_u8", quadSad16<false>, OpClass::ValuQuarter, 0, Ty::B64,
     {Ty::B64, Ty::B32, Ty::B64}, 0},
    {"v_mqsad_pk_u16_u8", quadSad16<true>, OpClass::ValuQuarter, 0, Ty::B64,
     {Ty::B64, Ty::B32, Ty::B64}, 0},
    {"v_mqsad_u32_u8", quadSad32, OpClass::ValuQuarter, 0, Ty::B128,
     {Ty::B64, Ty::B32, Ty::B128}, 0},
};

} // namespace

const OpTable WideOps = {Ops, sizeof Ops / sizeof *Ops};

} // namespace vgpu::VGPU_SIMD
