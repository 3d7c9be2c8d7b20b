// Sources of packed 16-bit operations. op_sel says which half of a source feeds
// the low result, op_sel_hi the high one.
#ifndef VGPU_ISA_PACKEDSOURCE_H
#define VGPU_ISA_PACKEDSOURCE_H

#include "isa/Vector.h"

namespace vgpu::VGPU_SIMD {

/// A packed source: both halves after op_sel and neg.
class PackedSource {
public:
  PackedSource(const Wave &W, const Inst &I, unsigned N)
      : LowShift((I.OpSel >> N) & 1 ? 16 : 0), HighShift((I.OpSelHi >> N) & 1 ? 16 : 0),
        LowFlip(I.Src[N].Mods & ModNeg ? 0x8000 : 0),
        HighFlip(I.Src[N].Mods & ModNegHi ? 0x8000 : 0) {
    const Operand &O = I.Src[N];
    if (O.isVgpr()) {
      P = W.Vgpr[O.Reg].Lane;
      return;
    }
    const uint32_t V = scalarSource<uint32_t>(W, O);
    for (uint32_t &L : Buffer.Lane)
      L = V;
    P = Buffer.Lane;
  }
  U16 low(unsigned L) const { return U16((P[L] >> LowShift) ^ LowFlip); }
  U16 high(unsigned L) const { return U16((P[L] >> HighShift) ^ HighFlip); }
  U32 whole(unsigned L) const { return P[L]; }

private:
  const uint32_t *P;
  U32 LowShift, HighShift, LowFlip, HighFlip;
  LaneBuffer Buffer;
};

} // namespace vgpu::VGPU_SIMD

#endif
