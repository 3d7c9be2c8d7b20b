// Reads the operand fields of one encoded instruction into an Inst: one
// routine a format, from the public ISA manuals ("Microcode Formats"). The
// generations differ in little but where formats begin, so that gfx10 is a
// branch in the routines of gfx9.
#ifndef VGPU_CORE_FIELDREADER_H
#define VGPU_CORE_FIELDREADER_H

#include "Decoder.h"

namespace vgpu {

class FieldReader {
public:
  FieldReader(Decoder &D, Inst &I) : D(D), Target(D.target()), I(I) {}

  /// False if an operand is one that the instruction cannot have.
  bool read();

  /// The format an encoding belongs to.
  static Format formatOf(Generation Gen, uint32_t Word);

private:
  uint32_t bits(unsigned Word, unsigned Low, unsigned Count) const {
    return (I.Raw[Word] >> Low) & ((1u << Count) - 1);
  }
  bool flag(unsigned Word, unsigned Bit) const { return bits(Word, Bit, 1); }

  void readSop(uint32_t Dst, uint32_t Src0, uint32_t Src1);
  void readSopk();
  void readVop12c();
  void readSdwa();
  void readDpp();
  void readDpp8();
  void readVop3();
  void readVop3p();
  void readMatrix();
  void readSmem();
  void readFlat();
  void readDs();
  void readBuffer();

  Operand source(uint32_t Code, Ty Type);
  Operand vgpr(uint32_t Reg, Ty Type);
  Operand accVgpr(uint32_t Reg, Ty Type);
  Operand scalar(uint32_t Code, Ty Type);
  Operand scalarDst(uint32_t Code, Ty Type);
  uint16_t maskDst(uint32_t Code);
  Operand constant(uint64_t Value, Ty Type);
  Operand literal(Ty Type);
  void setVectorDst(uint32_t Field);
  void setImplicitSources();
  uint16_t memoryVgpr(uint32_t Reg, unsigned Dwords);
  uint16_t accReg(uint32_t Reg, unsigned Dwords);
  uint16_t dataReg(uint32_t Reg, unsigned Dwords, bool Acc) {
    return Acc ? accReg(Reg, Dwords) : memoryVgpr(Reg, Dwords);
  }
  void checkTuple(uint32_t Reg, unsigned Dwords);
  unsigned dataDwords() const;

  static int32_t signExtend(uint32_t Value, unsigned Bits) {
    return int32_t(Value << (32 - Bits)) >> (32 - Bits);
  }

  Decoder &D;
  const TargetTraits &Target;
  Inst &I;
  bool Legal = true;
};

} // namespace vgpu

#endif
