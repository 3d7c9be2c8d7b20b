// Collects the ALU tables, and computes the scalar sources that are no register.
#include "Tables.h"

#include "ScalarOps.h"

namespace vgpu {

std::vector<OpTable> isaTables() {
  return {Sop1Ops, Sop2Ops, SopkOps, SopcOps, SoppOps};
}

uint64_t specialSource(const Wave &W, const Operand &O) {
  const ExecEnv &E = *W.Env;
  // As 32-bit sources the apertures give their high half.
  const unsigned Shift = dwordsOf(O.Type) == 2 ? 0 : 32;
  switch (O.Reg) {
  case SrcSharedBase: return E.SharedBase >> Shift;
  case SrcSharedLimit: return E.SharedLimit >> Shift;
  case SrcPrivateBase: return E.PrivateBase >> Shift;
  case SrcPrivateLimit: return E.PrivateLimit >> Shift;
  case SrcVccz: return W.vcc() == 0;
  case SrcExecz: return W.exec() == 0;
  case SrcScc: return W.Scc;
  default: return 0;
  }
}

} // namespace vgpu
