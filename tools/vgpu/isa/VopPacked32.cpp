// Packed single precision of gfx90a: two results a lane in a register pair.
// op_sel says which register of a source feeds the low result, op_sel_hi the
// high one.
#include "isa/FloatMath.h"
#include "isa/Vector.h"
#include "isa/VectorTables.h"

namespace vgpu::VGPU_SIMD {

namespace {

/// Both values of a source after op_sel and neg.
class PairSource {
public:
  PairSource(const Wave &W, const Inst &I, unsigned N) {
    const Operand &O = I.Src[N];
    const bool LowIsHigh = (I.OpSel >> N) & 1, HighIsHigh = (I.OpSelHi >> N) & 1;
    if (O.isVgpr()) {
      Low = W.Vgpr[O.Reg + LowIsHigh].Lane;
      High = W.Vgpr[O.Reg + HighIsHigh].Lane;
    } else {
      const U64 V = scalarSource<U64>(W, O);
      for (U32 &L : Constant.Low)
        L = U32(LowIsHigh ? V >> 32 : V);
      for (U32 &L : Constant.High)
        L = U32(HighIsHigh ? V >> 32 : V);
      Low = Constant.Low;
      High = Constant.High;
    }
    LowFlip = O.Mods & ModNeg ? 0x80000000 : 0;
    HighFlip = O.Mods & ModNegHi ? 0x80000000 : 0;
  }
  F32 low(unsigned L) const { return fromBits<F32>(Low[L] ^ LowFlip); }
  F32 high(unsigned L) const { return fromBits<F32>(High[L] ^ HighFlip); }
  U32 raw(unsigned L) const { return Low[L]; }

private:
  const uint32_t *Low, *High;
  U32 LowFlip, HighFlip;
  PairBuffer Constant;
};

/// Stores both results; they were computed apart, for D may be a source.
void storePair(Wave &W, const Inst &I, PairBuffer &R, bool Clamps) {
  if (Clamps && I.Clamp)
    for (U32 *Half : {R.Low, R.High})
      modify32(W, I, Half);
  blend(W.Vgpr[I.Dst.Reg].Lane, R.Low, W.exec());
  blend(W.Vgpr[I.Dst.Reg + 1].Lane, R.High, W.exec());
}

template <unsigned Count, class F> void packedSingles(Wave &W, const Inst &I, F Fn) {
  PairBuffer R;
  {
    FloatScope Scope(FloatMode::of32(W.Mode));
    const PairSource A(W, I, 0), B(W, I, 1), C(W, I, Count > 2 ? 2 : 0);
    for (unsigned L = 0; L < MaxLanes; ++L)
      R.Low[L] = toBits(Fn(A.low(L), B.low(L), C.low(L)));
    for (unsigned L = 0; L < MaxLanes; ++L)
      R.High[L] = toBits(Fn(A.high(L), B.high(L), C.high(L)));
  }
  storePair(W, I, R, true);
}

/// The low result comes from source 0, the high one from source 1; of each,
/// op_sel says which register.
void move(Wave &W, const Inst &I) {
  const PairSource A(W, I, 0), B(W, I, 1);
  PairBuffer R;
  for (unsigned L = 0; L < MaxLanes; ++L) {
    R.Low[L] = A.raw(L);
    R.High[L] = B.raw(L);
  }
  storePair(W, I, R, false);
}

#define PK32(Name, Count, ...)                                                                     \
  {Name, [](Wave &W, const Inst &I) {                                                              \
     packedSingles<Count>(W, I, [](F32 a, F32 b, F32 c) -> F32 {                                   \
       (void)c;                                                                                    \
       __VA_ARGS__                                                                                 \
     });                                                                                           \
   },                                                                                              \
   OpClass::Valu, OpPacked, Ty::PF32, {Ty::PF32, Ty::PF32, Count > 2 ? Ty::PF32 : Ty::None}, 0}

const OpEntry Ops[] = {
    PK32("v_pk_fma_f32", 3, return nanRule(__builtin_fmaf(a, b, c), a, b, c);),
    PK32("v_pk_mul_f32", 2, return nanRule(a * b, a, b);),
    PK32("v_pk_add_f32", 2, return nanRule(a + b, a, b);),
    {"v_pk_mov_b32", move, OpClass::Valu, OpPacked, Ty::PF32, {Ty::PF32, Ty::PF32, Ty::None}, 0},
};

} // namespace

const OpTable Packed32Ops = {Ops, sizeof Ops / sizeof *Ops};

} // namespace vgpu::VGPU_SIMD
