// Vector instructions that gfx10 has beyond gfx9 and no other file is about:
// permutations within rows of lanes, registers chosen by M0, and a logic one.
#include <algorithm>
#include <string>

#include "isa/Vector.h"
#include "isa/VectorTables.h"

namespace vgpu::VGPU_SIMD {

namespace {

/// Lane N of a row of 16 reads the lane that the N-th four bits of the two
/// scalar sources name, in its own row or (Cross) in the row's neighbour.
/// op_sel[0]: inactive lanes are read like others; op_sel[1]: where they are
/// not, they give 0 instead of leaving the destination alone.
template <bool Cross> void permuteRows(Wave &W, const Inst &I) {
  const uint64_t Select = uint64_t(scalarSource<uint32_t>(W, I.Src[2])) << 32 |
                          scalarSource<uint32_t>(W, I.Src[1]);
  const bool FetchInactive = I.OpSel & 1, Zero = I.OpSel & 2;
  const Source<U32> A(W, I, 0);
  const uint64_t Exec = W.exec();
  LaneBuffer R;
  uint64_t Valid = 0;
  for (unsigned L = 0; L < MaxLanes; ++L) {
    const unsigned Row = (L & ~15u) ^ (Cross ? 16 : 0);
    const unsigned From = Row | unsigned(Select >> (4 * (L & 15)) & 15);
    const bool Readable = FetchInactive || (Exec >> From & 1);
    R.Lane[L] = Readable ? A[From] : 0;
    Valid |= uint64_t(Readable || Zero) << L;
  }
  blend(W.Vgpr[I.Dst.Reg].Lane, R.Lane, Exec & Valid);
}

/// Adds what M0 says to the registers of Moved; false after a fault.
bool moveRegisters(Wave &W, const Inst &I, Inst &Moved, uint32_t AddSrc, uint32_t AddDst) {
  if (Moved.Src[0].isVgpr())
    Moved.Src[0].Reg = uint16_t(std::min<uint64_t>(0xffff, uint64_t(AddSrc) + Moved.Src[0].Reg));
  Moved.Dst.Reg = uint16_t(std::min<uint64_t>(0xffff, uint64_t(AddDst) + Moved.Dst.Reg));
  if ((Moved.Src[0].isVgpr() && Moved.Src[0].Reg >= W.NumVgprs) || Moved.Dst.Reg >= W.NumVgprs) {
    W.Env->fault(W, I, FaultKind::IllegalOperand,
                 "register index in M0 leads beyond the wave's " + std::to_string(W.NumVgprs) +
                     " vector registers",
                 MaxLanes, 0);
    return false;
  }
  return true;
}

uint32_t sourceIndex2(const Wave &W) { return W.m0() & 0x3ff; }
uint32_t destinationIndex2(const Wave &W) { return W.m0() >> 16 & 0x3ff; }

void moveRelative(Wave &W, const Inst &I, uint32_t AddSrc, uint32_t AddDst) {
  Inst Moved = I;
  if (!moveRegisters(W, I, Moved, AddSrc, AddDst))
    return;
  const Source<U32> A(W, Moved, 0);
  emit<U32>(W, Moved, [&](unsigned L) { return A[L]; });
}
void moveRelativeSource(Wave &W, const Inst &I) { moveRelative(W, I, W.m0(), 0); }
void moveRelativeDestination(Wave &W, const Inst &I) { moveRelative(W, I, 0, W.m0()); }
void moveRelativeBoth(Wave &W, const Inst &I) { moveRelative(W, I, W.m0(), W.m0()); }
void moveRelativeBoth2(Wave &W, const Inst &I) {
  moveRelative(W, I, sourceIndex2(W), destinationIndex2(W));
}

void swapRelative(Wave &W, const Inst &I) {
  Inst Moved = I;
  if (!moveRegisters(W, I, Moved, sourceIndex2(W), destinationIndex2(W)))
    return;
  Vreg &D = W.Vgpr[Moved.Dst.Reg], &S = W.Vgpr[Moved.Src[0].Reg];
  const Vreg Old = D;
  blend(D.Lane, S.Lane, W.exec());
  blend(S.Lane, Old.Lane, W.exec());
}

#define PERMUTE(Name, Cross)                                                                       \
  {Name, permuteRows<Cross>, OpClass::Valu, 0, Ty::B32, {Ty::B32, Ty::B32, Ty::B32}, 0}
#define MOVE(Name, Run)                                                                            \
  {Name, Run, OpClass::Valu, 0, Ty::B32, {Ty::B32, Ty::None, Ty::None}, 0}

const OpEntry Ops[] = {
    PERMUTE("v_permlane16_b32", false),
    PERMUTE("v_permlanex16_b32", true),
    MOVE("v_movreld_b32", moveRelativeDestination),
    MOVE("v_movrels_b32", moveRelativeSource),
    MOVE("v_movrelsd_b32", moveRelativeBoth),
    MOVE("v_movrelsd_2_b32", moveRelativeBoth2),
    {"v_swaprel_b32", swapRelative, OpClass::Valu, OpSwapsDst, Ty::B32,
     {Ty::B32, Ty::None, Ty::None}, 0},
    {"v_pipeflush", [](Wave &, const Inst &) {}, OpClass::Valu, OpNoVector, Ty::None, {}, 0},
    VGPU_V3("v_xor3_b32", Valu, U32, U32, U32, U32, return a ^ b ^ c;),
};

} // namespace

const OpTable Gfx10Ops = {Ops, sizeof Ops / sizeof *Ops};

} // namespace vgpu::VGPU_SIMD
