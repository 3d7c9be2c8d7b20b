// Instructions that move values between lanes and scalar registers, or to
// registers chosen at run time.
#include "isa/Vector.h"
#include "isa/VectorTables.h"

namespace vgpu::VGPU_SIMD {

namespace {

void readFirstLane(Wave &W, const Inst &I) {
  const uint64_t Exec = W.exec();
  const unsigned Lane = Exec ? unsigned(__builtin_ctzll(Exec)) : 0;
  const Operand &O = I.Src[0];
  W.Sgpr[I.Dst.Reg] = O.isVgpr() ? W.Vgpr[O.Reg].Lane[Lane] : scalarSource<uint32_t>(W, O);
}

void readLane(Wave &W, const Inst &I) {
  const unsigned Lane = scalarSource<uint32_t>(W, I.Src[1]) & (W.WaveSize - 1);
  const Operand &O = I.Src[0];
  W.Sgpr[I.Dst.Reg] = O.isVgpr() ? W.Vgpr[O.Reg].Lane[Lane] : scalarSource<uint32_t>(W, O);
}

void writeLane(Wave &W, const Inst &I) {
  const unsigned Lane = scalarSource<uint32_t>(W, I.Src[1]) & (W.WaveSize - 1);
  W.Vgpr[I.Dst.Reg].Lane[Lane] = scalarSource<uint32_t>(W, I.Src[0]);
}

const OpEntry Ops[] = {
    {"v_readfirstlane_b32", readFirstLane, OpClass::Valu, OpScalarDst | OpNoVector, Ty::B32,
     {Ty::B32, Ty::None, Ty::None}, 0},
    {"v_readlane_b32", readLane, OpClass::Valu, OpScalarDst | OpNoVector, Ty::B32,
     {Ty::B32, Ty::B32, Ty::None}, 0},
    {"v_writelane_b32", writeLane, OpClass::Valu, OpNoVector, Ty::B32,
     {Ty::B32, Ty::B32, Ty::None}, 0},
};

} // namespace

const OpTable LaneOps = {Ops, sizeof Ops / sizeof *Ops};

} // namespace vgpu::VGPU_SIMD
