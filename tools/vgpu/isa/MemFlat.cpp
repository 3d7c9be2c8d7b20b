// FLAT, GLOBAL and SCRATCH: loads, stores and atomics of vector memory with
// 64-bit addresses. A flat address may point into LDS or scratch (apertures);
// global ones never do. Scratch is laid out so that a dword of all lanes is
// consecutive: byte o of lane l lies at base + (o / 4) * 4 * wave size + 4 * l +
// o % 4.
#include "core/TargetClones.h"
#include "isa/MemAccess.h"
#include "isa/MemTables.h"
#include "machine/Machine.h"

#include <algorithm>

namespace vgpu {
namespace {

/// Consecutive: all lanes of the wave active, side by side. Same: one address
/// for all, active or not.
enum class Pattern : uint8_t { General, Consecutive, Same };

/// Fills A with the addresses of Lanes (32 or 64) lanes and says how they lie to
/// each other.
VGPU_TARGET_CLONES Pattern
addPairs(uint64_t *A, const uint32_t *Low, const uint32_t *High, uint64_t Offset, unsigned Bytes,
         unsigned Lanes) {
  uint64_t First = hostAddress((uint64_t(High[0]) << 32 | Low[0]) + Offset), Differ = 0;
  for (; Lanes; Lanes -= 32, A += 32, Low += 32, High += 32, First += 32 * Bytes) {
    uint64_t *__restrict To = A;
    for (unsigned L = 0; L < 32; ++L) {
      To[L] = hostAddress((uint64_t(High[L]) << 32 | Low[L]) + Offset);
      Differ |= To[L] ^ (First + L * Bytes);
    }
  }
  return Differ ? Pattern::General : Pattern::Consecutive;
}

VGPU_TARGET_CLONES Pattern
addOffsets(uint64_t *A, const uint32_t *Offsets, uint64_t Base, unsigned Bytes, unsigned Lanes) {
  uint64_t First = hostAddress(Base + Offsets[0]), Differ = 0;
  for (; Lanes; Lanes -= 32, A += 32, Offsets += 32, First += 32 * Bytes) {
    uint64_t *__restrict To = A;
    for (unsigned L = 0; L < 32; ++L) {
      To[L] = hostAddress(Base + Offsets[L]);
      Differ |= To[L] ^ (First + L * Bytes);
    }
  }
  return Differ ? Pattern::General : Pattern::Consecutive;
}

/// True when any lane, active or not, has an address in one of the apertures.
VGPU_TARGET_CLONES bool
touchesAperture(const uint64_t *A, uint64_t SharedHigh, uint64_t PrivateHigh, unsigned Lanes) {
  uint64_t Any = 0;
  for (; Lanes; Lanes -= 32, A += 32)
    for (unsigned L = 0; L < 32; ++L)
      Any |= uint64_t(A[L] >> 32 == SharedHigh) | uint64_t(A[L] >> 32 == PrivateHigh);
  return Any;
}

struct Access {
  LaneAddresses A;       ///< Host addresses once resolve() is done.
  uint64_t Exec = 0;
  uint64_t Shared = 0;   ///< Lanes in LDS.
  uint64_t Private = 0;  ///< Lanes in scratch.
  Pattern Shape = Pattern::General;
};

/// Byte Offset of Lane's scratch as a device address.
uint64_t scratchAddress(const Wave &W, uint64_t Offset, unsigned Lane) {
  return W.flatScratch() + (Offset / 4) * 4 * W.WaveSize + 4 * Lane + Offset % 4;
}

/// Turns a lane's scratch offset into an address; false after a fault.
bool resolveScratch(Wave &W, const Inst &I, uint64_t &Address, uint64_t Offset, unsigned Lane,
                    unsigned Bytes) {
  Machine &M = Machine::of(W);
  if (Offset + Bytes > Machine::privateBytes(W)) {
    M.stackFault(W, I, "beyond the work item's " + std::to_string(Machine::privateBytes(W)) +
                           " bytes of scratch",
                 Lane, M.PrivateBase + Offset);
    return false;
  }
  if (Offset % std::min(Bytes, 4u)) {
    M.fault(W, I, FaultKind::Misaligned, "scratch address that is no multiple of the access size",
            Lane, M.PrivateBase + Offset);
    return false;
  }
  Address = scratchAddress(W, Offset, Lane);
  return true;
}

/// Computes and checks all lane addresses. False: a fault was raised.
bool resolve(Wave &W, const Inst &I, Access &Acc, unsigned Bytes, bool Write) {
  Machine &M = Machine::of(W);
  const uint64_t Exec = Acc.Exec = W.exec();
  uint64_t *A = Acc.A.Lane;
  if (I.Seg == Segment::Scratch) {
    Acc.Private = Exec;
    std::fill_n(A, MaxLanes, 0);
    for (uint64_t Rest = Exec; Rest; Rest &= Rest - 1) {
      unsigned L = unsigned(__builtin_ctzll(Rest));
      uint32_t Offset = uint32_t(I.Offset) + (I.SAddr != Inst::NoReg ? W.Sgpr[I.SAddr] : 0) +
                        (I.VAddr != Inst::NoReg ? W.Vgpr[I.VAddr].Lane[L] : 0);
      if (!resolveScratch(W, I, A[L], Offset, L, Bytes))
        return false;
    }
    return M.checkLanes(W, I, A, Exec, 4, Write);
  }
  const uint64_t Offset = uint64_t(int64_t(I.Offset));
  const bool ByLane = I.Info->Flags & OpAddTid;
  Vreg Places; // of the lanes, where no register says where they are
  if (ByLane)
    for (unsigned L = 0; L < MaxLanes; ++L)
      Places.Lane[L] = 4 * L;
  const Vreg *V = ByLane ? &Places : W.Vgpr + I.VAddr;
  const bool HasBase = I.SAddr != Inst::NoReg;
  if (HasBase || ByLane)
    Acc.Shape = addOffsets(A, V->Lane, (HasBase ? W.scalar64(I.SAddr) : 0) + Offset, Bytes,
                           W.WaveSize);
  else
    Acc.Shape = addPairs(A, V[0].Lane, V[1].Lane, Offset, Bytes, W.WaveSize);
  if (!Exec || (Exec != W.laneMask() && Acc.Shape == Pattern::Consecutive))
    Acc.Shape = Pattern::General;

  const uint64_t SharedHigh = M.SharedBase >> 32, PrivateHigh = M.PrivateBase >> 32;
  if (I.Seg == Segment::Flat && touchesAperture(A, SharedHigh, PrivateHigh, W.WaveSize)) {
    for (uint64_t Rest = Exec; Rest; Rest &= Rest - 1) {
      unsigned L = unsigned(__builtin_ctzll(Rest));
      if (A[L] >> 32 == SharedHigh)
        Acc.Shared |= uint64_t(1) << L;
      else if (A[L] >> 32 == PrivateHigh)
        Acc.Private |= uint64_t(1) << L;
    }
    if (Acc.Shared | Acc.Private)
      Acc.Shape = Pattern::General;
    for (uint64_t Rest = Acc.Shared; Rest; Rest &= Rest - 1) {
      unsigned L = unsigned(__builtin_ctzll(Rest));
      uint64_t At = uint32_t(A[L]);
      if (At + Bytes > M.ldsSize(W)) {
        M.fault(W, I, FaultKind::LdsRange,
                "the workgroup has " + std::to_string(M.ldsSize(W)) + " bytes of LDS", L, A[L]);
        return false;
      }
      A[L] = reinterpret_cast<uint64_t>(M.ldsBase(W)) + At;
    }
    for (uint64_t Rest = Acc.Private; Rest; Rest &= Rest - 1) {
      unsigned L = unsigned(__builtin_ctzll(Rest));
      if (!resolveScratch(W, I, A[L], uint32_t(A[L]), L, Bytes))
        return false;
    }
    if (!M.checkLanes(W, I, A, Acc.Private, 4, Write))
      return false;
  }
  const uint64_t Global = Exec & ~(Acc.Shared | Acc.Private);
  if (Acc.Shape == Pattern::Consecutive &&
      M.allows(W, A[0], A[0] + uint64_t(W.WaveSize) * Bytes, Write))
    return true;
  if (Acc.Shape == Pattern::Same && M.allows(W, A[0], A[0] + Bytes, Write))
    return true;
  return M.checkLanes(W, I, A, Global, Bytes, Write);
}

void count(Wave &Base, const Inst &I, const Access &Acc, unsigned Bytes, MemoryOp Op) {
  Machine &M = Machine::of(Base);
  auto &W = static_cast<MachineWave &>(Base);
  const uint64_t Memory = Acc.Exec & ~Acc.Shared;
  uint64_t Done;
  if (Acc.Shape == Pattern::Consecutive ||
      (Acc.Shape == Pattern::Same && Op != MemoryOp::Atomic)) {
    LineSet Lines(M.memoryTiming().lineShift());
    Lines.consecutive(Acc.A.Lane[0], Acc.Shape == Pattern::Same ? Bytes : W.WaveSize * Bytes, Bytes);
    Done = M.vectorTime(W, I, Lines, Bytes, Op);
  } else {
    Done = M.vectorTime(W, I, Acc.A.Lane, Memory, Bytes, Op);
  }
  if (I.Seg != Segment::Flat)
    return;
  // A flat operation counts in both counters, whichever way it goes.
  if (Acc.Shared)
    M.ldsTime(W, I, nullptr, Acc.Shared, (Bytes + 3) / 4);
  else
    W.pushLgkm(Done);
}

template <Element E> void load(Wave &W, const Inst &I) {
  if (I.LdsDma) {
    Machine::of(W).fault(W, I, FaultKind::UnknownInstruction, "load to LDS is not modelled",
                         MaxLanes, 0);
    return;
  }
  Access Acc;
  constexpr unsigned Bytes = bytesOf(E);
  if (!resolve(W, I, Acc, Bytes, false))
    return;
  Vreg *Dst = W.Vgpr + I.VDst;
  if (E == Element::B32 && Acc.Shape == Pattern::Consecutive) {
    copyLanes(Dst->Lane, reinterpret_cast<const void *>(Acc.A.Lane[0]), W.WaveSize);
  } else if (Bytes >= 4 && Acc.Shape == Pattern::Same) {
    uint32_t Value[std::max(1u, Bytes / 4)];
    std::memcpy(Value, reinterpret_cast<const void *>(Acc.A.Lane[0]), Bytes & ~3u);
    for (unsigned D = 0; D < Bytes / 4; ++D)
      forLanes(Acc.Exec, [&](unsigned Lane) { Dst[D].Lane[Lane] = Value[D]; });
  } else if (!Acc.Private || Bytes <= 4) {
    loadLanes<E>(Dst, Acc.A.Lane, Acc.Exec);
  } else {
    loadLanes<E>(Dst, Acc.A.Lane, Acc.Exec & ~Acc.Private);
    loadLanes<E>(Dst, Acc.A.Lane, Acc.Private, 4 * W.WaveSize);
  }
  count(W, I, Acc, Bytes, MemoryOp::Load);
}

template <Element E> void store(Wave &W, const Inst &I) {
  Access Acc;
  constexpr unsigned Bytes = bytesOf(E);
  if (!resolve(W, I, Acc, Bytes, true))
    return;
  const Vreg *Src = W.Vgpr + I.VData;
  if (E == Element::B32 && Acc.Shape == Pattern::Consecutive) {
    copyLanes(reinterpret_cast<void *>(Acc.A.Lane[0]), Src->Lane, W.WaveSize);
  } else if (Acc.Shape == Pattern::Same) {
    // The highest active lane wins.
    storeLanes<E>(Src, Acc.A.Lane, uint64_t(1) << (63 - __builtin_clzll(Acc.Exec)));
  } else if (!Acc.Private || Bytes <= 4) {
    storeLanes<E>(Src, Acc.A.Lane, Acc.Exec);
  } else {
    storeLanes<E>(Src, Acc.A.Lane, Acc.Exec & ~Acc.Private);
    storeLanes<E>(Src, Acc.A.Lane, Acc.Private, 4 * W.WaveSize);
  }
  count(W, I, Acc, Bytes, MemoryOp::Store);
}

template <Rmw Op, typename T> void atomic(Wave &W, const Inst &I) {
  Machine &M = Machine::of(W);
  constexpr unsigned Dwords = sizeof(T) / 4;
  Access Acc;
  if (!resolve(W, I, Acc, sizeof(T), true))
    return;
  for (uint64_t Rest = Acc.Exec; Rest; Rest &= Rest - 1) {
    unsigned L = unsigned(__builtin_ctzll(Rest));
    if (Acc.A.Lane[L] % sizeof(T)) {
      M.fault(W, I, FaultKind::Misaligned, "atomic on an address that is no multiple of its size",
              L, Acc.A.Lane[L]);
      return;
    }
    if (sizeof(T) == 8 && Acc.Private >> L & 1) {
      M.fault(W, I, FaultKind::Misaligned, "64-bit atomic in scratch", L, Acc.A.Lane[L]);
      return;
    }
  }
  const Vreg *Data = W.Vgpr + I.VData;
  for (uint64_t Rest = Acc.Exec; Rest; Rest &= Rest - 1) {
    unsigned L = unsigned(__builtin_ctzll(Rest));
    T Old = atomicRmw<Op, T>(Acc.A.Lane[L], laneData<T>(Data, L),
                             hasSecondData(Op) ? laneData<T>(Data + Dwords, L) : T(0));
    if (I.Glc)
      setLaneData<T>(W.Vgpr + I.VDst, L, Old);
  }
  count(W, I, Acc, sizeof(T), MemoryOp::Atomic);
}

#define LOAD(NAME, E)                                                                          \
  {"flat_load_" NAME, load<E>, OpClass::FlatLoad, OpReturns, typeOf(E)},                       \
      {"global_load_" NAME, load<E>, OpClass::VmemLoad, OpReturns, typeOf(E)},                 \
      {"scratch_load_" NAME, load<E>, OpClass::VmemLoad, OpReturns, typeOf(E)}
#define STORE(NAME, E)                                                                         \
  {"flat_store_" NAME, store<E>, OpClass::FlatStore, OpStores, typeOf(E)},                     \
      {"global_store_" NAME, store<E>, OpClass::VmemStore, OpStores, typeOf(E)},               \
      {"scratch_store_" NAME, store<E>, OpClass::VmemStore, OpStores, typeOf(E)}
#define ATOMIC_ONE(NAME, OP, T, TYPE)                                                          \
  {"flat_atomic_" NAME, atomic<OP, T>, OpClass::FlatAtomic,                                    \
   atomicFlags(OP, true), TYPE},                                \
      {"global_atomic_" NAME, atomic<OP, T>, OpClass::VmemAtomic,                              \
       atomicFlags(OP, true), TYPE}
#define ATOMIC(NAME, OP)                                                                       \
  ATOMIC_ONE(NAME, OP, uint32_t, Ty::B32), ATOMIC_ONE(NAME "_x2", OP, uint64_t, Ty::B64)

const OpEntry Entries[] = {
#include "isa/MemWidths.def"
    // gfx10: consecutive dwords of the lanes, from a scalar address on.
    {"global_load_dword_addtid", load<Element::B32>, OpClass::VmemLoad, OpReturns | OpAddTid,
     Ty::B32},
    {"global_store_dword_addtid", store<Element::B32>, OpClass::VmemStore, OpStores | OpAddTid,
     Ty::B32},
};

} // namespace

const OpTable FlatOps = {Entries, sizeof Entries / sizeof *Entries};

} // namespace vgpu
