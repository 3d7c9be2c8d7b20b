// MUBUF: vector memory through a buffer resource in four SGPRs. The compiler
// uses it for scratch (swizzled, one dword of all lanes side by side) and for
// typed loads. Out-of-range loads give zero and stores are dropped, as the
// manual has it ("Buffer Addressing", "Range checking").
#include "isa/MemAccess.h"
#include "isa/MemTables.h"
#include "machine/Machine.h"

#include <algorithm>

namespace vgpu {
namespace {

/// The fields of a buffer resource that matter here (gfx9).
struct Resource {
  uint64_t Base;
  uint32_t Stride, Records, ElementBytes, IndexStride;
  uint32_t DataFormat, NumberFormat;
  uint8_t Select[4];
  bool Swizzle, AddThreadId;

  explicit Resource(const uint32_t *R) {
    Base = uint64_t(R[1] & 0xffff) << 32 | R[0];
    Stride = R[1] >> 16 & 0x3fff;
    Swizzle = R[1] >> 31;
    Records = R[2];
    for (unsigned I = 0; I < 4; ++I)
      Select[I] = R[3] >> (3 * I) & 7;
    NumberFormat = R[3] >> 12 & 7;
    DataFormat = R[3] >> 15 & 15;
    ElementBytes = 2u << (R[3] >> 19 & 3);
    IndexStride = 8u << (R[3] >> 21 & 3);
    AddThreadId = R[3] >> 23 & 1;
    if (AddThreadId) // The format's place holds stride bits 17..14.
      Stride |= DataFormat << 14;
  }
};

struct Access {
  LaneAddresses A;
  uint64_t InRange = 0; ///< Active lanes inside the resource.
  unsigned DwordStride = 4;
};

/// Lane addresses, range check, memory check. False: a fault was raised.
bool resolve(Wave &W, const Inst &I, Access &Acc, unsigned Bytes, bool Write) {
  Machine &M = Machine::of(W);
  if (I.LdsDma || I.Tfe) {
    M.fault(W, I, FaultKind::UnknownInstruction,
            I.LdsDma ? "buffer load to LDS is not modelled" : "tfe is not modelled", MaxLanes, 0);
    return false;
  }
  const Resource R(W.Sgpr + I.SRsrc);
  const uint32_t Soffset = I.SOffset.Kind == OperandKind::Sgpr ? W.Sgpr[I.SOffset.Reg]
                                                               : uint32_t(I.SOffset.Value);
  const Vreg *Index = I.Idxen ? W.Vgpr + I.VAddr : nullptr;
  const Vreg *Offset = I.Offen ? W.Vgpr + I.VAddr + (I.Idxen ? 1 : 0) : nullptr;
  if (R.Swizzle && R.ElementBytes == 4)
    Acc.DwordStride = 4 * R.IndexStride;
  for (uint64_t Rest = W.exec(); Rest; Rest &= Rest - 1) {
    unsigned L = unsigned(__builtin_ctzll(Rest));
    uint64_t At = (Index ? Index->Lane[L] : 0) + (R.AddThreadId ? L : 0);
    uint64_t Off = uint64_t(uint32_t(I.Offset)) + (Offset ? Offset->Lane[L] : 0);
    uint64_t BufferOffset;
    bool Outside;
    if (R.Swizzle) {
      BufferOffset = (At / R.IndexStride * R.Stride + Off / R.ElementBytes * R.ElementBytes) *
                         R.IndexStride +
                     At % R.IndexStride * R.ElementBytes + Off % R.ElementBytes;
      // Index against the number of records if there is a stride.
      Outside = R.Stride && !R.AddThreadId ? At >= R.Records
                                           : BufferOffset + Soffset + Bytes > R.Records;
      if (Bytes > 4 && R.ElementBytes != 4) {
        M.fault(W, I, FaultKind::IllegalOperand,
                "wide access to a swizzled buffer whose elements are not dwords", L, 0);
        return false;
      }
    } else {
      BufferOffset = At * R.Stride + Off;
      Outside = R.Stride ? At >= R.Records : BufferOffset + Soffset + Bytes > R.Records;
    }
    if (Outside)
      continue;
    Acc.InRange |= uint64_t(1) << L;
    Acc.A.Lane[L] = hostAddress(R.Base + Soffset + BufferOffset);
  }
  return M.checkLanes(W, I, Acc.A.Lane, Acc.InRange, R.Swizzle ? std::min(Bytes, 4u) : Bytes,
                      Write);
}

template <Element E> void load(Wave &W, const Inst &I) {
  Access Acc;
  if (!resolve(W, I, Acc, bytesOf(E), false))
    return;
  Vreg *Dst = W.Vgpr + I.VDst;
  loadLanes<E>(Dst, Acc.A.Lane, Acc.InRange, Acc.DwordStride);
  const bool KeepsHalf = E >= Element::U8Low && E <= Element::B16High;
  for (uint64_t Rest = W.exec() & ~Acc.InRange; Rest; Rest &= Rest - 1) {
    unsigned L = unsigned(__builtin_ctzll(Rest));
    if (KeepsHalf)
      Dst->Lane[L] &= E >= Element::U8High ? 0xffff : 0xffff0000;
    else
      for (unsigned D = 0; D < std::max(1u, bytesOf(E) / 4); ++D)
        Dst[D].Lane[L] = 0;
  }
  Machine::of(W).vectorTime(W, I, Acc.A.Lane, Acc.InRange, bytesOf(E), MemoryOp::Load);
}

template <Element E> void store(Wave &W, const Inst &I) {
  Access Acc;
  if (!resolve(W, I, Acc, bytesOf(E), true))
    return;
  storeLanes<E>(W.Vgpr + I.VData, Acc.A.Lane, Acc.InRange, Acc.DwordStride);
  Machine::of(W).vectorTime(W, I, Acc.A.Lane, Acc.InRange, bytesOf(E), MemoryOp::Store);
}

template <Rmw Op, typename T> void atomic(Wave &W, const Inst &I) {
  Machine &M = Machine::of(W);
  constexpr unsigned Dwords = sizeof(T) / 4;
  if (Op == Rmw::CmpSwap && I.VData + 2 * Dwords > W.NumVgprs) {
    M.fault(W, I, FaultKind::IllegalOperand, "data registers beyond the wave's allocation",
            MaxLanes, 0);
    return;
  }
  Access Acc;
  if (!resolve(W, I, Acc, sizeof(T), true))
    return;
  Vreg *Data = W.Vgpr + I.VData;
  for (uint64_t Rest = Acc.InRange; Rest; Rest &= Rest - 1) {
    unsigned L = unsigned(__builtin_ctzll(Rest));
    if (Acc.A.Lane[L] % sizeof(T)) {
      M.fault(W, I, FaultKind::Misaligned, "atomic on an address that is no multiple of its size",
              L, Acc.A.Lane[L]);
      return;
    }
    T Old = atomicRmw<Op, T>(Acc.A.Lane[L], laneData<T>(Data, L),
                             Op == Rmw::CmpSwap ? laneData<T>(Data + Dwords, L) : T(0));
    if (I.Glc)
      setLaneData<T>(Data, L, Old);
  }
  M.vectorTime(W, I, Acc.A.Lane, Acc.InRange, sizeof(T), MemoryOp::Atomic);
}

/// One component of a typed element: Bits wide, at Shift of Word.
uint32_t convert(uint32_t Word, unsigned Shift, unsigned Bits, uint32_t NumberFormat) {
  uint32_t Raw = Bits == 32 ? Word : (Word >> Shift) & ((1u << Bits) - 1);
  int32_t Signed = int32_t(Raw << (32 - Bits)) >> (32 - Bits);
  float Value;
  switch (NumberFormat) {
  case 0: Value = float(double(Raw) / double(Bits == 32 ? 0xffffffffu : (1u << Bits) - 1)); break;
  case 1:
    Value = float(std::max(-1.0, double(Signed) / double((uint64_t(1) << (Bits - 1)) - 1)));
    break;
  case 2: Value = float(Raw); break;
  case 3: Value = float(Signed); break;
  case 4: return Raw;
  case 5: return uint32_t(Signed);
  default: { // float
    if (Bits == 32)
      return Raw;
    uint32_t Sign = Raw >> 15 << 31, Exponent = Raw >> 10 & 31, Mantissa = Raw & 1023;
    if (Exponent == 31)
      return Sign | 0x7f800000 | Mantissa << 13;
    if (Exponent)
      return Sign | (Exponent + 112) << 23 | Mantissa << 13;
    Value = float(Mantissa) / 16777216.0f;
    uint32_t Word32;
    std::memcpy(&Word32, &Value, 4);
    return Sign | Word32;
  }
  }
  uint32_t Word32;
  std::memcpy(&Word32, &Value, 4);
  return Word32;
}

/// Bits of each component by data format; 0 where not modelled.
struct DataLayout {
  uint8_t Components, Bits;
};
constexpr DataLayout Layouts[16] = {
    {0, 0}, {1, 8}, {1, 16}, {2, 8}, {1, 32}, {2, 16}, {0, 0}, {0, 0},
    {0, 0}, {0, 0}, {4, 8},  {2, 32}, {4, 16}, {3, 32}, {4, 32}, {0, 0},
};

/// buffer_load_format_x, _xy, _xyz, _xyzw: converts and swizzles components.
template <unsigned Wanted> void loadFormat(Wave &W, const Inst &I) {
  Machine &M = Machine::of(W);
  const Resource R(W.Sgpr + I.SRsrc);
  const DataLayout Layout = Layouts[R.DataFormat];
  if (!Layout.Bits || R.NumberFormat == 6 ||
      (R.NumberFormat == 7 && Layout.Bits != 16 && Layout.Bits != 32)) {
    M.fault(W, I, FaultKind::UnknownInstruction,
            "buffer format " + std::to_string(R.DataFormat) + "/" +
                std::to_string(R.NumberFormat) + " is not modelled",
            MaxLanes, 0);
    return;
  }
  const unsigned Bytes = Layout.Components * Layout.Bits / 8;
  Access Acc;
  if (!resolve(W, I, Acc, Bytes, false))
    return;
  const bool Integer = R.NumberFormat == 4 || R.NumberFormat == 5;
  const uint32_t One = Integer ? 1 : 0x3f800000;
  for (uint64_t Rest = W.exec(); Rest; Rest &= Rest - 1) {
    unsigned L = unsigned(__builtin_ctzll(Rest));
    uint32_t Component[4] = {0, 0, 0, One};
    if (Acc.InRange >> L & 1) {
      for (unsigned C = 0; C < Layout.Components; ++C) {
        unsigned Bit = C * Layout.Bits;
        uint32_t Word = 0;
        std::memcpy(&Word, reinterpret_cast<const void *>(Acc.A.Lane[L] + Bit / 8),
                    Layout.Bits / 8);
        Component[C] = convert(Word, 0, Layout.Bits, R.NumberFormat);
      }
    } else {
      Component[3] = 0;
    }
    for (unsigned C = 0; C < Wanted; ++C) {
      unsigned S = R.Select[C];
      W.Vgpr[I.VDst + C].Lane[L] = S >= 4 ? Component[S - 4] : S == 1 ? One : 0;
    }
  }
  M.vectorTime(W, I, Acc.A.Lane, Acc.InRange, Bytes, MemoryOp::Load);
}

void invalidateL1(Wave &W, const Inst &) {
  auto &M = static_cast<MachineWave &>(W);
  Machine::of(W).memoryTiming().invalidateVector(M.Cu);
  M.pushVm(W.Cycle + 4);
}

constexpr uint32_t AtomicFlags = OpAtomic | OpStores | OpReturns;

#define LOAD(NAME, E) {"buffer_load_" NAME, load<E>, OpClass::VmemLoad, OpReturns, typeOf(E)}
#define STORE(NAME, E) {"buffer_store_" NAME, store<E>, OpClass::VmemStore, OpStores, typeOf(E)}
#define ATOMIC(NAME, OP)                                                                      \
  {"buffer_atomic_" NAME, atomic<OP, uint32_t>, OpClass::VmemAtomic, AtomicFlags, Ty::B32},   \
      {"buffer_atomic_" NAME "_x2", atomic<OP, uint64_t>, OpClass::VmemAtomic, AtomicFlags,   \
       Ty::B64}

const OpEntry Entries[] = {
#include "isa/MemWidths.def"
    {"buffer_load_format_x", loadFormat<1>, OpClass::VmemLoad, OpReturns, Ty::B32},
    {"buffer_load_format_xy", loadFormat<2>, OpClass::VmemLoad, OpReturns, Ty::B64},
    {"buffer_load_format_xyz", loadFormat<3>, OpClass::VmemLoad, OpReturns, Ty::B96},
    {"buffer_load_format_xyzw", loadFormat<4>, OpClass::VmemLoad, OpReturns, Ty::B128},
    {"buffer_wbinvl1", invalidateL1, OpClass::VmemOther},
    {"buffer_wbinvl1_vol", invalidateL1, OpClass::VmemOther},
};

} // namespace

const OpTable MubufOps = {Entries, sizeof Entries / sizeof *Entries};

} // namespace vgpu
