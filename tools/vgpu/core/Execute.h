// The one way to run a decoded instruction: checks that its registers exist
// in this wave and serves the rare mode in which register numbers are relative
// (s_set_gpr_idx_on); everything else is a call through the handler.
//
//   const Inst &I = Cache.at(W.Pc);
//   W.Pc += 4 * I.Size;
//   execute(W, I);
//   if (I.Info->Flags & OpEndsRun) … look at W.Status …
#ifndef VGPU_CORE_EXECUTE_H
#define VGPU_CORE_EXECUTE_H

#include "Inst.h"
#include "Wave.h"

namespace vgpu {

/// Out-of-range registers, and relative register numbers.
void executeUnusual(Wave &W, const Inst &I);

inline void execute(Wave &W, const Inst &I) {
  if (__builtin_expect(
          I.VgprEnd > W.NumVgprs || I.AccEnd > W.NumAccs || (W.Mode & ModeGprIdxEn), false))
    executeUnusual(W, I);
  else
    I.Run(W, I);
}

} // namespace vgpu

#endif
