// Operand fields of the scalar and vector arithmetic encodings.
#include "FieldReader.h"

#include <algorithm>

namespace vgpu {

namespace {

constexpr uint32_t CodeDpp8 = 233, CodeDpp8Fetch = 234, CodeSdwa = 249, CodeDpp = 250,
                   CodeLiteral = 255, CodeVgpr0 = 256;

/// Inline float constants 240..248 as (f16, f32, f64) bits.
struct FloatConstant {
  uint16_t Half;
  uint32_t Single;
  uint64_t Double;
};
constexpr FloatConstant FloatConstants[] = {
    {0x3800, 0x3f000000, 0x3fe0000000000000}, // 0.5
    {0xb800, 0xbf000000, 0xbfe0000000000000},
    {0x3c00, 0x3f800000, 0x3ff0000000000000}, // 1.0
    {0xbc00, 0xbf800000, 0xbff0000000000000},
    {0x4000, 0x40000000, 0x4000000000000000}, // 2.0
    {0xc000, 0xc0000000, 0xc000000000000000},
    {0x4400, 0x40800000, 0x4010000000000000}, // 4.0
    {0xc400, 0xc0800000, 0xc010000000000000},
    {0x3118, 0x3e22f983, 0x3fc45f306dc9c882}, // 1/(2*pi)
};

bool isPair(Ty T) { return T == Ty::B64 || T == Ty::I64 || T == Ty::F64; }
bool isHalf(Ty T) { return T == Ty::B16 || T == Ty::F16; }
bool isPacked(Ty T) { return T == Ty::P16 || T == Ty::PF16; }

} // namespace

Format FieldReader::formatOf(Generation Gen, uint32_t Word) {
  if (!(Word >> 31)) {
    switch (Word >> 25) {
    case 0x3f: return Format::Vop1;
    case 0x3e: return Format::Vopc;
    default: return Format::Vop2;
    }
  }
  if (Word >> 30 == 2) {
    switch (Word >> 23) {
    case 0x17d: return Format::Sop1;
    case 0x17e: return Format::Sopc;
    case 0x17f: return Format::Sopp;
    default: return Word >> 28 == 0xb ? Format::Sopk : Format::Sop2;
    }
  }
  if (Gen == Generation::Gfx10) {
    switch (Word >> 26) {
    case 0x32: return Format::Vintrp;
    case 0x33: return Format::Vop3p;
    case 0x35: return Format::Vop3;
    case 0x36: return Format::Ds;
    case 0x37: return Format::Flat;
    case 0x38: return Format::Mubuf;
    case 0x3a: return Format::Mtbuf;
    case 0x3c: return Format::Mimg;
    case 0x3d: return Format::Smem;
    case 0x3e: return Format::Exp;
    default: return Format::Unknown;
    }
  }
  switch (Word >> 26) {
  case 0x30: return Format::Smem;
  case 0x31: return Format::Exp;
  case 0x34: return Word >> 23 == 0x1a7 ? Format::Vop3p : Format::Vop3;
  case 0x35: return Format::Vintrp;
  case 0x36: return Format::Ds;
  case 0x37: return Format::Flat;
  case 0x38: return Format::Mubuf;
  case 0x3a: return Format::Mtbuf;
  case 0x3c: return Format::Mimg;
  default: return Format::Unknown;
  }
}

bool FieldReader::read() {
  I.Form = formatOf(Target.Gen, I.Raw[0]);
  // A 16-bit result leaves the other half alone: some do on gfx9, all on gfx10.
  I.KeepsHigh = I.Info->Flags & OpKeepsHigh || (Target.isGfx10() && isHalf(I.Info->Dst));
  switch (I.Form) {
  case Format::Sop2:
    readSop(bits(0, 16, 7), bits(0, 0, 8), bits(0, 8, 8));
    break;
  case Format::Sop1:
    readSop(bits(0, 16, 7), bits(0, 0, 8), 0);
    break;
  case Format::Sopc:
    readSop(0, bits(0, 0, 8), bits(0, 8, 8));
    break;
  case Format::Sopk:
    readSopk();
    break;
  case Format::Sopp:
    I.Imm = signExtend(bits(0, 0, 16), 16);
    break;
  case Format::Vop1:
  case Format::Vop2:
  case Format::Vopc:
    readVop12c();
    break;
  case Format::Vop3:
    readVop3();
    break;
  case Format::Vop3p:
    if (flag(0, 22))
      readMatrix();
    else
      readVop3p();
    break;
  case Format::Smem:
    readSmem();
    break;
  case Format::Flat:
    readFlat();
    break;
  case Format::Ds:
    readDs();
    break;
  case Format::Mubuf:
  case Format::Mtbuf:
    readBuffer();
    break;
  default:
    return false;
  }
  // MI200 alone (MIOpen's notes on its matrix instructions).
  I.FlushHalves = D.target().UnifiedVgprs;
  for (unsigned N = 0; N < 3; ++N) {
    Operand &O = I.Src[N];
    O.Modified = O.Mods || O.Select != SelDword || (I.Dpp && N == 0) ||
                 (isHalf(O.Type) && ((I.OpSel >> N) & 1));
  }
  return Legal;
}

Operand FieldReader::constant(uint64_t Value, Ty Type) {
  Operand O;
  O.Kind = OperandKind::Const;
  O.Type = Type;
  O.Value = Value;
  if (dwordsOf(Type) == 1)
    O.Lanes = D.broadcast(uint32_t(Value));
  return O;
}

Operand FieldReader::literal(Ty Type) {
  const uint32_t Bits = I.Raw[I.Form >= Format::Vop3 && I.Form <= Format::Vop3p ? 2 : 1];
  switch (Type) {
  case Ty::F64: return constant(uint64_t(Bits) << 32, Type);
  case Ty::I64: return constant(uint64_t(int64_t(int32_t(Bits))), Type);
  default: return constant(Bits, Type);
  }
}

Operand FieldReader::scalar(uint32_t Code, Ty Type) {
  Operand O;
  O.Kind = OperandKind::Sgpr;
  O.Type = Type;
  O.Reg = uint16_t(Code);
  if (Code == 125 || Code + dwordsOf(Type) > 128)
    Legal = false;
  return O;
}

/// A destination. What is written to NULL goes where nobody reads it.
Operand FieldReader::scalarDst(uint32_t Code, Ty Type) {
  if (!Target.hasNull() || Code != RegNull)
    return scalar(Code, Type);
  Operand O;
  O.Kind = OperandKind::Sgpr;
  O.Type = Type;
  O.Reg = RegSink;
  return O;
}

/// The scalar register of a lane mask that is written.
uint16_t FieldReader::maskDst(uint32_t Code) {
  if (Target.hasNull() && Code == RegNull)
    return RegSink;
  if (Code > RegExec)
    Legal = false;
  return uint16_t(Code);
}

Operand FieldReader::vgpr(uint32_t Reg, Ty Type) {
  Operand O;
  O.Kind = OperandKind::Vgpr;
  O.Type = Type;
  O.Reg = uint16_t(Reg);
  checkTuple(Reg, dwordsOf(Type));
  I.VgprEnd = std::max<uint16_t>(I.VgprEnd, uint16_t(Reg + dwordsOf(Type)));
  return O;
}

/// A source field of 8 bits (scalar) or 9 (vector formats).
Operand FieldReader::source(uint32_t Code, Ty Type) {
  if (Code >= CodeVgpr0)
    return vgpr(Code - CodeVgpr0, Type);
  if (Target.hasNull() && Code == RegNull)
    return constant(0, Type);
  if (Code < 128)
    return scalar(Code, Type);
  if (Code <= 208) { // 0..64, then -1..-16
    const int64_t Value = Code <= 192 ? int64_t(Code) - 128 : 192 - int64_t(Code);
    if (isPair(Type) || Type == Ty::Mask)
      return constant(uint64_t(Value), Type);
    return constant(uint32_t(Value), Type);
  }
  if (Code >= 240 && Code <= 248) {
    const FloatConstant &C = FloatConstants[Code - 240];
    if (isPair(Type))
      return constant(C.Double, Type);
    return constant(isHalf(Type) || isPacked(Type) ? C.Half : C.Single, Type);
  }
  if (Code == CodeLiteral)
    return literal(Type);
  if ((Code >= SrcSharedBase && Code <= SrcPrivateLimit) || (Code >= SrcVccz && Code <= SrcScc)) {
    Operand O;
    O.Kind = OperandKind::Special;
    O.Type = Type;
    O.Reg = uint16_t(Code);
    return O;
  }
  Legal = false; // reserved, LDS direct, POPS
  return Operand();
}

void FieldReader::readSop(uint32_t Dst, uint32_t Src0, uint32_t Src1) {
  if (I.Info->Dst != Ty::None)
    I.Dst = scalarDst(Dst, I.Info->Dst);
  if (I.Info->Src[0] != Ty::None)
    I.Src[0] = source(Src0, I.Info->Src[0]);
  if (I.Info->Src[1] != Ty::None)
    I.Src[1] = source(Src1, I.Info->Src[1]);
}

void FieldReader::readSopk() {
  I.Imm = signExtend(bits(0, 0, 16), 16);
  const uint32_t Code = bits(0, 16, 7);
  if (I.Info->Dst != Ty::None) {
    I.Dst = scalarDst(Code, I.Info->Dst);
    if (I.Dst.Reg == RegSink && I.Info->Flags & OpDataInDst)
      I.Dst.Reg = RegZero;
  }
  if (I.Size > 1) // s_setreg_imm32_b32
    I.Src[0] = literal(Ty::B32);
}

void FieldReader::setVectorDst(uint32_t Field) {
  if (I.Info->Dst == Ty::None)
    return;
  if (I.Info->Flags & OpScalarDst)
    I.Dst = scalarDst(Field, I.Info->Dst);
  else if (I.Info->Flags & OpAccDst)
    I.Dst = accVgpr(Field, I.Info->Dst);
  else
    I.Dst = vgpr(Field, I.Info->Dst);
}

/// Sources that the 32-bit encodings imply.
void FieldReader::setImplicitSources() {
  const uint32_t Flags = I.Info->Flags;
  if (Flags & OpReadsDst) {
    I.Src[2] = I.Dst;
    I.Src[2].Type = I.Info->Src[2];
  }
  if (Flags & OpCarryIn)
    I.Src[2] = scalar(RegVcc, Ty::Mask);
  if (Flags & (OpCarryOut | OpCompare))
    I.SDst = Flags & OpCompareX && Target.isGfx10() ? RegExec : RegVcc;
}

void FieldReader::readVop12c() {
  const uint32_t Code = bits(0, 0, 9);
  const bool HasSrc1 = I.Form != Format::Vop1;
  if (I.Form != Format::Vopc)
    setVectorDst(bits(0, 17, 8));
  setImplicitSources();
  if (Code == CodeSdwa) {
    readSdwa();
    return;
  }
  if (Code == CodeDpp) {
    readDpp();
    return;
  }
  if (Target.isGfx10() && (Code == CodeDpp8 || Code == CodeDpp8Fetch)) {
    I.FetchInactive = Code == CodeDpp8Fetch;
    readDpp8();
    return;
  }
  const OpInfo &Info = *I.Info;
  if (Info.Flags & OpAccSrc)
    I.Src[0] = accVgpr(bits(0, 0, 8), Info.Src[0]);
  else if (Info.Src[0] != Ty::None)
    I.Src[0] = source(Code, Info.Src[0]);
  if (!HasSrc1 || Info.Src[1] == Ty::None)
    return;
  // v_readlane and v_writelane are VOP3 only on gfx9: source 1 is a VGPR.
  const Operand Src1 = vgpr(bits(0, 9, 8), Info.Src[1]);
  if (Info.Flags & OpLiteralMul) {
    I.Src[1] = literal(Info.Src[1]);
    I.Src[2] = Src1;
  } else {
    I.Src[1] = Src1;
    if (Info.Flags & OpLiteralAdd)
      I.Src[2] = literal(Info.Src[2]);
  }
}

void FieldReader::readSdwa() {
  const OpInfo &Info = *I.Info;
  I.Sdwa = true;
  I.Plain = false;
  auto readSource = [&](Operand &O, uint32_t Reg, unsigned Low, bool IsScalar, Ty Type) {
    O = IsScalar ? source(Reg, Type) : vgpr(Reg, Type);
    O.Select = uint8_t(bits(1, Low, 3));
    O.Mods = (flag(1, Low + 3) ? ModSext : 0) | (flag(1, Low + 4) ? ModNeg : 0) |
             (flag(1, Low + 5) ? ModAbs : 0);
    if (O.Select > SelDword)
      Legal = false;
  };
  if (Info.Src[0] != Ty::None)
    readSource(I.Src[0], bits(1, 0, 8), 16, flag(1, 23), Info.Src[0]);
  if (I.Form != Format::Vop1 && Info.Src[1] != Ty::None)
    readSource(I.Src[1], bits(0, 9, 8), 24, flag(1, 31), Info.Src[1]);
  if (I.Form == Format::Vopc) {
    if (flag(1, 15) && I.SDst == RegVcc)
      I.SDst = maskDst(bits(1, 8, 7));
    I.Clamp = false;
    return;
  }
  I.DstSel = uint8_t(bits(1, 8, 3));
  I.DstUnusedMode = uint8_t(bits(1, 11, 2));
  I.Clamp = flag(1, 13);
  I.Omod = uint8_t(bits(1, 14, 2));
  if (I.DstSel > SelDword || I.DstUnusedMode > UnusedPreserve)
    Legal = false;
}

void FieldReader::readDpp() {
  const OpInfo &Info = *I.Info;
  I.Dpp = true;
  I.Plain = false;
  I.DppCtrl = uint16_t(bits(1, 8, 9));
  const uint32_t C = I.DppCtrl;
  const bool IsRowShift = C > 0x100 && C < 0x130 && (C & 15);
  const bool IsRowMirror = C == 0x140 || C == 0x141;
  // On gfx10 shifts by one and broadcasts over the whole wave gave way to
  // row_share (0x150, row_newbcast on gfx90a) and row_xmask (0x160).
  const bool IsShare = C >= 0x150 && C <= 0x15f && (Target.isGfx10() || Target.UnifiedVgprs);
  const bool IsLong = Target.isGfx10()
                          ? C >= 0x160 && C <= 0x16f
                          : C == 0x130 || C == 0x134 || C == 0x138 || C == 0x13c || C == 0x142 ||
                                C == 0x143;
  if (C > 0xff && !IsRowShift && !IsRowMirror && !IsShare && !IsLong)
    Legal = false;
  I.FetchInactive = Target.isGfx10() && flag(1, 18);
  I.BoundCtrl = flag(1, 19);
  I.BankMask = uint8_t(bits(1, 24, 4));
  I.RowMask = uint8_t(bits(1, 28, 4));
  if (Info.Src[0] != Ty::None) {
    I.Src[0] = vgpr(bits(1, 0, 8), Info.Src[0]);
    I.Src[0].Mods = (flag(1, 20) ? ModNeg : 0) | (flag(1, 21) ? ModAbs : 0);
  }
  if (I.Form != Format::Vop1 && Info.Src[1] != Ty::None) {
    I.Src[1] = vgpr(bits(0, 9, 8), Info.Src[1]);
    I.Src[1].Mods = (flag(1, 22) ? ModNeg : 0) | (flag(1, 23) ? ModAbs : 0);
  }
}

void FieldReader::readDpp8() {
  const OpInfo &Info = *I.Info;
  I.Dpp = true;
  I.Plain = false;
  I.BoundCtrl = true;
  I.DppCtrl = Dpp8Control;
  I.Dpp8Lanes = bits(1, 8, 24);
  if (Info.Src[0] != Ty::None)
    I.Src[0] = vgpr(bits(1, 0, 8), Info.Src[0]);
  if (I.Form != Format::Vop1 && Info.Src[1] != Ty::None)
    I.Src[1] = vgpr(bits(0, 9, 8), Info.Src[1]);
}

void FieldReader::readVop3() {
  const OpInfo &Info = *I.Info;
  const bool HasSDst = Info.Flags & OpCarryOut;
  if (Info.Flags & OpCompareX && Target.isGfx10())
    I.SDst = RegExec; // the field is not used
  else if (Info.Flags & OpCompare)
    I.SDst = maskDst(bits(0, 0, 8));
  else
    setVectorDst(bits(0, 0, 8));
  if (HasSDst) {
    I.Form = Format::Vop3b;
    I.SDst = maskDst(bits(0, 8, 7));
  } else {
    I.OpSel = uint8_t(bits(0, 11, 4));
  }
  I.Clamp = flag(0, 15);
  I.Omod = uint8_t(bits(1, 27, 2));
  I.Plain = !I.Clamp && !I.Omod && !I.OpSel;
  for (unsigned N = 0; N < 3; ++N) {
    if (Info.Src[N] == Ty::None)
      continue;
    if (N == 2 && (Info.Flags & OpReadsDst)) {
      I.Src[2] = I.Dst;
      I.Src[2].Type = Info.Src[2];
      continue;
    }
    I.Src[N] = source(bits(1, 9 * N, 9), Info.Src[N]);
    if (Info.Src[N] == Ty::Mask)
      continue;
    I.Src[N].Mods = (flag(1, 29 + N) ? ModNeg : 0) |
                    (!HasSDst && flag(0, 8 + N) ? ModAbs : 0);
  }
}

void FieldReader::readVop3p() {
  const OpInfo &Info = *I.Info;
  setVectorDst(bits(0, 0, 8));
  I.OpSel = uint8_t(bits(0, 11, 3));
  I.OpSelHi = uint8_t(bits(1, 27, 2) | bits(0, 14, 1) << 2);
  I.Clamp = flag(0, 15);
  I.Plain = false;
  // mad_mix uses the place of neg_hi for abs.
  const uint8_t HighMod = Info.Flags & OpMix ? ModAbs : ModNegHi;
  for (unsigned N = 0; N < 3; ++N) {
    if (Info.Src[N] == Ty::None)
      continue;
    I.Src[N] = source(bits(1, 9 * N, 9), Info.Src[N]);
    I.Src[N].Mods = (flag(1, 29 + N) ? ModNeg : 0) | (flag(0, 8 + N) ? HighMod : 0);
  }
}

} // namespace vgpu
