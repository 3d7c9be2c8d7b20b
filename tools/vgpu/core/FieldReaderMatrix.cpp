// Operand fields of the matrix encoding (VOP3P-MAI), and what the targets with
// accumulation registers change elsewhere.
#include "FieldReader.h"

#include <algorithm>

namespace vgpu {

static constexpr uint32_t FirstVgprCode = 256;

Operand FieldReader::accVgpr(uint32_t Reg, Ty Type) {
  Operand O;
  O.Kind = OperandKind::Vgpr;
  O.Type = Type;
  O.Reg = accReg(Reg, dwordsOf(Type));
  return O;
}

uint16_t FieldReader::accReg(uint32_t Reg, unsigned Dwords) {
  checkTuple(Reg, Dwords);
  I.AccEnd = std::max<uint16_t>(I.AccEnd, uint16_t(Reg + Dwords));
  return uint16_t(FirstAcc + Reg);
}

/// Registers of a tuple must exist, and with a unified file begin at an even one.
void FieldReader::checkTuple(uint32_t Reg, unsigned Dwords) {
  if (Reg + Dwords > 256 || (D.target().UnifiedVgprs && Dwords > 1 && Reg % 2))
    Legal = false;
}

void FieldReader::readMatrix() {
  const OpInfo &Info = *I.Info;
  const uint32_t Code[3] = {bits(1, 0, 9), bits(1, 9, 9), bits(1, 18, 9)};
  // A separate file holds all of C and D; with a unified one a bit says which.
  const bool AccResult = !D.target().UnifiedVgprs || flag(0, 15);
  const bool IsMove = Info.Src[1] == Ty::None; // v_accvgpr_read, v_accvgpr_write
  const bool Acc[3] = {IsMove ? (Info.Flags & OpAccSrc) != 0 : flag(1, 27), flag(1, 28), AccResult};
  for (unsigned N = 0; N < 3; ++N) {
    if (Info.Src[N] == Ty::None)
      continue;
    if (Code[N] >= FirstVgprCode && Acc[N]) {
      I.Src[N] = accVgpr(Code[N] - FirstVgprCode, Info.Src[N]);
      continue;
    }
    // Constants of C stand for each of its elements: doubles in eight registers.
    const Ty Type = Info.Src[N] == Ty::B256 && Code[N] < FirstVgprCode ? Ty::F64 : Info.Src[N];
    I.Src[N] = source(Code[N], Type);
    if (!IsMove && (N < 2 ? !I.Src[N].isVgpr() : !I.Src[N].isVgpr() && !I.Src[N].isConst()))
      Legal = false;
  }
  const bool AccDst = IsMove ? (Info.Flags & OpAccDst) != 0 : AccResult;
  I.Dst = AccDst ? accVgpr(bits(0, 0, 8), Info.Dst) : vgpr(bits(0, 0, 8), Info.Dst);
  if (IsMove)
    return;
  I.Plain = false;
  I.Cbsz = uint8_t(bits(0, 8, 3));
  I.Abid = uint8_t(bits(0, 11, 4));
  I.Blgp = uint8_t(bits(1, 29, 3));
}

} // namespace vgpu
