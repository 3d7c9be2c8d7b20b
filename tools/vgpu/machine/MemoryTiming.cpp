//===- MemoryTiming.cpp - Caches and channels -------------------------------===//
#include "machine/MemoryTiming.h"

#include <algorithm>

namespace vgpu {

using namespace timing;

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

uint64_t MemoryTiming::elsewhere(uint64_t Line) {
  constexpr unsigned PageShift = 12;
  const unsigned Shift = PageShift - LineShift;
  std::unique_lock<std::mutex> Guard(PagesLock, std::defer_lock);
  if (Shared)
    Guard.lock();
  const uint64_t Page = (LastOwnAddress >> PageShift) + Pages.of(Line >> Shift);
  return Page << Shift | (Line & ((uint64_t(1) << Shift) - 1));
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

uint64_t MemoryTiming::vector(unsigned Cu, uint64_t Now, unsigned Lanes, LineSet &Lines,
                              unsigned Dwords, MemoryOp Op, bool BypassL1, bool BypassArray,
                              MemoryCounters &Counters) {
  Unit &U = Units[Cu];
  if (!Lines.Count)
    return Now + Model.VectorHit;
  // A line's worth of data a cycle, and a line looked up a cycle.
  uint64_t Start = U.L1Port.claim(Now, std::max((4 * Lanes * Dwords) >> LineShift, Lines.Count));
  Counters.VectorLines += Lines.Count;
  for (unsigned I = 0; I < Lines.Count; ++I)
    Lines.Line[I] = modelled(Lines.Line[I]);
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
  for (uint64_t At = Address >> LineShift; At <= (Address + Bytes - 1) >> LineShift; ++At) {
    const uint64_t Line = modelled(At);
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
