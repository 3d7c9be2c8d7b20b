// Scalar memory: loads and stores of 1 to 16 dwords, buffer forms, scalar
// atomics, the clocks, and the scalar cache's maintenance.
#include "isa/MemAccess.h"
#include "isa/MemTables.h"
#include "machine/Machine.h"

#include <algorithm>

namespace vgpu {
namespace {

uint32_t scalarOffset(const Wave &W, const Inst &I) {
  switch (I.SOffset.Kind) {
  case OperandKind::Sgpr: return W.Sgpr[I.SOffset.Reg];
  case OperandKind::Const: return uint32_t(I.SOffset.Value);
  default: return 0;
  }
}

/// The first byte; bits 1..0 are ignored, as the hardware does. Scale: of the
/// offset in a register, 64 for scratch ("Scalar Memory Addressing").
uint64_t plainAddress(const Wave &W, const Inst &I, unsigned Scale = 1) {
  return hostAddress(W.scalar64(I.SBase) + uint64_t(int64_t(I.Offset)) +
                     uint64_t(scalarOffset(W, I)) * Scale) &
         ~uint64_t(3);
}
constexpr unsigned ScratchScale = 64;

struct BufferRange {
  uint64_t Address;
  uint64_t BytesLeft; ///< From Address on, inside the resource.
};

BufferRange bufferRange(const Wave &W, const Inst &I) {
  const uint32_t *R = W.Sgpr + I.SBase;
  uint64_t Base = (uint64_t(R[1] & 0xffff) << 32 | R[0]) & ~uint64_t(3);
  uint64_t Stride = R[1] >> 16 & 0x3fff;
  uint64_t Size = Stride ? R[2] * Stride : R[2];
  uint64_t Offset = (uint64_t(int64_t(I.Offset)) + scalarOffset(W, I)) & ~uint64_t(3);
  return {hostAddress(Base + Offset), Offset < Size ? Size - Offset : 0};
}

bool checkScalar(Wave &W, const Inst &I, uint64_t Address, unsigned Bytes, bool Write) {
  if (Machine::of(W).allows(W, Address, Address + Bytes, Write))
    return true;
  Machine::of(W).fault(W, I, FaultKind::Memory,
                       std::string(Write ? "scalar store of " : "scalar load of ") +
                           std::to_string(Bytes) + " bytes outside all memory of the device",
                       MaxLanes, Address);
  return false;
}

template <unsigned Dwords, unsigned Scale = 1> void load(Wave &W, const Inst &I) {
  uint64_t A = plainAddress(W, I, Scale);
  if (!checkScalar(W, I, A, 4 * Dwords, false))
    return;
  uint32_t Value[Dwords]; // The result may overwrite the address pair.
  std::memcpy(Value, reinterpret_cast<const void *>(A), sizeof Value);
  std::memcpy(W.Sgpr + I.SData, Value, sizeof Value);
  Machine::of(W).scalarTime(W, A, 4 * Dwords, false);
}

template <unsigned Dwords> void bufferLoad(Wave &W, const Inst &I) {
  BufferRange B = bufferRange(W, I);
  uint32_t Value[Dwords] = {}; // Out of range reads as zero.
  unsigned Bytes = unsigned(std::min<uint64_t>(4 * Dwords, B.BytesLeft & ~uint64_t(3)));
  if (Bytes) {
    if (!checkScalar(W, I, B.Address, Bytes, false))
      return;
    std::memcpy(Value, reinterpret_cast<const void *>(B.Address), Bytes);
  }
  std::memcpy(W.Sgpr + I.SData, Value, sizeof Value);
  Machine::of(W).scalarTime(W, B.Address, 4 * Dwords, false);
}

template <unsigned Dwords, unsigned Scale = 1> void store(Wave &W, const Inst &I) {
  uint64_t A = plainAddress(W, I, Scale);
  if (!checkScalar(W, I, A, 4 * Dwords, true))
    return;
  std::memcpy(reinterpret_cast<void *>(A), W.Sgpr + I.SData, 4 * Dwords);
  Machine::of(W).scalarTime(W, A, 4 * Dwords, true);
}

template <unsigned Dwords> void bufferStore(Wave &W, const Inst &I) {
  BufferRange B = bufferRange(W, I);
  unsigned Bytes = unsigned(std::min<uint64_t>(4 * Dwords, B.BytesLeft & ~uint64_t(3)));
  if (Bytes) {
    if (!checkScalar(W, I, B.Address, Bytes, true))
      return;
    std::memcpy(reinterpret_cast<void *>(B.Address), W.Sgpr + I.SData, Bytes);
  }
  Machine::of(W).scalarTime(W, B.Address, 4 * Dwords, true);
}

template <Rmw Op, typename T> void atomicAt(Wave &W, const Inst &I, uint64_t A) {
  if (!checkScalar(W, I, A, sizeof(T), true))
    return;
  if (A % sizeof(T)) {
    Machine::of(W).fault(W, I, FaultKind::Misaligned, "scalar atomic", MaxLanes, A);
    return;
  }
  auto Read = [&](unsigned Reg) { return sizeof(T) == 8 ? T(W.scalar64(Reg)) : T(W.Sgpr[Reg]); };
  T Old = atomicRmw<Op, T>(A, Read(I.SData), hasSecondData(Op) ? Read(I.SData + sizeof(T) / 4) : T(0));
  if (I.Glc) {
    W.Sgpr[I.SData] = uint32_t(Old);
    if (sizeof(T) == 8)
      W.Sgpr[I.SData + 1] = uint32_t(uint64_t(Old) >> 32);
  }
  Machine::of(W).scalarTime(W, A, sizeof(T), true);
}

template <Rmw Op, typename T> void atomic(Wave &W, const Inst &I) {
  atomicAt<Op, T>(W, I, plainAddress(W, I));
}
template <Rmw Op, typename T> void bufferAtomic(Wave &W, const Inst &I) {
  BufferRange B = bufferRange(W, I);
  if (B.BytesLeft >= sizeof(T))
    atomicAt<Op, T>(W, I, B.Address);
}

void memTime(Wave &W, const Inst &I) {
  uint64_t Value = Machine::of(W).cycleClock(W);
  W.setScalar64(I.SData, Value);
  auto &M = static_cast<MachineWave &>(W);
  M.pushLgkm(W.Cycle + Machine::of(W).model().ScalarClock);
  Machine::of(W).logTime(M, I.Pc, Value, false);
}

void memRealTime(Wave &W, const Inst &I) {
  uint64_t Value = Machine::of(W).realTime(W);
  W.setScalar64(I.SData, Value);
  auto &M = static_cast<MachineWave &>(W);
  M.pushLgkm(W.Cycle + Machine::of(W).model().ScalarClock);
  Machine::of(W).logTime(M, I.Pc, Value, true);
}

void dcacheInvalidate(Wave &W, const Inst &) {
  auto &M = static_cast<MachineWave &>(W);
  Machine::of(W).memoryTiming().invalidateScalar(M.L1);
  M.pushLgkm(W.Cycle + Machine::of(W).model().ScalarHit);
}

void nothing(Wave &W, const Inst &) {
  static_cast<MachineWave &>(W).pushLgkm(W.Cycle + Machine::of(W).model().ScalarHit);
}

constexpr uint32_t LoadFlags = OpReturns;
constexpr uint32_t StoreFlags = OpStores | OpDataInDst;

#define ATOMIC_ONE(NAME, OP, T, TYPE)                                                           \
  {"s_atomic_" NAME, atomic<OP, T>, OpClass::SmemStore, atomicFlags(OP, true), TYPE},           \
      {"s_buffer_atomic_" NAME, bufferAtomic<OP, T>, OpClass::SmemStore, atomicFlags(OP, true), \
       TYPE}
#define ATOMICS(NAME, OP)                                                                       \
  ATOMIC_ONE(NAME, OP, uint32_t, Ty::B32), ATOMIC_ONE(NAME "_x2", OP, uint64_t, Ty::B64)

const OpEntry Entries[] = {
    {"s_load_dword", load<1>, OpClass::SmemLoad, LoadFlags, Ty::B32},
    {"s_load_dwordx2", load<2>, OpClass::SmemLoad, LoadFlags, Ty::B64},
    {"s_load_dwordx4", load<4>, OpClass::SmemLoad, LoadFlags, Ty::B128},
    {"s_load_dwordx8", load<8>, OpClass::SmemLoad, LoadFlags, Ty::B256},
    {"s_load_dwordx16", load<16>, OpClass::SmemLoad, LoadFlags, Ty::B512},
    {"s_buffer_load_dword", bufferLoad<1>, OpClass::SmemLoad, LoadFlags, Ty::B32},
    {"s_buffer_load_dwordx2", bufferLoad<2>, OpClass::SmemLoad, LoadFlags, Ty::B64},
    {"s_buffer_load_dwordx4", bufferLoad<4>, OpClass::SmemLoad, LoadFlags, Ty::B128},
    {"s_buffer_load_dwordx8", bufferLoad<8>, OpClass::SmemLoad, LoadFlags, Ty::B256},
    {"s_buffer_load_dwordx16", bufferLoad<16>, OpClass::SmemLoad, LoadFlags, Ty::B512},
    {"s_store_dword", store<1>, OpClass::SmemStore, StoreFlags, Ty::B32},
    {"s_store_dwordx2", store<2>, OpClass::SmemStore, StoreFlags, Ty::B64},
    {"s_store_dwordx4", store<4>, OpClass::SmemStore, StoreFlags, Ty::B128},
    {"s_buffer_store_dword", bufferStore<1>, OpClass::SmemStore, StoreFlags, Ty::B32},
    {"s_buffer_store_dwordx2", bufferStore<2>, OpClass::SmemStore, StoreFlags, Ty::B64},
    {"s_buffer_store_dwordx4", bufferStore<4>, OpClass::SmemStore, StoreFlags, Ty::B128},
    {"s_scratch_load_dword", load<1, ScratchScale>, OpClass::SmemLoad, LoadFlags, Ty::B32},
    {"s_scratch_load_dwordx2", load<2, ScratchScale>, OpClass::SmemLoad, LoadFlags, Ty::B64},
    {"s_scratch_load_dwordx4", load<4, ScratchScale>, OpClass::SmemLoad, LoadFlags, Ty::B128},
    {"s_scratch_store_dword", store<1, ScratchScale>, OpClass::SmemStore, StoreFlags, Ty::B32},
    {"s_scratch_store_dwordx2", store<2, ScratchScale>, OpClass::SmemStore, StoreFlags, Ty::B64},
    {"s_scratch_store_dwordx4", store<4, ScratchScale>, OpClass::SmemStore, StoreFlags, Ty::B128},
    ATOMICS("swap", Rmw::Swap),
    ATOMICS("cmpswap", Rmw::CmpSwap),
    ATOMICS("add", Rmw::Add),
    ATOMICS("sub", Rmw::Sub),
    ATOMICS("smin", Rmw::SMin),
    ATOMICS("umin", Rmw::UMin),
    ATOMICS("smax", Rmw::SMax),
    ATOMICS("umax", Rmw::UMax),
    ATOMICS("and", Rmw::And),
    ATOMICS("or", Rmw::Or),
    ATOMICS("xor", Rmw::Xor),
    ATOMICS("inc", Rmw::Inc),
    ATOMICS("dec", Rmw::Dec),
    {"s_memtime", memTime, OpClass::SmemTime, OpReturns, Ty::B64},
    {"s_memrealtime", memRealTime, OpClass::SmemTime, OpReturns, Ty::B64},
    {"s_gl1_inv", nothing, OpClass::SmemOther},
    {"s_atc_probe", nothing, OpClass::SmemOther},
    {"s_atc_probe_buffer", nothing, OpClass::SmemOther},
    {"s_dcache_inv", dcacheInvalidate, OpClass::SmemOther},
    {"s_dcache_inv_vol", dcacheInvalidate, OpClass::SmemOther},
    {"s_dcache_wb", nothing, OpClass::SmemOther},
    {"s_dcache_wb_vol", nothing, OpClass::SmemOther},
    {"s_dcache_discard", nothing, OpClass::SmemOther},
    {"s_dcache_discard_x2", nothing, OpClass::SmemOther},
    // A hint to the address translation, which there is none of.
    {"s_atc_probe", nothing, OpClass::SmemOther},
    {"s_atc_probe_buffer", nothing, OpClass::SmemOther},
};

} // namespace

const OpTable SmemOps = {Entries, sizeof Entries / sizeof *Entries};

} // namespace vgpu
