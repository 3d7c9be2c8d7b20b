// Typed buffer accesses: buffer_load_format and its stores, whose format comes
// from the resource, and the tbuffer ones, which bring their own.
#include "isa/BufferAccess.h"
#include "isa/BufferFormat.h"
#include "isa/MemTables.h"
#include "machine/Machine.h"

namespace vgpu {
namespace {

/// How components lie in registers: one each, or as 16 bits two to a register
/// (PackedHigh: the only one goes to the upper half).
enum class Packing : uint8_t { Whole, Packed, PackedHigh };

/// The conversion that an instruction asks for.
struct TypedAccess {
  BufferResource R;
  DataLayout Layout;
  NumberFormat Format;
  bool Plain; ///< Components are dwords that registers hold as they are.
  BufferAccess Acc;

  TypedAccess(const Wave &W, const Inst &I) : R(W, I.SRsrc) {
    if (I.Form == vgpu::Format::Mtbuf) {
      // The instruction's own format; components go straight.
      R.DataFormat = I.DFmt;
      R.NumberFormat = I.NFmt;
      for (unsigned C = 0; C < 4; ++C)
        R.Select[C] = uint8_t(4 + C);
    }
    Layout = DataLayout::of(R.DataFormat);
    Format = NumberFormat(R.NumberFormat);
    Plain = Layout.Bits[0] == 32 && (isInteger(Format) || Format == NumberFormat::Float);
  }

  /// False: a fault was raised.
  bool resolve(Wave &W, const Inst &I, bool Write) {
    if (Layout.supports(Format))
      return Acc.resolve(W, I, R, Layout.bytes(), Write);
    Machine::of(W).fault(W, I, FaultKind::UnknownInstruction,
                         "buffer format " + std::to_string(R.DataFormat) + "/" +
                             std::to_string(R.NumberFormat) + " has no conversion",
                         MaxLanes, 0);
    return false;
  }

  /// The components of the texel of lane \p L.
  void decode(unsigned L, uint32_t *Component) const {
    if (Plain)
      for (unsigned C = 0; C < Layout.Components; ++C)
        Component[C] = readAs<uint32_t>(Acc.A.Lane[L] + 4 * C);
    else
      decodeTexel(Layout, Format, reinterpret_cast<const void *>(Acc.A.Lane[L]), Component);
  }
};

uint16_t narrowed(uint32_t Value, NumberFormat F) {
  return isInteger(F) ? uint16_t(encodeComponent(Value, 16, F)) : halfOfSingle(Value);
}
uint32_t widened(uint16_t Value, NumberFormat F) {
  return isInteger(F) ? decodeComponent(Value, 16, F) : singleOfHalf(Value);
}

/// Where component C of a lane lies.
template <Packing P> uint32_t &place(Wave &W, unsigned Reg, unsigned C, unsigned L) {
  return W.Vgpr[Reg + (P == Packing::Whole ? C : C / 2)].Lane[L];
}
template <Packing P> constexpr unsigned shiftOf(unsigned C) {
  return P == Packing::PackedHigh || C % 2 ? 16 : 0;
}

template <unsigned Wanted, Packing P> void load(Wave &W, const Inst &I) {
  TypedAccess T(W, I);
  if (I.LdsDma && (Wanted > 1 || P != Packing::Whole)) {
    Machine::of(W).fault(W, I, FaultKind::IllegalOperand,
                         "only one whole component of each lane can go to LDS", MaxLanes, 0);
    return;
  }
  if (!T.resolve(W, I, false))
    return;
  const uint32_t One = isInteger(T.Format) ? 1 : 0x3f800000;
  Vreg ToLds;
  for (uint64_t Rest = W.exec(); Rest; Rest &= Rest - 1) {
    const unsigned L = unsigned(__builtin_ctzll(Rest));
    uint32_t Component[4] = {};
    if (T.Acc.InRange >> L & 1) {
      Component[3] = One;
      T.decode(L, Component);
    }
    for (unsigned C = 0; C < Wanted; ++C) {
      const unsigned S = T.R.Select[C];
      const uint32_t Value = S >= 4 ? Component[S - 4] : S == 1 ? One : 0;
      if (I.LdsDma) {
        ToLds.Lane[L] = Value;
        continue;
      }
      uint32_t &Out = place<P>(W, I.VDst, C, L);
      if (P == Packing::Whole)
        Out = Value;
      else
        Out = (Out & 0xffff0000u >> shiftOf<P>(C)) |
              uint32_t(narrowed(Value, T.Format)) << shiftOf<P>(C);
    }
  }
  if (I.LdsDma && !storeToLds(W, I, ToLds))
    return;
  Machine::of(W).vectorTime(W, I, T.Acc.A.Lane, T.Acc.InRange, T.Layout.bytes(), MemoryOp::Load);
}

template <unsigned Given, Packing P> void store(Wave &W, const Inst &I) {
  TypedAccess T(W, I);
  const char *Refused = nullptr;
  if (T.Layout.Components > Given)
    Refused = "typed store of fewer components than the format has is not modelled";
  for (unsigned C = 0; C < T.Layout.Components; ++C)
    if (T.R.Select[C] != 4 + C)
      Refused = "typed store that reorders components is not modelled";
  if (Refused) {
    Machine::of(W).fault(W, I, FaultKind::UnknownInstruction, Refused, MaxLanes, 0);
    return;
  }
  if (!T.resolve(W, I, true))
    return;
  for (uint64_t Rest = T.Acc.InRange; Rest; Rest &= Rest - 1) {
    const unsigned L = unsigned(__builtin_ctzll(Rest));
    uint32_t Component[4] = {};
    for (unsigned C = 0; C < Given; ++C) {
      const uint32_t In = place<P>(W, I.VData, C, L);
      Component[C] =
          P == Packing::Whole ? In : widened(uint16_t(In >> shiftOf<P>(C)), T.Format);
    }
    encodeTexel(T.Layout, T.Format, Component, reinterpret_cast<void *>(T.Acc.A.Lane[L]));
  }
  Machine::of(W).vectorTime(W, I, T.Acc.A.Lane, T.Acc.InRange, T.Layout.bytes(), MemoryOp::Store);
}

#define TYPED_ONE(PREFIX, MIDDLE, N, NAME, P, TYPE)                                            \
  {PREFIX "_load_format_" MIDDLE NAME, load<N, Packing::P>, OpClass::VmemLoad, OpReturns,      \
   TYPE},                                                                                      \
      {PREFIX "_store_format_" MIDDLE NAME, store<N, Packing::P>, OpClass::VmemStore,          \
       OpStores, TYPE}
#define TYPED(PREFIX)                                                                          \
  TYPED_ONE(PREFIX, "", 1, "x", Whole, Ty::B32), TYPED_ONE(PREFIX, "", 2, "xy", Whole, Ty::B64), \
      TYPED_ONE(PREFIX, "", 3, "xyz", Whole, Ty::B96),                                         \
      TYPED_ONE(PREFIX, "", 4, "xyzw", Whole, Ty::B128),                                       \
      TYPED_ONE(PREFIX, "d16_", 1, "x", Packed, Ty::B32),                                      \
      TYPED_ONE(PREFIX, "d16_", 2, "xy", Packed, Ty::B32),                                     \
      TYPED_ONE(PREFIX, "d16_", 3, "xyz", Packed, Ty::B64),                                    \
      TYPED_ONE(PREFIX, "d16_", 4, "xyzw", Packed, Ty::B64)

const OpEntry Entries[] = {
    TYPED("buffer"),
    TYPED("tbuffer"),
    TYPED_ONE("buffer", "d16_hi_", 1, "x", PackedHigh, Ty::B32),
};

} // namespace

const OpTable TypedBufferOps = {Entries, sizeof Entries / sizeof *Entries};

} // namespace vgpu
