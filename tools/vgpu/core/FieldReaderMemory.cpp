// Operand fields of the memory encodings: SMEM, FLAT, DS, MUBUF, MTBUF.
#include "FieldReader.h"
#include "UnifiedFormat.h"

#include <algorithm>

namespace vgpu {

uint16_t FieldReader::memoryVgpr(uint32_t Reg, unsigned Dwords) {
  checkTuple(Reg, Dwords);
  I.VgprEnd = std::max<uint16_t>(I.VgprEnd, uint16_t(Reg + Dwords));
  return uint16_t(Reg);
}

/// Registers of the data field: twice the type's where a second operand
/// follows the first.
unsigned FieldReader::dataDwords() const {
  return dwordsOf(I.Info->Dst) * (I.Info->Flags & OpSecondData ? 2 : 1);
}

void FieldReader::readSmem() {
  I.SBase = uint16_t(bits(0, 0, 6) * 2);
  I.SData = uint16_t(bits(0, 6, 7));
  I.Glc = flag(0, 16);
  if (Target.isGfx10()) {
    I.Dlc = flag(0, 14);
    I.Offset = signExtend(bits(1, 0, 21), 21);
    I.SOffset = source(bits(1, 25, 7), Ty::B32);
    // Loads into NULL are prefetches.
    if (I.SData == RegNull && I.Info->Dst != Ty::None)
      I.SData = RegSink;
  } else {
    const bool HasImm = flag(0, 17), HasSOffset = flag(0, 14);
    if (HasImm)
      I.Offset = signExtend(bits(1, 0, 21), 21);
    if (HasSOffset)
      I.SOffset = scalar(bits(1, 25, 7), Ty::B32);
    else if (!HasImm)
      I.SOffset = scalar(bits(1, 0, 7), Ty::B32);
  }
  if (I.SData < RegSink && I.SData + dataDwords() > 128 && I.Info->Dst != Ty::None)
    Legal = false;
}

void FieldReader::readFlat() {
  const unsigned Dwords = dwordsOf(I.Info->Dst);
  const uint32_t Segment_ = bits(0, 14, 2);
  if (Segment_ > 2) {
    Legal = false;
    return;
  }
  I.Seg = Segment(Segment_);
  // Signed except where a flat address could change its aperture.
  const unsigned OffsetBits = Target.isGfx10() ? 12 : 13;
  I.Offset = I.Seg == Segment::Flat ? int32_t(bits(0, 0, OffsetBits - 1))
                                    : signExtend(bits(0, 0, OffsetBits), OffsetBits);
  I.Dlc = Target.isGfx10() && flag(0, 12);
  I.LdsDma = flag(0, 13);
  I.Glc = flag(0, 16);
  I.Slc = flag(0, 17);
  // "off" is 0x7f on gfx9, NULL on gfx10, where 0x7f with scratch means that
  // there is no vector address either.
  const uint32_t SAddr = bits(1, 16, 7);
  const bool NoBase = SAddr == 0x7f || (Target.hasNull() && SAddr == RegNull);
  const bool NoAddress = I.Info->Flags & OpAddTid ||
                         (Target.isGfx10() && I.Seg == Segment::Scratch && SAddr == 0x7f);
  if (I.Seg != Segment::Flat && !NoBase) {
    I.SAddr = uint16_t(SAddr);
    if (SAddr == 125 || SAddr + (I.Seg == Segment::Global ? 2 : 1) > 128)
      Legal = false;
  }
  if (!NoAddress && (I.Seg != Segment::Scratch || I.SAddr == Inst::NoReg))
    I.VAddr = memoryVgpr(bits(1, 0, 8),
                         I.Seg == Segment::Scratch || I.SAddr != Inst::NoReg ? 1 : 2);
  const bool Acc = D.target().UnifiedVgprs && flag(1, 23);
  if (I.Info->Flags & (OpStores | OpAtomic))
    I.VData = dataReg(bits(1, 8, 8), dataDwords(), Acc);
  if (I.Info->Flags & OpReturns && (!(I.Info->Flags & OpAtomic) || I.Glc))
    I.VDst = dataReg(bits(1, 24, 8), Dwords, Acc);
}

void FieldReader::readDs() {
  const unsigned Dwords = std::max(1u, dwordsOf(I.Info->Dst));
  const uint32_t Flags = I.Info->Flags;
  I.Offset0 = uint8_t(bits(0, 0, 8));
  I.Offset1 = uint8_t(bits(0, 8, 8));
  I.Offset = int32_t(bits(0, 0, 16));
  I.Gds = flag(0, Target.isGfx10() ? 17 : 16);
  I.VAddr = memoryVgpr(bits(1, 0, 8), 1);
  const bool Acc = D.target().UnifiedVgprs && flag(0, 25);
  if (Flags & (OpStores | OpAtomic)) {
    I.VData = dataReg(bits(1, 8, 8), Dwords, Acc);
    if (Flags & (OpLdsPair | OpSecondData))
      I.VData1 = dataReg(bits(1, 16, 8), Dwords, Acc);
  }
  if (Flags & OpReturns)
    I.VDst = dataReg(bits(1, 24, 8), Flags & OpLdsPair ? 2 * Dwords : Dwords, Acc);
}

void FieldReader::readBuffer() {
  I.Offset = int32_t(bits(0, 0, 12));
  I.Offen = flag(0, 12);
  I.Idxen = flag(0, 13);
  I.Glc = flag(0, 14);
  I.Slc = Target.isGfx10() || I.Form == Format::Mtbuf ? flag(1, 22) : flag(0, 17);
  I.Dlc = Target.isGfx10() && flag(0, 15);
  if (I.Form == Format::Mubuf) {
    I.LdsDma = flag(0, 16);
  } else if (Target.isGfx10()) {
    if (!splitFormat(bits(0, 19, 7), I.DFmt, I.NFmt))
      Legal = false;
  } else {
    I.DFmt = uint8_t(bits(0, 19, 4));
    I.NFmt = uint8_t(bits(0, 23, 3));
  }
  // Where AccVGPRs may be named, their bit has taken the place of tfe.
  const bool Acc = D.target().UnifiedVgprs && flag(1, 23);
  I.Tfe = flag(1, 23) && !Acc;
  I.SRsrc = uint16_t(bits(1, 16, 5) * 4);
  if (I.Offen || I.Idxen)
    I.VAddr = memoryVgpr(bits(1, 0, 8), I.Offen && I.Idxen ? 2 : 1);
  if (I.Info->Dst != Ty::None && !I.LdsDma)
    I.VData = I.VDst = dataReg(bits(1, 8, 8), dataDwords() + I.Tfe, Acc);
  I.SOffset = source(bits(1, 24, 8), Ty::B32);
}

} // namespace vgpu
