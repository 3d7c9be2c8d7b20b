// MUBUF: vector memory through a buffer resource in four SGPRs. The compiler
// uses it for scratch (swizzled, one dword of all lanes side by side). A load
// may go to LDS instead of registers. Typed loads and stores: MemFormat.cpp.
#include "isa/BufferAccess.h"
#include "isa/MemTables.h"
#include "machine/Machine.h"

#include <algorithm>

namespace vgpu {
namespace {

/// Sends what each lane loads to LDS, a dword a lane from M0 on. The offset
/// of the instruction counts on both sides ("Memory Buffer Load to LDS").
template <Element E> void loadToLds(Wave &W, const Inst &I) {
  Machine &M = Machine::of(W);
  if (bytesOf(E) > 4 || keepsHalf(E)) {
    M.fault(W, I, FaultKind::IllegalOperand, "only a dword or less of each lane can go to LDS",
            MaxLanes, 0);
    return;
  }
  BufferAccess Acc;
  if (!Acc.resolve(W, I, BufferResource(W, I.SRsrc), bytesOf(E), false))
    return;
  Vreg Value = {};
  loadLanes<E>(&Value, Acc.A.Lane, Acc.InRange);
  storeToLds(W, I, Value);
  M.vectorTime(W, I, Acc.A.Lane, Acc.InRange, bytesOf(E), MemoryOp::Load);
}

template <Element E> void load(Wave &W, const Inst &I) {
  if (I.LdsDma) {
    loadToLds<E>(W, I);
    return;
  }
  BufferAccess Acc;
  if (!Acc.resolve(W, I, BufferResource(W, I.SRsrc), bytesOf(E), false))
    return;
  Vreg *Dst = W.Vgpr + I.VDst;
  loadLanes<E>(Dst, Acc.A.Lane, Acc.InRange, Acc.DwordStride);
  for (uint64_t Rest = W.exec() & ~Acc.InRange; Rest; Rest &= Rest - 1) {
    unsigned L = unsigned(__builtin_ctzll(Rest));
    if (keepsHalf(E))
      Dst->Lane[L] &= E >= Element::U8High ? 0xffff : 0xffff0000;
    else
      for (unsigned D = 0; D < std::max(1u, bytesOf(E) / 4); ++D)
        Dst[D].Lane[L] = 0;
  }
  Machine::of(W).vectorTime(W, I, Acc.A.Lane, Acc.InRange, bytesOf(E), MemoryOp::Load);
}

template <Element E> void store(Wave &W, const Inst &I) {
  BufferAccess Acc;
  if (!Acc.resolve(W, I, BufferResource(W, I.SRsrc), bytesOf(E), true))
    return;
  storeLanes<E>(W.Vgpr + I.VData, Acc.A.Lane, Acc.InRange, Acc.DwordStride);
  Machine::of(W).vectorTime(W, I, Acc.A.Lane, Acc.InRange, bytesOf(E), MemoryOp::Store);
}

template <Rmw Op, typename T> void atomic(Wave &W, const Inst &I) {
  Machine &M = Machine::of(W);
  constexpr unsigned Dwords = sizeof(T) / 4;
  BufferAccess Acc;
  if (!Acc.resolve(W, I, BufferResource(W, I.SRsrc), sizeof(T), true))
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
                             hasSecondData(Op) ? laneData<T>(Data + Dwords, L) : T(0));
    if (I.Glc)
      setLaneData<T>(Data, L, Old);
  }
  M.vectorTime(W, I, Acc.A.Lane, Acc.InRange, sizeof(T), MemoryOp::Atomic);
}

void storeLds(Wave &W, const Inst &I) {
  BufferAccess Acc;
  Vreg Value = {};
  if (!Acc.resolve(W, I, BufferResource(W, I.SRsrc), 4, true) || !loadFromLds(W, I, Value))
    return;
  storeLanes<Element::B32>(&Value, Acc.A.Lane, Acc.InRange);
  Machine::of(W).vectorTime(W, I, Acc.A.Lane, Acc.InRange, 4, MemoryOp::Store);
}

void invalidateL1(Wave &W, const Inst &) {
  auto &M = static_cast<MachineWave &>(W);
  Machine::of(W).memoryTiming().invalidateVector(M.L1);
  M.pushVm(W.Cycle + 4, false);
}

void cacheHint(Wave &W, const Inst &) { static_cast<MachineWave &>(W).pushVm(W.Cycle + 4, false); }

#define LOAD(NAME, E) {"buffer_load_" NAME, load<E>, OpClass::VmemLoad, OpReturns, typeOf(E)}
#define STORE(NAME, E) {"buffer_store_" NAME, store<E>, OpClass::VmemStore, OpStores, typeOf(E)}
#define ATOMIC(NAME, OP)                                                                      \
  ATOMIC_ONE(NAME, OP, uint32_t, Ty::B32), ATOMIC_ONE(NAME "_x2", OP, uint64_t, Ty::B64)
#define ATOMIC_ONE(NAME, OP, T, TYPE)                                                         \
  {"buffer_atomic_" NAME, atomic<OP, T>, OpClass::VmemAtomic,                                 \
   atomicFlags(OP, true), TYPE}

const OpEntry Entries[] = {
#include "isa/MemWidths.def"
    {"buffer_store_lds_dword", storeLds, OpClass::VmemStore},
    {"buffer_wbinvl1", invalidateL1, OpClass::VmemOther},
    {"buffer_wbinvl1_vol", invalidateL1, OpClass::VmemOther},
    // gfx10: the caches of a compute unit, and of some that share one; both are L1 here.
    {"buffer_gl0_inv", invalidateL1, OpClass::VmemOther},
    {"buffer_gl1_inv", invalidateL1, OpClass::VmemOther},
    // L2 is one for the whole device here and keeps nothing from the host.
    {"buffer_invl2", cacheHint, OpClass::VmemOther},
    {"buffer_wbl2", cacheHint, OpClass::VmemOther},
};

} // namespace

const OpTable MubufOps = {Entries, sizeof Entries / sizeof *Entries};

} // namespace vgpu
