//===- MemoryTiming.cpp - Caches, channels, LDS banks -----------------------===//
#include "machine/MemoryTiming.h"

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
    uint64_t First = Begin / LineBytes, Last = (Begin + Bytes - 1) / LineBytes;
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

/// True when Address - Address[0] equals Delta in all lanes, the inactive ones
/// too: a lane of no use may only cost a repetition.
__attribute__((target_clones("arch=x86-64-v3", "default"))) static bool
sameDeltas(const uint32_t *Address, const uint32_t *Delta) {
  uint32_t Differ = 0;
  for (unsigned L = 0; L < 64; ++L)
    Differ |= (Address[L] - Address[0]) ^ Delta[L];
  return !Differ;
}
__attribute__((target_clones("arch=x86-64-v3", "default"))) static bool
sameDeltas(const uint64_t *Address, const uint64_t *Delta) {
  uint64_t Differ = 0;
  for (unsigned L = 0; L < 64; ++L)
    Differ |= (Address[L] - Address[0]) ^ Delta[L];
  return !Differ;
}

unsigned PatternMemo::ldsConflicts(uint64_t Pc, const uint32_t *Address, uint64_t Exec,
                                   unsigned Dwords) {
  LdsEntry &E = Lds[(Pc >> 2) % Entries];
  if (E.Pc == Pc && E.Exec == Exec && E.Low == (Address[0] & 3) && E.Dwords == Dwords &&
      sameDeltas(Address, E.Delta))
    return E.Cycles;
  E.Pc = Pc;
  E.Exec = Exec;
  E.Low = Address[0] & 3;
  E.Dwords = Dwords;
  for (unsigned L = 0; L < 64; ++L)
    E.Delta[L] = Address[L] - Address[0];
  return E.Cycles = ldsConflictCycles(Address, Exec, Dwords);
}

void PatternMemo::lines(uint64_t Pc, const uint64_t *Address, uint64_t Exec, unsigned Bytes,
                        LineSet &Out) {
  LineEntry &E = Line[(Pc >> 2) % Entries];
  if (E.Pc == Pc && E.Exec == Exec && E.Low == Address[0] % LineBytes && E.Bytes == Bytes &&
      sameDeltas(Address, E.Delta)) {
    const uint64_t Moved = Address[0] / LineBytes - E.FirstLine;
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
  E.Low = Address[0] % LineBytes;
  E.FirstLine = Address[0] / LineBytes;
  E.Bytes = Bytes;
  E.Lines.Count = Out.Count;
  for (unsigned I = 0; I < Out.Count; ++I) {
    E.Lines.Line[I] = Out.Line[I];
    E.Lines.Lanes[I] = Out.Lanes[I];
  }
  for (unsigned L = 0; L < 64; ++L)
    E.Delta[L] = Address[L] - Address[0];
}

MemoryTiming::MemoryTiming(const DeviceConfig &Config)
    : Scalars((Config.ComputeUnits + CusPerScalar - 1) / CusPerScalar,
              CacheModel(Config.ScalarCacheBytes, LineBytes, 4)),
      L2(Config.L2Bytes, LineBytes, 16), Channels(L2Channels, Bandwidth(64)),
      Memory(MemoryLinesPer64) {
  Units.assign(Config.ComputeUnits, Unit{CacheModel(Config.L1Bytes, LineBytes, 4)});
}

void MemoryTiming::startDispatch() {
  for (Unit &U : Units) {
    U.L1.clear();
    U.L1Port.reset();
    U.LdsPort.reset();
  }
  for (CacheModel &S : Scalars)
    S.clear();
  for (Bandwidth &C : Channels)
    C.reset();
  Memory.reset();
  Counters = MemoryCounters();
}

uint64_t MemoryTiming::level2(uint64_t Time, uint64_t Line, unsigned Requests, bool NeedsData) {
  Time = Channels[Line % L2Channels].claim(Time, Requests);
  if (L2.access(Line)) {
    ++Counters.L2Hits;
    return Time + L2Hit;
  }
  ++Counters.L2Misses;
  if (!NeedsData)
    return Time + L2Hit; // A store is kept with its byte mask.
  return Memory.claim(Time, 1) + L2Hit + MemoryLatency;
}

uint64_t MemoryTiming::vector(unsigned Cu, uint64_t Now, const LineSet &Lines, unsigned Dwords,
                              MemoryOp Op, bool BypassL1) {
  Unit &U = Units[Cu];
  if (!Lines.Count)
    return Now + VectorHit;
  uint64_t Start = U.L1Port.claim(Now, std::max(4 * Dwords, Lines.Count));
  Counters.VectorLines += Lines.Count;
  uint64_t Done = 0;
  for (unsigned I = 0; I < Lines.Count; ++I) {
    uint64_t Line = Lines.Line[I], Time = Start + I;
    if (Op == MemoryOp::Load && !BypassL1) {
      if (U.L1.access(Line)) {
        ++Counters.L1Hits;
        Done = std::max(Done, Time + VectorHit);
        continue;
      }
      ++Counters.L1Misses;
    }
    unsigned Requests = Op == MemoryOp::Atomic ? Lines.Lanes[I] : 1;
    Done = std::max(Done, level2(Time + VectorMiss, Line, Requests, Op != MemoryOp::Store));
  }
  return Done;
}

uint64_t MemoryTiming::scalar(unsigned Cu, uint64_t Now, uint64_t Address, unsigned Bytes,
                              bool Store) {
  CacheModel &Cache = Scalars[Cu / CusPerScalar];
  uint64_t Done = 0;
  for (uint64_t Line = Address / LineBytes; Line <= (Address + Bytes - 1) / LineBytes; ++Line) {
    if (Cache.access(Line)) {
      ++Counters.ScalarHits;
      Done = std::max(Done, Now + ScalarHit);
    } else {
      ++Counters.ScalarMisses;
      Done = std::max(Done, level2(Now + ScalarMiss, Line, 1, !Store));
    }
  }
  return Done;
}

uint64_t MemoryTiming::lds(unsigned Cu, uint64_t Now, unsigned Dwords, unsigned ConflictCycles) {
  Unit &U = Units[Cu];
  const unsigned Passes = 2 * Dwords + ConflictCycles;
  Counters.LdsConflictCycles += ConflictCycles;
  return U.LdsPort.claim(Now, Passes) + Passes + LdsLatency;
}

} // namespace vgpu
