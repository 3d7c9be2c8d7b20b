//===- MemoryTiming.cpp - Caches, channels, LDS banks -----------------------===//
#include "machine/MemoryTiming.h"

#include "core/TargetClones.h"

#include <algorithm>

namespace vgpu {

using namespace timing;

void LineSet::add(uint64_t Number) {
  // Lanes mostly walk upwards: look at the newest lines first.
  for (unsigned I = Count; I-- > 0;)
    if (Line[I] == Number) {
      ++Lanes[I];
      return;
    }
  Line[Count] = Number;
  Lanes[Count++] = 1;
}

void LineSet::collect(const uint64_t *Address, uint64_t Exec, unsigned Bytes) {
  Count = 0;
  if (!Exec)
    return;
  uint64_t Previous = ~uint64_t(0);
  for (uint64_t Rest = Exec; Rest; Rest &= Rest - 1) {
    uint64_t Begin = Address[__builtin_ctzll(Rest)];
    uint64_t First = Begin >> LineShift, Last = (Begin + Bytes - 1) >> LineShift;
    if (First == Previous)
      ++Lanes[Count - 1];
    else
      add(First);
    if (Last != First)
      add(Last);
    Previous = Count && Line[Count - 1] == Last ? Last : ~uint64_t(0);
  }
}

unsigned ldsConflictCycles(const uint32_t *Address, uint64_t Exec, unsigned Dwords) {
  // 32 lanes are served at a time; a bank gives one dword a cycle, and lanes
  // that want the same dword share it.
  unsigned Extra = 0;
  for (unsigned Half = 0; Half < 2; ++Half) {
    uint32_t Active = uint32_t(Exec >> (32 * Half));
    if (!Active)
      continue;
    const uint32_t *A = Address + 32 * Half;
    uint32_t Words[LdsBanks][32];
    uint8_t Used[LdsBanks] = {};
    unsigned Most = 1;
    for (uint32_t Rest = Active; Rest; Rest &= Rest - 1) {
      uint32_t Word = A[__builtin_ctz(Rest)] >> 2;
      unsigned Bank = Word % LdsBanks, I = 0;
      while (I < Used[Bank] && Words[Bank][I] != Word)
        ++I;
      if (I == Used[Bank]) {
        Words[Bank][Used[Bank]++] = Word;
        Most = std::max<unsigned>(Most, Used[Bank]);
      }
    }
    // A stride of two dwords is what a b64 access has by itself, and so on.
    Extra += Most > Dwords ? Most - Dwords : 0;
  }
  return Extra;
}

/// True when Address - Address[0] equals Delta in \p Lanes (32 or 64), the
/// inactive ones too: a lane of no use may only cost a repetition.
VGPU_TARGET_CLONES static bool
sameDeltas(const uint32_t *Address, const uint32_t *Delta, unsigned Lanes) {
  uint32_t Differ = 0;
  for (unsigned Half = 0; Half < Lanes; Half += 32)
    for (unsigned L = Half; L < Half + 32; ++L)
      Differ |= (Address[L] - Address[0]) ^ Delta[L];
  return !Differ;
}
VGPU_TARGET_CLONES static bool
sameDeltas(const uint64_t *Address, const uint64_t *Delta, unsigned Lanes) {
  uint64_t Differ = 0;
  for (unsigned Half = 0; Half < Lanes; Half += 32)
    for (unsigned L = Half; L < Half + 32; ++L)
      Differ |= (Address[L] - Address[0]) ^ Delta[L];
  return !Differ;
}

unsigned PatternMemo::ldsConflicts(uint64_t Pc, const uint32_t *Address, uint64_t Exec,
                                   unsigned Dwords) {
  LdsEntry &E = Lds[(Pc >> 2) % Entries];
  if (E.Pc == Pc && E.Exec == Exec && E.Low == (Address[0] & 3) && E.Dwords == Dwords &&
      sameDeltas(Address, E.Delta, lanesOf(Exec)))
    return E.Cycles;
  E.Pc = Pc;
  E.Exec = Exec;
  E.Low = Address[0] & 3;
  E.Dwords = Dwords;
  for (unsigned L = 0; L < lanesOf(Exec); ++L)
    E.Delta[L] = Address[L] - Address[0];
  return E.Cycles = ldsConflictCycles(Address, Exec, Dwords);
}

void PatternMemo::lines(uint64_t Pc, const uint64_t *Address, uint64_t Exec, unsigned Bytes,
                        LineSet &Out) {
  LineEntry &E = Line[(Pc >> 2) % Entries];
  const uint64_t Low = Address[0] & ((uint64_t(1) << Out.LineShift) - 1);
  if (E.Pc == Pc && E.Exec == Exec && E.Low == Low && E.Bytes == Bytes &&
      sameDeltas(Address, E.Delta, lanesOf(Exec))) {
    const uint64_t Moved = (Address[0] >> Out.LineShift) - E.FirstLine;
    Out.Count = E.Lines.Count;
    for (unsigned I = 0; I < Out.Count; ++I) {
      Out.Line[I] = E.Lines.Line[I] + Moved;
      Out.Lanes[I] = E.Lines.Lanes[I];
    }
    return;
  }
  Out.collect(Address, Exec, Bytes);
  E.Pc = Pc;
  E.Exec = Exec;
  E.Low = Low;
  E.FirstLine = Address[0] >> Out.LineShift;
  E.Bytes = Bytes;
  E.Lines.Count = Out.Count;
  for (unsigned I = 0; I < Out.Count; ++I) {
    E.Lines.Line[I] = Out.Line[I];
    E.Lines.Lanes[I] = Out.Lanes[I];
  }
  for (unsigned L = 0; L < lanesOf(Exec); ++L)
    E.Delta[L] = Address[L] - Address[0];
}

static unsigned shiftOf(unsigned PowerOfTwo) { return unsigned(__builtin_ctz(PowerOfTwo)); }

MemoryTiming::MemoryTiming(const DeviceConfig &C)
    : Model(timingModel(C)), LineShift(shiftOf(C.LineBytes)),
      L2Shift(shiftOf(C.L2LineBytes / C.LineBytes)), CusPerScalar(C.CusPerScalarCache),
      CusPerWgp(C.CusPerWgp), Arrays(C.ShaderEngines * C.ArraysPerEngine),
      Scalars((C.ComputeUnits + CusPerScalar - 1) / CusPerScalar,
              CacheModel(C.ScalarCacheBytes, C.LineBytes, 4)),
      L2(C.L2Bytes, C.L2LineBytes, 16), Channels(C.L2Channels, Bandwidth(Model.L2LinesPer64)),
      Last(Model.LastLinesPer64), Memory(Model.MemoryLinesPer64) {
  Units.assign(C.ComputeUnits, Unit{CacheModel(C.L1Bytes, C.LineBytes, C.L1Ways)});
  if (C.ArrayCacheBytes)
    ArrayCaches.assign(Arrays, CacheModel(C.ArrayCacheBytes, C.LineBytes, 16));
  if (C.LastCacheBytes)
    LastCache.emplace_back(C.LastCacheBytes, C.L2LineBytes, 16);
}

void MemoryTiming::startDispatch() {
  for (Unit &U : Units) {
    U.L1Port.reset();
    U.LdsPort.reset();
  }
  acquire();
  for (Bandwidth &C : Channels)
    C.reset();
  Last.reset();
  Memory.reset();
}

void MemoryTiming::acquire() {
  for (Unit &U : Units)
    U.L1.clear();
  for (CacheModel &S : Scalars)
    S.clear();
  for (CacheModel &A : ArrayCaches)
    A.clear();
}

uint64_t MemoryTiming::level2(uint64_t Time, uint64_t Line, unsigned Requests, bool NeedsData,
                              MemoryCounters &Counters) {
  Time = Channels[Line % Channels.size()].claim(Time, Requests);
  if (L2.access(Line)) {
    ++Counters.L2Hits;
    return Time + Model.L2Hit;
  }
  ++Counters.L2Misses;
  if (!NeedsData)
    return Time + Model.L2Hit; // A store is kept with its byte mask.
  if (!LastCache.empty()) {
    Time = Last.claim(Time, 1);
    if (LastCache[0].access(Line)) {
      ++Counters.LastHits;
      return Time + Model.L2Hit + Model.LastCacheHit;
    }
    ++Counters.LastMisses;
  }
  ++Counters.MemoryLines;
  return Memory.claim(Time, 1) + Model.L2Hit + Model.MemoryLatency;
}

uint64_t MemoryTiming::beyond(unsigned Cu, uint64_t Time, uint64_t Line, unsigned Requests,
                              bool NeedsData, bool UseArrayCache, MemoryCounters &Counters) {
  if (!ArrayCaches.empty()) {
    // Compute units are numbered engine by engine in turn (see HW_ID).
    CacheModel &Cache = ArrayCaches[Cu / CusPerWgp % Arrays];
    if (UseArrayCache) {
      if (Cache.access(Line)) {
        ++Counters.ArrayHits;
        return Time + Model.ArrayHit;
      }
      ++Counters.ArrayMisses;
    }
    Time += Model.ArrayMiss;
  }
  return level2(Time, Line >> L2Shift, Requests, NeedsData, Counters);
}

uint64_t MemoryTiming::vector(unsigned Cu, uint64_t Now, unsigned Lanes, const LineSet &Lines,
                              unsigned Dwords, MemoryOp Op, bool BypassL1, bool BypassArray,
                              MemoryCounters &Counters) {
  Unit &U = Units[Cu];
  if (!Lines.Count)
    return Now + Model.VectorHit;
  // A line's worth of data a cycle, and a line looked up a cycle.
  uint64_t Start = U.L1Port.claim(Now, std::max((4 * Lanes * Dwords) >> LineShift, Lines.Count));
  Counters.VectorLines += Lines.Count;
  // The second level's tags are larger than the host's first cache.
  if (Lines.Count > 1)
    for (unsigned I = 0; I < Lines.Count; ++I)
      L2.prefetch(Lines.Line[I] >> L2Shift);
  uint64_t Done = 0;
  std::unique_lock<std::mutex> Guard(Lock, std::defer_lock);
  for (unsigned I = 0; I < Lines.Count; ++I) {
    uint64_t Line = Lines.Line[I], Time = Start + I;
    const bool Cached = Op == MemoryOp::Load && !BypassL1;
    if (Cached) {
      if (U.L1.access(Line)) {
        ++Counters.L1Hits;
        Done = std::max(Done, Time + Model.VectorHit);
        continue;
      }
      ++Counters.L1Misses;
    }
    beginRequest(Guard);
    unsigned Requests = Op == MemoryOp::Atomic ? Lines.Lanes[I] : 1;
    Done = std::max(Done, beyond(Cu, Time + Model.VectorMiss, Line, Requests,
                                 Op != MemoryOp::Store, Op == MemoryOp::Load && !BypassArray, Counters));
  }
  return Done;
}

uint64_t MemoryTiming::scalar(unsigned Cu, uint64_t Now, uint64_t Address, unsigned Bytes,
                              bool Store, MemoryCounters &Counters) {
  CacheModel &Cache = Scalars[Cu / CusPerScalar];
  uint64_t Done = 0;
  std::unique_lock<std::mutex> Guard(Lock, std::defer_lock);
  for (uint64_t Line = Address >> LineShift; Line <= (Address + Bytes - 1) >> LineShift; ++Line) {
    if (Cache.access(Line)) {
      ++Counters.ScalarHits;
      Done = std::max(Done, Now + Model.ScalarHit);
    } else {
      ++Counters.ScalarMisses;
      beginRequest(Guard);
      Done = std::max(Done, beyond(Cu, Now + Model.ScalarMiss, Line, 1, !Store, !Store, Counters));
    }
  }
  return Done;
}

uint64_t MemoryTiming::lds(unsigned Cu, uint64_t Now, unsigned Lanes, unsigned Dwords,
                           unsigned ConflictCycles, MemoryCounters &Counters) {
  Unit &U = Units[Cu];
  const unsigned Passes = Lanes / 32 * Dwords + ConflictCycles;
  Counters.LdsCycles += Passes;
  Counters.LdsConflictCycles += ConflictCycles;
  return U.LdsPort.claim(Now, Passes) + Passes + Model.LdsLatency;
}

} // namespace vgpu
