// DS: reads, writes and atomics of the workgroup's local memory. Addresses are
// byte offsets into its allocation; one beyond it is a fault (the hardware
// would read zero or drop the write, and a program would never be told).
#include "core/TargetClones.h"
#include "isa/MemAccess.h"
#include "isa/MemTables.h"
#include "machine/Machine.h"

#include <algorithm>

namespace vgpu {
namespace {

struct LdsAddresses {
  alignas(64) uint32_t Lane[MaxLanes];
  uint64_t Exec;
  uint32_t Most;    ///< The highest of all lanes, active or not.
  bool Consecutive; ///< All lanes active, Bytes apart: no bank conflict.
};

VGPU_TARGET_CLONES uint32_t
addOffset(uint32_t *A, const uint32_t *Base, uint32_t Offset, uint32_t Bytes, unsigned Lanes,
          bool *Consecutive) {
  uint32_t First = Base[0] + Offset, Differ = 0, Most = 0;
  for (; Lanes; Lanes -= 32, A += 32, Base += 32, First += 32 * Bytes) {
    uint32_t *__restrict To = A;
    for (unsigned L = 0; L < 32; ++L) {
      To[L] = Base[L] + Offset;
      Differ |= To[L] ^ (First + L * Bytes);
      Most = std::max(Most, To[L]);
    }
  }
  *Consecutive = Differ == 0;
  return Most;
}

/// Addresses of all lanes at Offset, checked. False: a fault was raised.
bool resolve(Wave &W, const Inst &I, LdsAddresses &A, const Vreg &Base, uint32_t Offset,
             unsigned Bytes, bool Aligned) {
  Machine &M = Machine::of(W);
  if (I.Gds) {
    M.fault(W, I, FaultKind::UnknownInstruction, "global data share is not modelled", MaxLanes, 0);
    return false;
  }
  const uint64_t Exec = A.Exec = W.exec();
  const size_t Size = M.ldsSize(W);
  const uint32_t Most = A.Most =
      addOffset(A.Lane, Base.Lane, Offset, Bytes, W.WaveSize, &A.Consecutive);
  if (Exec != W.laneMask())
    A.Consecutive = false;
  const bool AllInside = uint64_t(Most) + Bytes <= Size;
  if (AllInside && !Aligned)
    return true;
  for (uint64_t Rest = Exec; Rest; Rest &= Rest - 1) {
    unsigned L = unsigned(__builtin_ctzll(Rest));
    if (uint64_t(A.Lane[L]) + Bytes > Size) {
      M.fault(W, I, FaultKind::LdsRange,
              std::to_string(Bytes) + " bytes at LDS offset " + std::to_string(A.Lane[L]) +
                  ", the workgroup has " + std::to_string(Size),
              L, A.Lane[L]);
      return false;
    }
    if (Aligned && A.Lane[L] % Bytes) {
      M.fault(W, I, FaultKind::Misaligned,
              "LDS atomic on an address that is no multiple of its size", L, A.Lane[L]);
      return false;
    }
  }
  return true;
}

/// The same from the instruction's address register.
bool resolve(Wave &W, const Inst &I, LdsAddresses &A, uint32_t Offset, unsigned Bytes,
             bool Aligned) {
  return resolve(W, I, A, W.Vgpr[I.VAddr], Offset, Bytes, Aligned);
}

void count(Wave &W, const Inst &I, const LdsAddresses &A, unsigned Dwords) {
  Machine::of(W).ldsTime(W, I, A.Consecutive ? nullptr : A.Lane, A.Exec, Dwords);
}

/// Host address of each lane's element, \p Shift bytes further on.
void hostAddresses(uint64_t *Host, const uint8_t *Lds, const LdsAddresses &A, unsigned Lanes,
                   int32_t Shift) {
  for (unsigned L = 0; L < Lanes; ++L)
    Host[L] = reinterpret_cast<uint64_t>(Lds) + Shift + A.Lane[L];
}

template <Element E>
void readLanes(Wave &W, unsigned Reg, const LdsAddresses &A, int32_t Shift = 0) {
  const uint8_t *Lds = Machine::of(W).ldsBase(W);
  Vreg *Dst = W.Vgpr + Reg;
  if (E == Element::B32 && A.Consecutive) {
    copyLanes(Dst->Lane, Lds + Shift + A.Lane[0], W.WaveSize);
    return;
  }
  if (E == Element::B32) { // Offsets do for addresses.
    const uint8_t *From = Lds + Shift;
    forLanes(A.Exec, [&](unsigned L) { std::memcpy(&Dst->Lane[L], From + A.Lane[L], 4); });
    return;
  }
  alignas(64) uint64_t Host[MaxLanes];
  hostAddresses(Host, Lds, A, W.WaveSize, Shift);
  loadLanes<E>(Dst, Host, A.Exec);
}

template <Element E>
void writeLanes(Wave &W, unsigned Reg, const LdsAddresses &A, int32_t Shift = 0) {
  uint8_t *Lds = Machine::of(W).ldsBase(W);
  const Vreg *Src = W.Vgpr + Reg;
  if (E == Element::B32 && A.Consecutive) {
    copyLanes(Lds + Shift + A.Lane[0], Src->Lane, W.WaveSize);
    return;
  }
  alignas(64) uint64_t Host[MaxLanes];
  hostAddresses(Host, Lds, A, W.WaveSize, Shift);
  storeLanes<E>(Src, Host, A.Exec);
}

template <Element E> void read(Wave &W, const Inst &I) {
  LdsAddresses A;
  if (!resolve(W, I, A, uint32_t(I.Offset), bytesOf(E), false))
    return;
  readLanes<E>(W, I.VDst, A);
  count(W, I, A, (bytesOf(E) + 3) / 4);
}

template <Element E> void write(Wave &W, const Inst &I) {
  LdsAddresses A;
  if (!resolve(W, I, A, uint32_t(I.Offset), bytesOf(E), false))
    return;
  writeLanes<E>(W, I.VData, A);
  count(W, I, A, (bytesOf(E) + 3) / 4);
}

/// Addresses of the first of two elements, both checked; Shift is how far on the
/// second one is.
bool resolvePair(Wave &W, const Inst &I, LdsAddresses &A, unsigned Unit, unsigned Bytes,
                 int32_t &Shift) {
  Shift = (int32_t(I.Offset1) - int32_t(I.Offset0)) * int32_t(Unit);
  if (!resolve(W, I, A, I.Offset0 * Unit, Bytes, false))
    return false;
  const uint64_t Most = uint64_t(A.Most) + uint64_t(std::max(Shift, 0));
  if (Most + Bytes <= Machine::of(W).ldsSize(W))
    return true;
  LdsAddresses Second; // Says which lane it is, unless that is inactive.
  return resolve(W, I, Second, I.Offset1 * Unit, Bytes, false);
}

/// Two elements at separate offsets, in units of the element or 64 of them.
template <Element E, unsigned Scale> void read2(Wave &W, const Inst &I) {
  constexpr unsigned Bytes = bytesOf(E);
  LdsAddresses A; // Before the result may overwrite the address.
  int32_t Shift;
  if (!resolvePair(W, I, A, Bytes * Scale, Bytes, Shift))
    return;
  readLanes<E>(W, I.VDst, A);
  readLanes<E>(W, I.VDst + Bytes / 4, A, Shift);
  count(W, I, A, 2 * Bytes / 4);
}

template <Element E, unsigned Scale> void write2(Wave &W, const Inst &I) {
  constexpr unsigned Bytes = bytesOf(E);
  LdsAddresses A;
  int32_t Shift;
  if (!resolvePair(W, I, A, Bytes * Scale, Bytes, Shift))
    return;
  writeLanes<E>(W, I.VData, A);
  writeLanes<E>(W, I.VData1, A, Shift);
  count(W, I, A, 2 * Bytes / 4);
}

template <typename T> Denormals denormals(const Wave &W) {
  return sizeof(T) == 8 ? Denormals::of64(W.Mode) : Denormals::of32(W.Mode);
}

/// LDS belongs to one workgroup, whose waves run one at a time: no host
/// atomics needed. DS names the compare value first and the new one second.
template <Rmw Op, typename T, bool Returns> void atomic(Wave &W, const Inst &I) {
  constexpr bool Compare = Op == Rmw::CmpSwap || Op == Rmw::FCmpSwap;
  constexpr bool Two = hasSecondData(Op);
  const Denormals Keep = denormals<T>(W);
  LdsAddresses A;
  if (!resolve(W, I, A, uint32_t(I.Offset), sizeof(T), true))
    return;
  uint8_t *Lds = Machine::of(W).ldsBase(W);
  const Vreg *Data0 = W.Vgpr + I.VData, *Data1 = W.Vgpr + I.VData1;
  for (uint64_t Rest = A.Exec; Rest; Rest &= Rest - 1) {
    unsigned L = unsigned(__builtin_ctzll(Rest));
    T Old;
    std::memcpy(&Old, Lds + A.Lane[L], sizeof(T));
    T First = laneData<T>(Data0, L), Second = Two ? laneData<T>(Data1, L) : T(0);
    T New = Compare ? apply<Op, T>(Old, Second, First, Keep)
                    : apply<Op, T>(Old, First, Second, Keep);
    std::memcpy(Lds + A.Lane[L], &New, sizeof(T));
    if (Returns)
      setLaneData<T>(W.Vgpr + I.VDst, L, Old);
  }
  count(W, I, A, sizeof(T) / 4);
}

/// The _src2_ family: the second operand lies in LDS too, a signed number of
/// dwords away, which the offset field or the upper bits of the address give.
template <Rmw Op, typename T> void atomicInLds(Wave &W, const Inst &I) {
  constexpr unsigned Bytes = sizeof(T);
  const bool InAddress = I.Offset1 & 0x80;
  const int32_t Fixed = int32_t(uint32_t(I.Offset) << 17) >> 17;
  LdsAddresses A;
  Vreg Base, Distance;
  for (unsigned L = 0; L < MaxLanes; ++L) {
    const uint32_t Address = W.Vgpr[I.VAddr].Lane[L];
    Base.Lane[L] = InAddress ? Address & 0x1ffff : Address;
    Distance.Lane[L] = uint32_t(4 * (InAddress ? int32_t(Address) >> 17 : Fixed));
  }
  LdsAddresses Other;
  Vreg Second;
  for (unsigned L = 0; L < MaxLanes; ++L)
    Second.Lane[L] = Base.Lane[L] + Distance.Lane[L];
  if (!resolve(W, I, A, Base, 0, Bytes, true) || !resolve(W, I, Other, Second, 0, Bytes, true))
    return;
  uint8_t *Lds = Machine::of(W).ldsBase(W);
  const Denormals Keep = denormals<T>(W);
  for (uint64_t Rest = A.Exec; Rest; Rest &= Rest - 1) {
    const unsigned L = unsigned(__builtin_ctzll(Rest));
    T Old, Data;
    std::memcpy(&Old, Lds + A.Lane[L], Bytes);
    std::memcpy(&Data, Lds + Other.Lane[L], Bytes);
    const T New = apply<Op, T>(Old, Data, T(0), Keep);
    std::memcpy(Lds + A.Lane[L], &New, Bytes);
  }
  count(W, I, A, 2 * Bytes / 4);
}

/// Two dwords: each is replaced if the top bit of its data is set, by the rest.
void conditionalExchange(Wave &W, const Inst &I) {
  LdsAddresses A;
  if (!resolve(W, I, A, uint32_t(I.Offset), 8, true))
    return;
  uint8_t *Lds = Machine::of(W).ldsBase(W);
  for (uint64_t Rest = A.Exec; Rest; Rest &= Rest - 1) {
    const unsigned L = unsigned(__builtin_ctzll(Rest));
    uint32_t Old[2], New[2];
    std::memcpy(Old, Lds + A.Lane[L], 8);
    for (unsigned D = 0; D < 2; ++D) {
      const uint32_t Data = W.Vgpr[I.VData + D].Lane[L];
      New[D] = Data >> 31 ? Data & 0x7fffffff : Old[D];
    }
    std::memcpy(Lds + A.Lane[L], New, 8);
    for (unsigned D = 0; D < 2; ++D)
      W.Vgpr[I.VDst + D].Lane[L] = Old[D];
  }
  count(W, I, A, 2);
}

/// Exchange of two elements at separate offsets.
template <typename T, unsigned Scale> void exchange2(Wave &W, const Inst &I) {
  constexpr unsigned Bytes = sizeof(T);
  LdsAddresses First, Second;
  if (!resolve(W, I, First, I.Offset0 * Bytes * Scale, Bytes, true) ||
      !resolve(W, I, Second, I.Offset1 * Bytes * Scale, Bytes, true))
    return;
  uint8_t *Lds = Machine::of(W).ldsBase(W);
  auto Exchange = [&](uint32_t At, unsigned Lane, T New, unsigned Dst) {
    T Old;
    std::memcpy(&Old, Lds + At, Bytes);
    std::memcpy(Lds + At, &New, Bytes);
    setLaneData<T>(W.Vgpr + Dst, Lane, Old);
  };
  for (uint64_t Rest = First.Exec; Rest; Rest &= Rest - 1) {
    unsigned L = unsigned(__builtin_ctzll(Rest));
    // Read both first: a result may overwrite the other's data.
    T New0 = laneData<T>(W.Vgpr + I.VData, L), New1 = laneData<T>(W.Vgpr + I.VData1, L);
    Exchange(First.Lane[L], L, New0, I.VDst);
    Exchange(Second.Lane[L], L, New1, I.VDst + Bytes / 4);
  }
  count(W, I, First, 2 * Bytes / 4);
}

constexpr uint32_t AtomicRtnFlags = OpAtomic | OpStores | OpReturns;
constexpr uint32_t PairLoad = OpReturns | OpLdsPair, PairStore = OpStores | OpLdsPair;

#define READ(NAME, E) {"ds_read_" NAME, read<E>, OpClass::LdsLoad, OpReturns, typeOf(E)}
#define WRITE(NAME, E) {"ds_write_" NAME, write<E>, OpClass::LdsStore, OpStores, typeOf(E)}
#define ATOMIC(NAME, SUFFIX, OP, T, TYPE)                                                      \
  {"ds_" NAME "_" SUFFIX, atomic<OP, T, false>, OpClass::LdsAtomic,                            \
   atomicFlags(OP, false), TYPE},                                \
      {"ds_" NAME "_rtn_" SUFFIX, atomic<OP, T, true>, OpClass::LdsAtomic,                     \
       atomicFlags(OP, true), TYPE}
#define ATOMIC32(NAME, SUFFIX, OP) ATOMIC(NAME, SUFFIX "32", OP, uint32_t, Ty::B32)
#define ATOMIC64(NAME, SUFFIX, OP) ATOMIC(NAME, SUFFIX "64", OP, uint64_t, Ty::B64)
#define ATOMICS(NAME, SUFFIX, OP) ATOMIC32(NAME, SUFFIX, OP), ATOMIC64(NAME, SUFFIX, OP)

#define SRC2(NAME, SUFFIX, OP, T)                                                              \
  {"ds_" NAME "_src2_" SUFFIX, atomicInLds<OP, T>, OpClass::LdsAtomic}
#define SRC2_BOTH(NAME, SUFFIX, OP)                                                            \
  SRC2(NAME, SUFFIX "32", OP, uint32_t), SRC2(NAME, SUFFIX "64", OP, uint64_t)

const OpEntry Entries[] = {
    READ("u8", Element::U8),
    READ("i8", Element::I8),
    READ("u16", Element::U16),
    READ("i16", Element::I16),
    READ("u8_d16", Element::U8Low),
    READ("u8_d16_hi", Element::U8High),
    READ("i8_d16", Element::I8Low),
    READ("i8_d16_hi", Element::I8High),
    READ("u16_d16", Element::B16Low),
    READ("u16_d16_hi", Element::B16High),
    READ("b32", Element::B32),
    READ("b64", Element::B64),
    READ("b96", Element::B96),
    READ("b128", Element::B128),
    WRITE("b8", Element::U8),
    WRITE("b8_d16_hi", Element::U8High),
    WRITE("b16", Element::U16),
    WRITE("b16_d16_hi", Element::B16High),
    WRITE("b32", Element::B32),
    WRITE("b64", Element::B64),
    WRITE("b96", Element::B96),
    WRITE("b128", Element::B128),
    {"ds_read2_b32", read2<Element::B32, 1>, OpClass::LdsLoad, PairLoad, Ty::B32},
    {"ds_read2_b64", read2<Element::B64, 1>, OpClass::LdsLoad, PairLoad, Ty::B64},
    {"ds_read2st64_b32", read2<Element::B32, 64>, OpClass::LdsLoad, PairLoad, Ty::B32},
    {"ds_read2st64_b64", read2<Element::B64, 64>, OpClass::LdsLoad, PairLoad, Ty::B64},
    {"ds_write2_b32", write2<Element::B32, 1>, OpClass::LdsStore, PairStore, Ty::B32},
    {"ds_write2_b64", write2<Element::B64, 1>, OpClass::LdsStore, PairStore, Ty::B64},
    {"ds_write2st64_b32", write2<Element::B32, 64>, OpClass::LdsStore, PairStore, Ty::B32},
    {"ds_write2st64_b64", write2<Element::B64, 64>, OpClass::LdsStore, PairStore, Ty::B64},
    ATOMICS("add", "u", Rmw::Add),
    ATOMICS("sub", "u", Rmw::Sub),
    ATOMICS("rsub", "u", Rmw::RSub),
    ATOMICS("inc", "u", Rmw::Inc),
    ATOMICS("dec", "u", Rmw::Dec),
    ATOMICS("min", "i", Rmw::SMin),
    ATOMICS("max", "i", Rmw::SMax),
    ATOMICS("min", "u", Rmw::UMin),
    ATOMICS("max", "u", Rmw::UMax),
    ATOMICS("and", "b", Rmw::And),
    ATOMICS("or", "b", Rmw::Or),
    ATOMICS("xor", "b", Rmw::Xor),
    ATOMICS("mskor", "b", Rmw::MaskOr),
    ATOMICS("cmpst", "b", Rmw::CmpSwap),
    ATOMICS("cmpst", "f", Rmw::FCmpSwap),
    ATOMICS("min", "f", Rmw::FMin),
    ATOMICS("max", "f", Rmw::FMax),
    ATOMICS("add", "f", Rmw::FAdd),
    {"ds_wrxchg_rtn_b32", atomic<Rmw::Swap, uint32_t, true>, OpClass::LdsAtomic, AtomicRtnFlags,
     Ty::B32},
    {"ds_wrxchg_rtn_b64", atomic<Rmw::Swap, uint64_t, true>, OpClass::LdsAtomic, AtomicRtnFlags,
     Ty::B64},
    {"ds_wrap_rtn_b32", atomic<Rmw::Wrap, uint32_t, true>, OpClass::LdsAtomic,
     AtomicRtnFlags | OpSecondData, Ty::B32},
    {"ds_condxchg32_rtn_b64", conditionalExchange, OpClass::LdsAtomic, AtomicRtnFlags, Ty::B64},
    SRC2_BOTH("add", "u", Rmw::Add),
    SRC2_BOTH("sub", "u", Rmw::Sub),
    SRC2_BOTH("rsub", "u", Rmw::RSub),
    SRC2_BOTH("inc", "u", Rmw::Inc),
    SRC2_BOTH("dec", "u", Rmw::Dec),
    SRC2_BOTH("min", "i", Rmw::SMin),
    SRC2_BOTH("max", "i", Rmw::SMax),
    SRC2_BOTH("min", "u", Rmw::UMin),
    SRC2_BOTH("max", "u", Rmw::UMax),
    SRC2_BOTH("and", "b", Rmw::And),
    SRC2_BOTH("or", "b", Rmw::Or),
    SRC2_BOTH("xor", "b", Rmw::Xor),
    SRC2_BOTH("min", "f", Rmw::FMin),
    SRC2_BOTH("max", "f", Rmw::FMax),
    SRC2_BOTH("write", "b", Rmw::Swap),
    SRC2("add", "f32", Rmw::FAdd, uint32_t),
    {"ds_wrxchg2_rtn_b32", exchange2<uint32_t, 1>, OpClass::LdsAtomic,
     AtomicRtnFlags | OpLdsPair, Ty::B32},
    {"ds_wrxchg2_rtn_b64", exchange2<uint64_t, 1>, OpClass::LdsAtomic,
     AtomicRtnFlags | OpLdsPair, Ty::B64},
    {"ds_wrxchg2st64_rtn_b32", exchange2<uint32_t, 64>, OpClass::LdsAtomic,
     AtomicRtnFlags | OpLdsPair, Ty::B32},
    {"ds_wrxchg2st64_rtn_b64", exchange2<uint64_t, 64>, OpClass::LdsAtomic,
     AtomicRtnFlags | OpLdsPair, Ty::B64},
};

} // namespace

const OpTable DsOps = {Entries, sizeof Entries / sizeof *Entries};

} // namespace vgpu
