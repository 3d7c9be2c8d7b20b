// Collects the ALU tables, and computes the scalar sources that are no register.
#include "Tables.h"

#include "ScalarOps.h"
#include "VectorTables.h"

namespace vgpu {

namespace {

#define VECTOR_TABLES(Build)                                                                       \
  {Build::IntegerOps, Build::WideOps,    Build::LaneOps,    Build::CompareOps,                     \
   Build::Float32Ops, Build::Float64Ops, Build::Half16Ops,  Build::ConvertOps,                     \
   Build::DivideOps,  Build::TranscendentalOps, Build::Short16Ops, Build::PackedOps,               \
   Build::MediaOps,   Build::DotOps,     Build::Packed32Ops, Build::MatrixOps,                     \
   Build::Gfx10Ops}

} // namespace

std::vector<OpTable> portableVectorTables() { return VECTOR_TABLES(base); }

std::vector<OpTable> isaTables() {
  std::vector<OpTable> Tables = {Sop1Ops, Sop2Ops, SopkOps, SopcOps, SoppOps, SopGfx10Ops};
  const std::vector<OpTable> Vector = __builtin_cpu_supports("x86-64-v3")
                                          ? std::vector<OpTable> VECTOR_TABLES(v3)
                                          : portableVectorTables();
  Tables.insert(Tables.end(), Vector.begin(), Vector.end());
  return Tables;
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
