// The tables of ALU instructions. Vector ones exist twice, compiled for any
// x86-64 and for x86-64-v3 (AVX2, FMA): isaTables() picks by the host.
#ifndef VGPU_ISA_TABLES_H
#define VGPU_ISA_TABLES_H

#include "core/Inst.h"

#include <vector>

namespace vgpu {

/// All ALU tables for this host.
std::vector<OpTable> isaTables();
/// The vector tables of the portable build, to be tested where the other runs.
std::vector<OpTable> portableVectorTables();

/// An instruction that does what another does.
struct OpAlias {
  const char *Name, *Same;
};
const std::vector<OpAlias> &gfx10Aliases();

extern const OpTable SopGfx10Ops;
extern const OpTable Sop1Ops, Sop2Ops, SopkOps, SopcOps, SoppOps;

} // namespace vgpu

#endif
