// Buffer addressing of gfx9 and gfx10, from the manuals' chapters on it.
#include "isa/BufferAccess.h"

#include "core/UnifiedFormat.h"
#include "machine/Machine.h"

#include <algorithm>

namespace vgpu {

BufferResource::BufferResource(const Wave &W, unsigned Reg) {
  const uint32_t *R = W.Sgpr + Reg;
  Base = uint64_t(R[1] & 0xffff) << 32 | R[0];
  Stride = R[1] >> 16 & 0x3fff;
  Swizzle = R[1] >> 31;
  Records = R[2];
  for (unsigned I = 0; I < 4; ++I)
    Select[I] = R[3] >> (3 * I) & 7;
  IndexStride = 8u << (R[3] >> 21 & 3);
  AddThreadId = R[3] >> 23 & 1;
  if (W.Gen == Generation::Gfx10) {
    uint8_t Data = 0, Number = 0;
    splitFormat(R[3] >> 12 & 127, Data, Number);
    DataFormat = Data;
    NumberFormat = Number;
    ElementBytes = 4;
    Check = RangeCheck(R[3] >> 28 & 3);
    return;
  }
  NumberFormat = R[3] >> 12 & 7;
  DataFormat = R[3] >> 15 & 15;
  ElementBytes = 2u << (R[3] >> 19 & 3);
  if (AddThreadId) // The format's place holds stride bits 17..14.
    Stride |= DataFormat << 14;
  Check = Stride && !(Swizzle && AddThreadId) ? RangeCheck::Index : RangeCheck::Raw;
}

bool BufferAccess::resolve(Wave &W, const Inst &I, const BufferResource &R, unsigned Bytes,
                           bool Write) {
  Machine &M = Machine::of(W);
  if (I.Tfe) {
    M.fault(W, I, FaultKind::UnknownInstruction, "tfe is not modelled", MaxLanes, 0);
    return false;
  }
  const uint32_t Soffset = I.SOffset.Kind == OperandKind::Sgpr ? W.Sgpr[I.SOffset.Reg]
                                                               : uint32_t(I.SOffset.Value);
  static const Vreg Zero = {};
  const Vreg &Index = I.Idxen ? W.Vgpr[I.VAddr] : Zero;
  const Vreg &Offset = I.Offen ? W.Vgpr[I.VAddr + (I.Idxen ? 1 : 0)] : Zero;
  if (R.Swizzle && R.ElementBytes == 4)
    DwordStride = 4 * R.IndexStride;
  const bool OfScratch = R.Swizzle && R.AddThreadId;
  // What R.Check asks for: indices below, bytes of a record and of all up to.
  uint64_t Indices = ~uint64_t(0), InRecord = ~uint64_t(0), InAll = ~uint64_t(0);
  switch (R.Check) {
  case RangeCheck::IndexAndOffset:
    InRecord = R.Stride;
    Indices = R.Records;
    break;
  case RangeCheck::Index: Indices = R.Records; break;
  case RangeCheck::NoRecords: Indices = R.Records ? Indices : 0; break;
  case RangeCheck::Raw: InAll = R.Records; break;
  }
  for (uint64_t Rest = W.exec(); Rest; Rest &= Rest - 1) {
    unsigned L = unsigned(__builtin_ctzll(Rest));
    uint64_t At = uint64_t(Index.Lane[L]) + (R.AddThreadId ? L : 0);
    uint64_t Off = uint64_t(uint32_t(I.Offset)) + Offset.Lane[L];
    if (OfScratch)
      Off = uint32_t(Off); // Compilers index from behind, by negative numbers.
    uint64_t BufferOffset = At * R.Stride + Off;
    if (R.Swizzle) {
      BufferOffset = (At / R.IndexStride * R.Stride + Off / R.ElementBytes * R.ElementBytes) *
                         R.IndexStride +
                     At % R.IndexStride * R.ElementBytes + Off % R.ElementBytes;
      if (Bytes > 4 && R.ElementBytes != 4) {
        M.fault(W, I, FaultKind::IllegalOperand,
                "wide access to a swizzled buffer whose elements are not dwords", L, 0);
        return false;
      }
    }
    const uint64_t Address = hostAddress(R.Base + Soffset + BufferOffset);
    // The resource of scratch covers that of all waves: a stack that grows out of
    // its own part would go on in another wave's.
    if (OfScratch && !M.onStack(W, R.Base, Address, std::min(Bytes, 4u))) {
      M.stackFault(W, I,
                   "beyond the work item's " + std::to_string(Machine::privateBytes(W)) +
                       " bytes of scratch",
                   L, Address);
      return false;
    }
    if (At >= Indices || Off + Bytes > InRecord || BufferOffset + Soffset + Bytes > InAll)
      continue;
    InRange |= uint64_t(1) << L;
    A.Lane[L] = Address;
  }
  return M.checkLanes(W, I, A.Lane, InRange, R.Swizzle ? std::min(Bytes, 4u) : Bytes, Write);
}

/// Calls Body(lane, host address in LDS) for the active lanes.
template <typename F> static bool forLdsDwords(Wave &W, const Inst &I, F Body) {
  Machine &M = Machine::of(W);
  for (uint64_t Rest = W.exec(); Rest; Rest &= Rest - 1) {
    const unsigned L = unsigned(__builtin_ctzll(Rest));
    const uint64_t At = (W.m0() & 0xffff) + uint32_t(I.Offset) + 4 * L;
    if (At + 4 > M.ldsSize(W)) {
      M.fault(W, I, FaultKind::LdsRange,
              "4 bytes at LDS offset " + std::to_string(At) + ", the workgroup has " +
                  std::to_string(M.ldsSize(W)),
              L, At);
      return false;
    }
    Body(L, M.ldsBase(W) + At);
  }
  return true;
}

bool storeToLds(Wave &W, const Inst &I, const Vreg &Value) {
  return forLdsDwords(
      W, I, [&](unsigned L, uint8_t *Place) { std::memcpy(Place, &Value.Lane[L], 4); });
}

bool loadFromLds(Wave &W, const Inst &I, Vreg &Value) {
  return forLdsDwords(
      W, I, [&](unsigned L, const uint8_t *Place) { std::memcpy(&Value.Lane[L], Place, 4); });
}

} // namespace vgpu
