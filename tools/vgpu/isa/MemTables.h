// The tables of memory instructions; the machine hands them to the Decoder.
// Their handlers take for granted that Wave::Env is a Machine.
#ifndef VGPU_ISA_MEMTABLES_H
#define VGPU_ISA_MEMTABLES_H

#include "core/Inst.h"

#include <vector>

namespace vgpu {

extern const OpTable SmemOps, FlatOps, MubufOps, TypedBufferOps, DsOps, DsLaneOps;

inline std::vector<OpTable> memoryTables() {
  return {SmemOps, FlatOps, MubufOps, TypedBufferOps, DsOps, DsLaneOps};
}

} // namespace vgpu

#endif
