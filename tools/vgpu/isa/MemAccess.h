// What vector memory and LDS instructions share: moving typed elements between
// memory and the lanes of vector registers, and read-modify-write operations.
// Addresses are host pointers by now: checked, and with apertures resolved.
#ifndef VGPU_ISA_MEMACCESS_H
#define VGPU_ISA_MEMACCESS_H

#include "core/Inst.h"
#include "core/Wave.h"
#include "isa/MemFloat.h"

#include <cstdint>
#include <cstring>
#include <emmintrin.h>

namespace vgpu {

/// One address a lane.
struct LaneAddresses {
  alignas(64) uint64_t Lane[MaxLanes];
};

/// How an element lies in memory and in its registers.
enum class Element : uint8_t {
  U8, I8, U16, I16,             // extended to a dword on load
  U8Low, I8Low, B16Low,         // d16: into bits 15..0, the rest is kept
  U8High, I8High, B16High,      // d16_hi: bits 31..16
  B32, B64, B96, B128,
};

constexpr unsigned bytesOf(Element E) {
  switch (E) {
  case Element::U8: case Element::I8: case Element::U8Low: case Element::I8Low:
  case Element::U8High: case Element::I8High:
    return 1;
  case Element::U16: case Element::I16: case Element::B16Low: case Element::B16High:
    return 2;
  case Element::B32: return 4;
  case Element::B64: return 8;
  case Element::B96: return 12;
  case Element::B128: return 16;
  }
  return 0;
}

/// d16 loads leave the other half of the register alone.
constexpr bool keepsHalf(Element E) { return E >= Element::U8Low && E <= Element::B16High; }

constexpr Ty typeOf(Element E) {
  switch (E) {
  case Element::B64: return Ty::B64;
  case Element::B96: return Ty::B96;
  case Element::B128: return Ty::B128;
  default: return Ty::B32;
  }
}

template <typename T> inline T readAs(uint64_t Address) {
  T Value;
  std::memcpy(&Value, reinterpret_cast<const void *>(Address), sizeof(T));
  return Value;
}
template <typename T> inline void writeAs(uint64_t Address, T Value) {
  std::memcpy(reinterpret_cast<void *>(Address), &Value, sizeof(T));
}

/// The dwords of all lanes of a wave, side by side.
inline void copyLanes(void *To, const void *From, unsigned WaveSize) {
  if (WaveSize == 64) // The length is a constant, so that this is no call.
    std::memcpy(To, From, 256);
  else
    std::memcpy(To, From, 128);
}

/// Calls Body(lane) for every active lane; straight through when all are, of
/// either wave size.
template <typename F> inline void forLanes(uint64_t Exec, F Body) {
  if (Exec == ~uint64_t(0)) {
    for (unsigned L = 0; L < MaxLanes; ++L)
      Body(L);
    return;
  }
  if (Exec == 0xffffffff) {
    for (unsigned L = 0; L < 32; ++L)
      Body(L);
    return;
  }
  for (; Exec; Exec &= Exec - 1)
    Body(unsigned(__builtin_ctzll(Exec)));
}

/// Rows of four dwords to columns and back.
inline void transpose4(__m128i &A, __m128i &B, __m128i &C, __m128i &D) {
  __m128i LowAb = _mm_unpacklo_epi32(A, B), LowCd = _mm_unpacklo_epi32(C, D);
  __m128i HighAb = _mm_unpackhi_epi32(A, B), HighCd = _mm_unpackhi_epi32(C, D);
  A = _mm_unpacklo_epi64(LowAb, LowCd);
  B = _mm_unpackhi_epi64(LowAb, LowCd);
  C = _mm_unpacklo_epi64(HighAb, HighCd);
  D = _mm_unpackhi_epi64(HighAb, HighCd);
}

/// All lanes of a wave of either size are active.
inline bool isFull(uint64_t Exec) { return Exec == ~uint64_t(0) || Exec == 0xffffffff; }

/// Two or four dwords for 32 or 64 lanes: an access a lane and a transposition,
/// instead of an access a dword.
template <unsigned Dwords>
inline void loadAllLanes(Vreg *Dst, const uint64_t *A, unsigned Lanes) {
  auto Read = [](uint64_t Address) {
    auto *P = reinterpret_cast<const __m128i *>(Address);
    return Dwords == 4 ? _mm_loadu_si128(P) : _mm_loadl_epi64(P);
  };
  for (unsigned L = 0; L < Lanes; L += 4) {
    __m128i Row[4] = {Read(A[L]), Read(A[L + 1]), Read(A[L + 2]), Read(A[L + 3])};
    transpose4(Row[0], Row[1], Row[2], Row[3]);
    for (unsigned D = 0; D < Dwords; ++D)
      _mm_store_si128(reinterpret_cast<__m128i *>(Dst[D].Lane + L), Row[D]);
  }
}
template <unsigned Dwords>
inline void storeAllLanes(const Vreg *Src, const uint64_t *A, unsigned Lanes) {
  for (unsigned L = 0; L < Lanes; L += 4) {
    __m128i Row[4] = {};
    for (unsigned D = 0; D < Dwords; ++D)
      Row[D] = _mm_load_si128(reinterpret_cast<const __m128i *>(Src[D].Lane + L));
    transpose4(Row[0], Row[1], Row[2], Row[3]);
    for (unsigned I = 0; I < 4; ++I) {
      auto *P = reinterpret_cast<__m128i *>(A[L + I]);
      Dwords == 4 ? _mm_storeu_si128(P, Row[I]) : _mm_storel_epi64(P, Row[I]);
    }
  }
}

/// Loads one element a lane into \p Dst and the registers behind it. Dwords of
/// one element lie \p Stride bytes apart (4, or more in swizzled scratch).
template <Element E>
inline void loadLanes(Vreg *Dst, const uint64_t *A, uint64_t Exec, unsigned Stride = 4) {
  if constexpr (bytesOf(E) == 8 || bytesOf(E) == 16)
    if (isFull(Exec) && Stride == 4) {
      loadAllLanes<bytesOf(E) / 4>(Dst, A, Exec >> 32 ? 64 : 32);
      return;
    }
  if constexpr (bytesOf(E) >= 4) {
    for (unsigned D = 0; D < bytesOf(E) / 4; ++D)
      forLanes(Exec, [&](unsigned L) { Dst[D].Lane[L] = readAs<uint32_t>(A[L] + D * Stride); });
    return;
  }
  forLanes(Exec, [&](unsigned L) {
    uint32_t &Out = Dst->Lane[L];
    switch (E) {
    case Element::U8: Out = readAs<uint8_t>(A[L]); break;
    case Element::I8: Out = uint32_t(int32_t(readAs<int8_t>(A[L]))); break;
    case Element::U16: Out = readAs<uint16_t>(A[L]); break;
    case Element::I16: Out = uint32_t(int32_t(readAs<int16_t>(A[L]))); break;
    case Element::U8Low: Out = (Out & 0xffff0000) | readAs<uint8_t>(A[L]); break;
    case Element::I8Low: Out = (Out & 0xffff0000) | uint16_t(int16_t(readAs<int8_t>(A[L]))); break;
    case Element::B16Low: Out = (Out & 0xffff0000) | readAs<uint16_t>(A[L]); break;
    case Element::U8High: Out = (Out & 0xffff) | uint32_t(readAs<uint8_t>(A[L])) << 16; break;
    case Element::I8High:
      Out = (Out & 0xffff) | uint32_t(uint16_t(int16_t(readAs<int8_t>(A[L])))) << 16;
      break;
    case Element::B16High: Out = (Out & 0xffff) | uint32_t(readAs<uint16_t>(A[L])) << 16; break;
    default: break;
    }
  });
}

/// Stores one element a lane. Lanes go in order: the highest wins where two
/// write the same place.
template <Element E>
inline void storeLanes(const Vreg *Src, const uint64_t *A, uint64_t Exec, unsigned Stride = 4) {
  if constexpr (bytesOf(E) == 4) {
    forLanes(Exec, [&](unsigned L) { writeAs<uint32_t>(A[L], Src->Lane[L]); });
    return;
  }
  if constexpr (bytesOf(E) == 8 || bytesOf(E) == 16)
    if (isFull(Exec) && Stride == 4) {
      storeAllLanes<bytesOf(E) / 4>(Src, A, Exec >> 32 ? 64 : 32);
      return;
    }
  if constexpr (bytesOf(E) > 4) {
    forLanes(Exec, [&](unsigned L) {
      for (unsigned D = 0; D < bytesOf(E) / 4; ++D)
        writeAs<uint32_t>(A[L] + D * Stride, Src[D].Lane[L]);
    });
    return;
  }
  forLanes(Exec, [&](unsigned L) {
    uint32_t Value = Src->Lane[L];
    if (E == Element::U8High || E == Element::B16High)
      Value >>= 16;
    if (bytesOf(E) == 1)
      writeAs<uint8_t>(A[L], uint8_t(Value));
    else
      writeAs<uint16_t>(A[L], uint16_t(Value));
  });
}

/// Read-modify-write operations; the numbering is ours.
enum class Rmw : uint8_t {
  Swap, CmpSwap, Add, Sub, RSub, SMin, UMin, SMax, UMax, And, Or, Xor, Inc, Dec,
  MaskOr, // LDS: clear the bits of data0, set those of data1
  FAdd, FMin, FMax, FCmpSwap, Wrap, PkAddF16,
  SubClamp, // gfx10: not below 0
};

/// Operations with a second data operand.
constexpr bool hasSecondData(Rmw Op) {
  return Op == Rmw::CmpSwap || Op == Rmw::FCmpSwap || Op == Rmw::MaskOr || Op == Rmw::Wrap;
}

/// OpFlags of a vector memory or LDS atomic.
constexpr uint32_t atomicFlags(Rmw Op, bool Returns) {
  return OpAtomic | OpStores | (Returns ? uint32_t(OpReturns) : 0) |
         (hasSecondData(Op) ? uint32_t(OpSecondData) : 0);
}

template <typename T> struct SignedOf { using Type = int32_t; };
template <> struct SignedOf<uint64_t> { using Type = int64_t; };

/// The new value: \p Data is the first data operand, \p Data2 the second one
/// (for CmpSwap: Data is stored if memory equals Data2).
template <Rmw Op, typename T> inline T apply(T Memory, T Data, T Data2, Denormals Keep) {
  using S = typename SignedOf<T>::Type;
  switch (Op) {
  case Rmw::Swap: return Data;
  case Rmw::CmpSwap: return Memory == Data2 ? Data : Memory;
  case Rmw::Add: return Memory + Data;
  case Rmw::Sub: return Memory - Data;
  case Rmw::RSub: return Data - Memory;
  case Rmw::SubClamp: return Memory < Data ? 0 : Memory - Data;
  case Rmw::SMin: return S(Memory) < S(Data) ? Memory : Data;
  case Rmw::UMin: return Memory < Data ? Memory : Data;
  case Rmw::SMax: return S(Memory) > S(Data) ? Memory : Data;
  case Rmw::UMax: return Memory > Data ? Memory : Data;
  case Rmw::And: return Memory & Data;
  case Rmw::Or: return Memory | Data;
  case Rmw::Xor: return Memory ^ Data;
  case Rmw::Inc: return Memory >= Data ? 0 : Memory + 1;
  case Rmw::Dec: return Memory == 0 || Memory > Data ? Data : Memory - 1;
  case Rmw::MaskOr: return (Memory & ~Data) | Data2;
  case Rmw::FAdd: return floatAdd(Memory, Data, Keep);
  case Rmw::FMin: return floatExtreme<false>(Memory, Data);
  case Rmw::FMax: return floatExtreme<true>(Memory, Data);
  case Rmw::FCmpSwap: return floatEqual(Memory, Data2) ? Data : Memory;
  case Rmw::Wrap: return Memory >= Data ? Memory - Data : Memory + Data2;
  case Rmw::PkAddF16: return T(packedHalfAdd(uint32_t(Memory), uint32_t(Data)));
  }
  return Memory;
}

/// One operation on memory, atomic towards host threads; returns the old value.
/// Single precision flushes denormals whatever MODE says, the others keep them.
template <Rmw Op, typename T> inline T atomicRmw(uint64_t Address, T Data, T Data2) {
  constexpr Denormals Keep{sizeof(T) == 8, sizeof(T) == 8};
  T *Place = reinterpret_cast<T *>(Address);
  T Old = __atomic_load_n(Place, __ATOMIC_ACQUIRE);
  while (!__atomic_compare_exchange_n(Place, &Old, apply<Op, T>(Old, Data, Data2, Keep), false,
                                      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    ;
  return Old;
}

template <typename T> inline T laneData(const Vreg *Reg, unsigned Lane) {
  if constexpr (sizeof(T) == 8)
    return uint64_t(Reg[0].Lane[Lane]) | uint64_t(Reg[1].Lane[Lane]) << 32;
  else
    return Reg->Lane[Lane];
}
template <typename T> inline void setLaneData(Vreg *Reg, unsigned Lane, T Value) {
  Reg[0].Lane[Lane] = uint32_t(Value);
  if constexpr (sizeof(T) == 8)
    Reg[1].Lane[Lane] = uint32_t(Value >> 32);
}

} // namespace vgpu

#endif
