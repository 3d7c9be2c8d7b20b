// Relative register numbers (gfx9 "VGPR indexing") and the register check.
#include "Execute.h"

#include "Env.h"

namespace vgpu {

void executeUnusual(Wave &W, const Inst &I) {
  const bool IsVector = I.Form >= Format::Vop1 && I.Form <= Format::Vop3p;
  if (!(W.Mode & ModeGprIdxEn) || !IsVector) {
    if (I.VgprEnd > W.NumVgprs)
      W.Env->fault(W, I, FaultKind::IllegalOperand,
                   "v" + std::to_string(I.VgprEnd - 1) + " is beyond the wave's " +
                       std::to_string(W.NumVgprs) + " vector registers",
                   MaxLanes, 0);
    else if (I.AccEnd > W.NumAccs)
      W.Env->fault(W, I, FaultKind::IllegalOperand,
                   "a" + std::to_string(I.AccEnd - 1) + " is beyond the wave's " +
                       std::to_string(W.NumAccs) + " accumulation registers",
                   MaxLanes, 0);
    else
      I.Run(W, I);
    return;
  }
  // M0: [7:0] index, [12] source 0, [13] source 1, [14] source 2, [15] destination.
  Inst Moved = I;
  const unsigned Index = W.m0() & 0xff, Enable = W.m0() >> 12;
  unsigned End = 0;
  auto shift = [&](Operand &O, bool On) {
    if (!O.isVgpr() || O.Reg >= FirstAcc)
      return;
    if (On)
      O.Reg = uint16_t(O.Reg + Index);
    if (O.Reg + dwordsOf(O.Type) > End)
      End = O.Reg + dwordsOf(O.Type);
  };
  for (unsigned N = 0; N < 3; ++N)
    shift(Moved.Src[N], (Enable >> N) & 1);
  shift(Moved.Dst, (Enable >> 3) & 1);
  if (End > W.NumVgprs || I.AccEnd > W.NumAccs) {
    W.Env->fault(W, I, FaultKind::IllegalOperand,
                 "register index " + std::to_string(Index) + " leads beyond the wave's " +
                     std::to_string(W.NumVgprs) + " vector registers",
                 MaxLanes, 0);
    return;
  }
  Moved.Run(W, Moved);
}

} // namespace vgpu
