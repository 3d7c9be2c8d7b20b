// The vector tables of one build (VGPU_SIMD) of the vector files.
#ifndef VGPU_ISA_VECTORTABLES_H
#define VGPU_ISA_VECTORTABLES_H

#include "core/Inst.h"

#define VGPU_DECLARE_VECTOR_TABLES(Build)                                                          \
  namespace vgpu::Build {                                                                          \
  extern const OpTable IntegerOps, WideOps, LaneOps, CompareOps, Float32Ops, Float64Ops, Half16Ops,     \
      ConvertOps, DivideOps, TranscendentalOps, Short16Ops, PackedOps, Packed32Ops, DotOps, MediaOps,          \
      MatrixOps, Gfx10Ops;                   \
  }

VGPU_DECLARE_VECTOR_TABLES(base)
VGPU_DECLARE_VECTOR_TABLES(v3)

#endif
