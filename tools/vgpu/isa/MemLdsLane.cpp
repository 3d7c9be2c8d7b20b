// DS operations that use the LDS crossbar rather than its memory (swizzle,
// permute), the ones that count through M0 (append, consume, addtid), and the
// one that is refused by name (ordered count).
#include "isa/MemAccess.h"
#include "isa/MemTables.h"
#include "machine/Machine.h"

namespace vgpu {
namespace {

/// Value of lane From as the crossbar gives it: zero from an inactive lane.
uint32_t valid(const Vreg &Data, uint64_t Exec, unsigned From) {
  return Exec >> From & 1 ? Data.Lane[From] : 0;
}

void swizzle(Wave &W, const Inst &I) {
  const uint32_t Pattern = uint32_t(I.Offset);
  const uint64_t Exec = W.exec();
  const Vreg Data = W.Vgpr[I.VAddr];
  forLanes(Exec, [&](unsigned L) {
    unsigned From;
    if (Pattern >= 0xe000) { // FFT: the lane's bits in reverse, beside those of the mask.
      const unsigned Mask = Pattern & 31;
      unsigned Reversed = 0;
      for (unsigned Bit = 0; Bit < 5; ++Bit)
        Reversed |= (L >> Bit & 1) << (4 - Bit);
      From = Reversed >> __builtin_popcount(Mask) | (L & Mask) | (L & 32);
    } else if (Pattern >= 0xc000) { // Rotate within groups of lanes.
      unsigned Amount = Pattern >> 5 & 31, Mask = Pattern & 31;
      unsigned Rotated = Pattern >> 10 & 1 ? L - Amount : L + Amount;
      From = (L & Mask) | (Rotated & ~Mask & 31) | (L & 32);
    } else if (Pattern & 0x8000) { // Any of the quad.
      From = (L & ~3u) | (Pattern >> (2 * (L & 3)) & 3);
    } else {
      From = (L & 32) | ((((L & 31) & (Pattern & 31)) | (Pattern >> 5 & 31)) ^ (Pattern >> 10 & 31));
    }
    W.Vgpr[I.VDst].Lane[L] = valid(Data, Exec, From);
  });
  Machine::of(W).ldsTime(W, I, nullptr, Exec, 1);
}

/// Lane that the byte address Address means to lane L: one of 64, on gfx10 one of
/// the same 32, whatever the wave's size.
unsigned laneAt(Wave &W, uint32_t Address, unsigned L) {
  const unsigned Lane = Address / 4;
  return Machine::of(W).config().Major >= 10 ? (L & 32) | (Lane & 31) : Lane & 63;
}

void permute(Wave &W, const Inst &I) {
  const uint64_t Exec = W.exec();
  const Vreg Address = W.Vgpr[I.VAddr], Data = W.Vgpr[I.VData];
  Vreg Out = {};
  forLanes(Exec, [&](unsigned L) {
    Out.Lane[laneAt(W, Address.Lane[L] + uint32_t(I.Offset), L)] = Data.Lane[L];
  });
  forLanes(Exec, [&](unsigned L) { W.Vgpr[I.VDst].Lane[L] = Out.Lane[L]; });
  Machine::of(W).ldsTime(W, I, nullptr, Exec, 1);
}

void bpermute(Wave &W, const Inst &I) {
  const uint64_t Exec = W.exec();
  const Vreg Address = W.Vgpr[I.VAddr], Data = W.Vgpr[I.VData];
  forLanes(Exec, [&](unsigned L) {
    W.Vgpr[I.VDst].Lane[L] =
        valid(Data, Exec, laneAt(W, Address.Lane[L] + uint32_t(I.Offset), L));
  });
  Machine::of(W).ldsTime(W, I, nullptr, Exec, 1);
}

/// Host address of Bytes at LDS offset At, or null after a fault.
uint8_t *place(Wave &W, const Inst &I, uint32_t At, unsigned Bytes, unsigned Lane) {
  Machine &M = Machine::of(W);
  if (I.Gds) {
    M.fault(W, I, FaultKind::UnknownInstruction, "global data share is not modelled", MaxLanes, 0);
    return nullptr;
  }
  if (uint64_t(At) + Bytes > M.ldsSize(W)) {
    M.fault(W, I, FaultKind::LdsRange,
            std::to_string(Bytes) + " bytes at LDS offset " + std::to_string(At) +
                ", the workgroup has " + std::to_string(M.ldsSize(W)),
            Lane, At);
    return nullptr;
  }
  return M.ldsBase(W) + At;
}

/// Adds (or takes) the number of active lanes to a counter in LDS; every lane
/// gets the value before.
template <bool Add> void appendConsume(Wave &W, const Inst &I) {
  const uint64_t Exec = W.exec();
  uint8_t *P = place(W, I, (W.m0() & 0xffff) + uint32_t(I.Offset), 4, MaxLanes);
  if (!P)
    return;
  uint32_t Old, Lanes = uint32_t(__builtin_popcountll(Exec));
  std::memcpy(&Old, P, 4);
  uint32_t New = Add ? Old + Lanes : Old - Lanes;
  std::memcpy(P, &New, 4);
  forLanes(Exec, [&](unsigned L) { W.Vgpr[I.VDst].Lane[L] = Old; });
  Machine::of(W).ldsTime(W, I, nullptr, Exec, 1);
}

void readAddTid(Wave &W, const Inst &I) {
  const uint64_t Exec = W.exec();
  for (uint64_t Rest = Exec; Rest; Rest &= Rest - 1) {
    unsigned L = unsigned(__builtin_ctzll(Rest));
    uint8_t *P = place(W, I, (W.m0() & 0xffff) + uint32_t(I.Offset) + 4 * L, 4, L);
    if (!P)
      return;
    std::memcpy(&W.Vgpr[I.VDst].Lane[L], P, 4);
  }
  Machine::of(W).ldsTime(W, I, nullptr, Exec, 1);
}

void writeAddTid(Wave &W, const Inst &I) {
  const uint64_t Exec = W.exec();
  for (uint64_t Rest = Exec; Rest; Rest &= Rest - 1) {
    unsigned L = unsigned(__builtin_ctzll(Rest));
    uint8_t *P = place(W, I, (W.m0() & 0xffff) + uint32_t(I.Offset) + 4 * L, 4, L);
    if (!P)
      return;
    std::memcpy(P, &W.Vgpr[I.VData].Lane[L], 4);
  }
  Machine::of(W).ldsTime(W, I, nullptr, Exec, 1);
}

void nothing(Wave &, const Inst &) {}

void refused(Wave &W, const Inst &I) {
  Machine::of(W).fault(W, I, FaultKind::UnknownInstruction,
                       std::string(I.Info->Name) + " is not modelled", MaxLanes, 0);
}

template <GlobalSync Op> void globalSync(Wave &W, const Inst &I) {
  Machine::of(W).globalSync(W, I, Op);
}

const OpEntry Entries[] = {
    {"ds_nop", nothing, OpClass::LdsOther},
    {"ds_swizzle_b32", swizzle, OpClass::LdsOther, OpReturns, Ty::B32},
    {"ds_permute_b32", permute, OpClass::LdsOther, OpStores | OpReturns, Ty::B32},
    {"ds_bpermute_b32", bpermute, OpClass::LdsOther, OpStores | OpReturns, Ty::B32},
    {"ds_append", appendConsume<true>, OpClass::LdsAtomic, OpReturns, Ty::B32},
    {"ds_consume", appendConsume<false>, OpClass::LdsAtomic, OpReturns, Ty::B32},
    {"ds_read_addtid_b32", readAddTid, OpClass::LdsLoad, OpReturns, Ty::B32},
    {"ds_write_addtid_b32", writeAddTid, OpClass::LdsStore, OpStores, Ty::B32},
    {"ds_ordered_count", refused, OpClass::LdsOther},
    {"ds_gws_init", globalSync<GlobalSync::Init>, OpClass::LdsOther, OpEndsRun},
    {"ds_gws_barrier", globalSync<GlobalSync::Barrier>, OpClass::LdsOther, OpEndsRun},
    {"ds_gws_sema_v", globalSync<GlobalSync::SemaV>, OpClass::LdsOther, OpEndsRun},
    {"ds_gws_sema_br", globalSync<GlobalSync::SemaBr>, OpClass::LdsOther, OpEndsRun},
    {"ds_gws_sema_p", globalSync<GlobalSync::SemaP>, OpClass::LdsOther, OpEndsRun},
    {"ds_gws_sema_release_all", globalSync<GlobalSync::ReleaseAll>, OpClass::LdsOther, OpEndsRun},
};

} // namespace

const OpTable DsLaneOps = {Entries, sizeof Entries / sizeof *Entries};

} // namespace vgpu
