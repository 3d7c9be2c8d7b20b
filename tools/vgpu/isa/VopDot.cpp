// Dot products of packed halves and integers, VOP3P and the VOP2 forms that
// accumulate in their destination; and v_pk_fmac_f16, which has that shape too.
#include "isa/HalfMath.h"
#include "isa/PackedSource.h"
#include "isa/VectorTables.h"

namespace vgpu::VGPU_SIMD {

namespace {

inline U32 saturate(I64 V, bool Signed, bool Clamp) {
  if (!Clamp)
    return U32(V);
  if (Signed)
    return U32(V < INT32_MIN ? INT32_MIN : V > INT32_MAX ? INT32_MAX : I32(V));
  return V > I64(UINT32_MAX) ? UINT32_MAX : U32(V);
}

/// Sum of products of Bits-wide parts.
template <unsigned Bits, bool Signed> inline I64 dot(U32 A, U32 B) {
  I64 Sum = 0;
  for (unsigned N = 0; N < 32; N += Bits) {
    const U32 P = (A >> N) << (32 - Bits), Q = (B >> N) << (32 - Bits);
    Sum += Signed ? I64(I32(P) >> (32 - Bits)) * (I32(Q) >> (32 - Bits))
                  : I64(P >> (32 - Bits)) * (Q >> (32 - Bits));
  }
  return Sum;
}
template <unsigned Bits, bool Signed> inline U32 dotAdd(U32 A, U32 B, U32 Acc, bool Clamp) {
  return saturate(dot<Bits, Signed>(A, B) + (Signed ? I64(I32(Acc)) : I64(Acc)), Signed, Clamp);
}

template <unsigned Bits, bool Signed> void dotInteger(Wave &W, const Inst &I) {
  const PackedSource A(W, I, 0), B(W, I, 1), C(W, I, 2);
  LaneBuffer R;
  for (unsigned L = 0; L < MaxLanes; ++L) {
    U32 X = A.whole(L), Y = B.whole(L);
    if (Bits == 16) { // only these take op_sel
      X = A.low(L) | U32(A.high(L)) << 16;
      Y = B.low(L) | U32(B.high(L)) << 16;
    }
    R.Lane[L] = dotAdd<Bits, Signed>(X, Y, C.whole(L), I.Clamp);
  }
  blend(W.Vgpr[I.Dst.Reg].Lane, R.Lane, W.exec());
}

/// Denormals of a dot product of halves: as MODE says, but for targets that
/// always flush. Masks and selections, so that loops vectorise.
struct DotModes {
  U32 KeepHalf, KeepAcc, KeepResult; // of a denormal's bits
  DotModes(const Wave &W, const Inst &I) {
    const FloatMode Single = FloatMode::of32(W.Mode);
    KeepHalf = I.FlushHalves || FloatMode::of64(W.Mode).FlushIn ? 0x8000 : 0xffff;
    KeepAcc = I.FlushHalves || Single.FlushIn ? 0x80000000 : ~0u;
    KeepResult = I.FlushHalves || Single.FlushOut ? 0x80000000 : ~0u;
  }
  F32 half(U32 Bits) const {
    return DefaultHalf::widen(Half{U16(Bits & 0x7c00 ? Bits : Bits & KeepHalf)});
  }
  static F32 single(F32 V, U32 Keep) {
    const U32 Bits = toBits(V);
    return fromBits<F32>(Bits & 0x7f800000 ? Bits : Bits & Keep);
  }
};

/// Both products are exact in single precision and their sum in double; the
/// rest rounds once or nearly. Halves in the low and the high part of A and B.
inline F32 dotHalves(U32 A, U32 B, F32 Acc, const DotModes &M) {
  const F64 Sum = F64(M.half(A & 0xffff) * M.half(B & 0xffff)) +
                  F64(M.half(A >> 16) * M.half(B >> 16)) + F64(M.single(Acc, M.KeepAcc));
  const F32 V = M.single(F32(Sum), M.KeepResult);
  const U32 Nan = isNan(Acc) ? toBits(Acc) | FloatTraits<F32>::Quiet : 0x7fc00000;
  return fromBits<F32>(isNan(V) ? Nan : toBits(V));
}

void dotHalf(Wave &W, const Inst &I) {
  const PackedSource A(W, I, 0), B(W, I, 1), C(W, I, 2);
  const DotModes M(W, I);
  LaneBuffer R;
  const U32 Flip = I.Src[2].Mods & ModNeg ? 0x80000000 : 0;
  for (unsigned L = 0; L < MaxLanes; ++L)
    R.Lane[L] = toBits(dotHalves(A.low(L) | U32(A.high(L)) << 16, B.low(L) | U32(B.high(L)) << 16,
                                 fromBits<F32>(C.whole(L) ^ Flip), M));
  if (I.Clamp)
    modify32(W, I, R.Lane);
  blend(W.Vgpr[I.Dst.Reg].Lane, R.Lane, W.exec());
}

// --- Accumulating forms: whole registers, but DPP may move source 0 ----------
template <unsigned Bits, bool Signed> void accumulateInteger(Wave &W, const Inst &I) {
  const Source<U32> A(W, I, 0), B(W, I, 1), C(W, I, 2);
  emit<U32>(W, I, [&](unsigned L) { return dotAdd<Bits, Signed>(A[L], B[L], C[L], I.Clamp); });
}

inline Half lowHalf(U32 V) { return Half{U16(V)}; }
inline Half highHalf(U32 V) { return Half{U16(V >> 16)}; }

void accumulateHalf(Wave &W, const Inst &I) {
  const Source<U32> A(W, I, 0), B(W, I, 1), C(W, I, 2);
  const DotModes M(W, I);
  emit<F32>(W, I, [&](unsigned L) {
    return dotHalves(A[L], B[L], fromBits<F32>(C[L]), M);
  });
}

void packedMultiplyAccumulate(Wave &W, const Inst &I) {
  const Source<U32> A(W, I, 0), B(W, I, 1), C(W, I, 2);
  const FloatMode M = FloatMode::of64(W.Mode);
  const auto Run = [&](auto Arithmetic) {
    using H = decltype(Arithmetic);
    emit<U32>(W, I, [&](unsigned L) {
      const Half Low = H::fma(lowHalf(A[L]), lowHalf(B[L]), lowHalf(C[L]), M);
      const Half High = H::fma(highHalf(A[L]), highHalf(B[L]), highHalf(C[L]), M);
      return U32(Low.Bits) | U32(High.Bits) << 16;
    });
  };
  M.isDefault() ? Run(DefaultHalf()) : Run(ModedHalf());
}

#define DOT(Name, Bits, Signed)                                                                    \
  {Name, dotInteger<Bits, Signed>, OpClass::Valu, OpPacked, Ty::B32, {Ty::P16, Ty::P16, Ty::B32}, 0}
#define DOTC(Name, Bits, Signed)                                                                   \
  {Name, accumulateInteger<Bits, Signed>, OpClass::Valu, OpReadsDst, Ty::B32,                      \
   {Ty::P16, Ty::P16, Ty::B32}, 0}

const OpEntry Ops[] = {
    DOT("v_dot2_i32_i16", 16, true), DOT("v_dot2_u32_u16", 16, false),
    DOT("v_dot4_i32_i8", 8, true), DOT("v_dot4_u32_u8", 8, false),
    DOT("v_dot8_i32_i4", 4, true), DOT("v_dot8_u32_u4", 4, false),
    {"v_dot2_f32_f16", dotHalf, OpClass::Valu, OpPacked, Ty::F32, {Ty::PF16, Ty::PF16, Ty::F32}, 0},
    DOTC("v_dot2c_i32_i16", 16, true), DOTC("v_dot4c_i32_i8", 8, true),
    DOTC("v_dot8c_i32_i4", 4, true),
    {"v_dot2c_f32_f16", accumulateHalf, OpClass::Valu, OpReadsDst, Ty::F32,
     {Ty::PF16, Ty::PF16, Ty::F32}, 0},
    {"v_pk_fmac_f16", packedMultiplyAccumulate, OpClass::Valu, OpReadsDst, Ty::PF16,
     {Ty::PF16, Ty::PF16, Ty::PF16}, 0},
};

} // namespace

const OpTable DotOps = {Ops, sizeof Ops / sizeof *Ops};

} // namespace vgpu::VGPU_SIMD
