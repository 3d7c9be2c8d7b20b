// The uncommon ways of reading sources and storing results: scalars, SDWA,
// DPP, op_sel, input and output modifiers, partial EXEC.
#include <cstring>
#include <functional>
#include <vector>

#include "isa/Vector.h"


namespace vgpu::VGPU_SIMD {

namespace {

bool isHalfType(Ty T) { return T == Ty::B16 || T == Ty::F16; }

void fill(uint32_t *Lanes, uint32_t Value) {
  for (unsigned L = 0; L < MaxLanes; ++L)
    Lanes[L] = Value;
}

/// DPP: which lane a lane reads, or -1 where there is none.
int dppSource(unsigned Control, int L) {
  const int Row = L & ~15, InRow = L & 15;
  if (Control <= 0xff) // quad_perm
    return (L & ~3) | int((Control >> (2 * (L & 3))) & 3);
  const int Amount = int(Control & 15);
  if (Control >= 0x101 && Control <= 0x10f) // row_shl: reads from higher lanes
    return InRow + Amount < 16 ? L + Amount : -1;
  if (Control >= 0x111 && Control <= 0x11f) // row_shr
    return InRow >= Amount ? L - Amount : -1;
  if (Control >= 0x121 && Control <= 0x12f) // row_ror
    return Row | ((InRow - Amount) & 15);
  if (Control >= 0x150 && Control <= 0x15f) // row_newbcast of gfx90a, row_share of gfx10
    return Row | Amount;
  if (Control >= 0x160 && Control <= 0x16f) // row_xmask of gfx10
    return L ^ Amount;
  switch (Control) {
  case 0x130: return L < 63 ? L + 1 : -1;      // wave_shl:1
  case 0x134: return (L + 1) & 63;             // wave_rol:1
  case 0x138: return L > 0 ? L - 1 : -1;       // wave_shr:1
  case 0x13c: return (L - 1) & 63;             // wave_ror:1
  case 0x140: return Row | (15 - InRow);       // row_mirror
  case 0x141: return (L & ~7) | (7 - (L & 7)); // row_half_mirror
  case 0x142: return L < 16 ? -1 : Row - 1;    // row_bcast:15 into the next row
  case 0x143: return L < 32 ? -1 : 31;         // row_bcast:31 into rows 2 and 3
  default: return -1;
  }
}

/// dppSource for all lanes of one control.
struct DppMap {
  int8_t From[MaxLanes]; // 0 where there is no source
  uint64_t HasSource;
};

DppMap makeDppMap(const std::function<int(unsigned)> &Source) {
  DppMap Map;
  Map.HasSource = 0;
  for (unsigned L = 0; L < MaxLanes; ++L) {
    const int S = Source(L);
    Map.From[L] = int8_t(S < 0 ? 0 : S);
    Map.HasSource |= uint64_t(S >= 0) << L;
  }
  return Map;
}

/// The map of an instruction; Space is for one that is not kept.
const DppMap &dppMap(const Inst &I, DppMap &Space) {
  static const std::vector<DppMap> Maps = [] {
    std::vector<DppMap> All;
    for (unsigned C = 0; C < 512; ++C)
      All.push_back(makeDppMap([C](unsigned L) { return dppSource(C, int(L)); }));
    return All;
  }();
  if (I.DppCtrl != Dpp8Control)
    return Maps[I.DppCtrl & 511];
  Space = makeDppMap(
      [&](unsigned L) { return int((L & ~7u) | ((I.Dpp8Lanes >> (3 * (L & 7))) & 7)); });
  return Space;
}

/// Lanes whose DPP source exists and may be read.
uint64_t dppValid(const Wave &W, const Inst &I, const DppMap &Map) {
  const uint64_t Exec = W.exec();
  if (I.FetchInactive)
    return Map.HasSource;
  if (Exec == ~uint64_t(0))
    return Map.HasSource;
  uint64_t Active = 0;
  for (unsigned L = 0; L < MaxLanes; ++L)
    Active |= ((Exec >> Map.From[L]) & 1) << L;
  return Active & Map.HasSource;
}

/// Lanes that row_mask and bank_mask name: 4 rows of 4 banks of 4 lanes.
uint64_t rowBankMask(const Inst &I) {
  uint64_t Row = 0, All = 0;
  for (unsigned Bank = 0; Bank < 4; ++Bank)
    Row |= uint64_t((I.BankMask >> Bank) & 1 ? 15 : 0) << (4 * Bank);
  for (unsigned R = 0; R < 4; ++R)
    All |= ((I.RowMask >> R) & 1 ? Row : 0) << (16 * R);
  return All;
}

uint32_t select(uint32_t Value, unsigned Select, bool Sext) {
  switch (Select) {
  case SelDword: return Value;
  case SelWord0:
  case SelWord1: {
    const uint32_t V = (Value >> (16 * (Select - SelWord0))) & 0xffff;
    return Sext ? uint32_t(int32_t(int16_t(V))) : V;
  }
  default: {
    const uint32_t V = (Value >> (8 * Select)) & 0xff;
    return Sext ? uint32_t(int32_t(int8_t(V))) : V;
  }
  }
}

/// SDWA destination: the selected part is replaced, the rest zeroed,
/// sign-filled or kept.
uint32_t merge(uint32_t Old, uint32_t Value, const Inst &I) {
  unsigned Shift = 0, Width = 32;
  if (I.DstSel <= SelByte3) {
    Shift = 8 * I.DstSel;
    Width = 8;
  } else if (I.DstSel != SelDword) {
    Shift = 16 * (I.DstSel - SelWord0);
    Width = 16;
  }
  if (Width == 32)
    return Value;
  const uint32_t Mask = ((1u << Width) - 1) << Shift;
  const uint32_t Part = (Value << Shift) & Mask;
  switch (I.DstUnusedMode) {
  case UnusedPreserve: return Part | (Old & ~Mask);
  case UnusedSext: return uint32_t(int32_t(Part << (32 - Shift - Width)) >> (32 - Shift - Width));
  default: return Part;
  }
}

template <class T> T applyOutput(T V, const Wave &W, const Inst &I, FloatMode M) {
  // omod does nothing in IEEE mode or where denormal results are kept.
  if (I.Omod && !(W.Mode & ModeIeee) && M.FlushOut)
    V = I.Omod == 1 ? V * 2 : I.Omod == 2 ? V * 4 : V / 2;
  if (I.Clamp) {
    if (isNan(V))
      return W.Mode & ModeDx10Clamp ? T(0) : V;
    V = V > T(0) ? V : T(0);
    V = V < T(1) ? V : T(1);
  }
  return V;
}

} // namespace

uint64_t activeLanes(const Wave &W, const Inst &I) {
  if (!I.Dpp)
    return W.exec();
  // A lane whose source does not exist or is inactive is left alone, unless
  // bound_ctrl lets it read 0.
  DppMap Space;
  const uint64_t Valid = I.BoundCtrl ? ~uint64_t(0) : dppValid(W, I, dppMap(I, Space));
  return W.exec() & rowBankMask(I) & Valid;
}

const uint32_t *fetch32(const Wave &W, const Inst &I, unsigned N, uint32_t *Buffer) {
  const Operand &O = I.Src[N];
  switch (O.Kind) {
  case OperandKind::Vgpr:
    std::memcpy(Buffer, W.Vgpr[O.Reg].Lane, sizeof W.Vgpr[O.Reg].Lane);
    break;
  case OperandKind::Const:
    fill(Buffer, uint32_t(O.Value));
    break;
  case OperandKind::Sgpr:
    fill(Buffer, W.Sgpr[O.Reg]);
    break;
  default:
    fill(Buffer, uint32_t(specialSource(W, O)));
    break;
  }
  if (!O.Modified)
    return Buffer;
  if (I.Dpp && N == 0) {
    DppMap Space;
    const DppMap &Map = dppMap(I, Space);
    LaneBuffer From, Valid;
    std::memcpy(From.Lane, Buffer, sizeof From.Lane);
    expandMask(dppValid(W, I, Map), Valid.Lane);
    for (unsigned L = 0; L < MaxLanes; ++L)
      Buffer[L] = From.Lane[unsigned(Map.From[L])] & Valid.Lane[L];
  }
  const bool IsHalf = isHalfType(O.Type);
  if (O.Select != SelDword || (O.Mods & ModSext))
    for (unsigned L = 0; L < MaxLanes; ++L)
      Buffer[L] = select(Buffer[L], O.Select, O.Mods & ModSext);
  else if (IsHalf && !I.Sdwa && ((I.OpSel >> N) & 1))
    for (unsigned L = 0; L < MaxLanes; ++L)
      Buffer[L] >>= 16;
  const uint32_t Sign = IsHalf ? 0x8000 : 0x80000000;
  if (O.Mods & ModAbs)
    for (unsigned L = 0; L < MaxLanes; ++L)
      Buffer[L] &= ~Sign;
  if (O.Mods & ModNeg)
    for (unsigned L = 0; L < MaxLanes; ++L)
      Buffer[L] ^= Sign;
  return Buffer;
}

void fetch64(const Wave &W, const Inst &I, unsigned N, PairBuffer &Buffer) {
  const Operand &O = I.Src[N];
  if (O.Kind == OperandKind::Vgpr) {
    std::memcpy(Buffer.Low, W.Vgpr[O.Reg].Lane, sizeof Buffer.Low);
    std::memcpy(Buffer.High, W.Vgpr[O.Reg + 1].Lane, sizeof Buffer.High);
  } else {
    const uint64_t V = scalarSource<uint64_t>(W, O);
    fill(Buffer.Low, uint32_t(V));
    fill(Buffer.High, uint32_t(V >> 32));
  }
  if (I.Dpp && N == 0) {
    DppMap Space;
    const DppMap &Map = dppMap(I, Space);
    const PairBuffer From = Buffer;
    LaneBuffer Valid;
    expandMask(dppValid(W, I, Map), Valid.Lane);
    for (unsigned L = 0; L < MaxLanes; ++L) {
      Buffer.Low[L] = From.Low[unsigned(Map.From[L])] & Valid.Lane[L];
      Buffer.High[L] = From.High[unsigned(Map.From[L])] & Valid.Lane[L];
    }
  }
  if (O.Mods & ModAbs)
    for (uint32_t &H : Buffer.High)
      H &= 0x7fffffff;
  if (O.Mods & ModNeg)
    for (uint32_t &H : Buffer.High)
      H ^= 0x80000000;
}

void store32(Wave &W, const Inst &I, const uint32_t *Result) {
  uint32_t *D = W.Vgpr[I.Dst.Reg].Lane;
  if (I.Plain) {
    blend(D, Result, W.exec());
    return;
  }
  const uint64_t Active = activeLanes(W, I);
  if (!I.Sdwa) {
    blend(D, Result, Active);
    return;
  }
  for (unsigned L = 0; L < MaxLanes; ++L)
    if ((Active >> L) & 1)
      D[L] = merge(D[L], Result[L], I);
}

void store16(Wave &W, const Inst &I, const uint32_t *Result) {
  const bool Keeps = I.KeepsHigh;
  const bool ToHigh = !I.Sdwa && (I.OpSel & 8);
  if (I.Sdwa || (!Keeps && !ToHigh)) {
    store32(W, I, Result);
    return;
  }
  LaneBuffer Merged;
  const uint32_t *D = W.Vgpr[I.Dst.Reg].Lane;
  for (unsigned L = 0; L < MaxLanes; ++L)
    Merged.Lane[L] = ToHigh ? Result[L] << 16 | (D[L] & 0xffff)
                            : (Result[L] & 0xffff) | (D[L] & 0xffff0000);
  store32(W, I, Merged.Lane);
}

void store64(Wave &W, const Inst &I, const uint32_t *Low, const uint32_t *High) {
  const uint64_t Active = activeLanes(W, I);
  blend(W.Vgpr[I.Dst.Reg].Lane, Low, Active);
  blend(W.Vgpr[I.Dst.Reg + 1].Lane, High, Active);
}

void modify32(const Wave &W, const Inst &I, uint32_t *Result) {
  if (!I.Clamp && !I.Omod)
    return;
  const FloatMode M = FloatMode::of32(W.Mode);
  for (unsigned L = 0; L < MaxLanes; ++L)
    Result[L] = toBits(applyOutput(fromBits<float>(Result[L]), W, I, M));
}

void modify16(const Wave &W, const Inst &I, uint32_t *Result) {
  if (!I.Clamp && !I.Omod)
    return;
  const FloatMode M = FloatMode::of64(W.Mode);
  for (unsigned L = 0; L < MaxLanes; ++L) {
    const Half H{uint16_t(Result[L])};
    if (!isNan(H) || (I.Clamp && (W.Mode & ModeDx10Clamp)))
      Result[L] = toHalf(applyOutput(toDouble(H), W, I, M), M).Bits;
  }
}

void modify64(const Wave &W, const Inst &I, uint32_t *Low, uint32_t *High) {
  if (!I.Clamp && !I.Omod)
    return;
  const FloatMode M = FloatMode::of64(W.Mode);
  for (unsigned L = 0; L < MaxLanes; ++L) {
    const uint64_t R =
        toBits(applyOutput(fromBits<double>(uint64_t(Low[L]) | uint64_t(High[L]) << 32), W, I, M));
    Low[L] = uint32_t(R);
    High[L] = uint32_t(R >> 32);
  }
}

} // namespace vgpu::VGPU_SIMD
