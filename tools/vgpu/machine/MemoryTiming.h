//===- MemoryTiming.h - When a memory access would have arrived -------------===//
//
// Caches and bandwidths of the memory system. Data is read and written at once
// by the instruction handlers; this only tells the time. Nothing in here can
// change a result.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_MACHINE_MEMORYTIMING_H
#define VGPU_MACHINE_MEMORYTIMING_H

#include "machine/Bandwidth.h"
#include "machine/CacheModel.h"
#include "machine/DeviceConfig.h"
#include "machine/Timing.h"

#include <cstdint>
#include <mutex>
#include <vector>

namespace vgpu {

enum class MemoryOp : uint8_t { Load, Store, Atomic };

/// What is counted per dispatch about memory.
struct MemoryCounters {
  uint64_t L1Hits = 0, L1Misses = 0;
  uint64_t ScalarHits = 0, ScalarMisses = 0;
  uint64_t ArrayHits = 0, ArrayMisses = 0; ///< Shader array's cache (gfx10).
  uint64_t L2Hits = 0, L2Misses = 0;
  uint64_t LastHits = 0, LastMisses = 0; ///< Cache behind L2 (gfx1030).
  uint64_t VectorLines = 0; ///< Lines asked of L1 by vector memory operations.
  uint64_t MemoryLines = 0; ///< Lines read from memory.
  uint64_t LdsCycles = 0;   ///< In which LDS served lanes, conflicts included.
  uint64_t LdsConflictCycles = 0;
};

/// The lines one vector memory operation touches, each once.
struct LineSet {
  unsigned Count = 0;
  uint64_t Line[64 * 2];
  uint8_t Lanes[64 * 2]; ///< How many lanes touch it.

  /// Lines are of 1 << \p LineShift bytes, at least 64.
  explicit LineSet(unsigned LineShift = 6) : LineShift(LineShift) {}

  /// \p Bytes from each active lane's address on; at most 64.
  void collect(const uint64_t *Address, uint64_t Exec, unsigned Bytes);
  /// All lanes side by side: Total bytes from Begin on, Bytes a lane.
  void consecutive(uint64_t Begin, unsigned Total, unsigned Bytes) {
    Count = 0;
    for (uint64_t L = Begin >> LineShift; L <= (Begin + Total - 1) >> LineShift; ++L) {
      Line[Count] = L;
      Lanes[Count++] = uint8_t((1u << LineShift) / Bytes);
    }
  }

  unsigned LineShift;

private:
  void add(uint64_t Number);
};

/// Lanes from the first on that an access with this EXEC can involve.
inline unsigned lanesOf(uint64_t Exec) { return Exec >> 32 ? 64 : 32; }

/// Cycles beyond the conflict-free ones that LDS needs for these lanes.
unsigned ldsConflictCycles(const uint32_t *Address, uint64_t Exec, unsigned Dwords);

/// The same answers, remembered by instruction: one instruction mostly has the
/// same pattern again and again, moved as a whole, and then neither the number
/// of conflicts nor the set of lines (moved by whole lines) changes.
class PatternMemo {
public:
  unsigned ldsConflicts(uint64_t Pc, const uint32_t *Address, uint64_t Exec, unsigned Dwords);
  void lines(uint64_t Pc, const uint64_t *Address, uint64_t Exec, unsigned Bytes, LineSet &Out);

private:
  static constexpr unsigned Entries = 64;
  struct LdsEntry {
    uint64_t Pc = 0, Exec = 0;
    uint32_t Low = 0, Dwords = 0, Cycles = 0; ///< Low: address bits 1..0 of lane 0.
    alignas(64) uint32_t Delta[64];
  };
  struct LineEntry {
    uint64_t Pc = 0, Exec = 0, Low = 0; ///< Low: where in its line lane 0 begins.
    uint64_t FirstLine = 0;             ///< Of lane 0, when Lines was made.
    uint32_t Bytes = 0;
    LineSet Lines;
    alignas(64) uint64_t Delta[64];
  };
  LdsEntry Lds[Entries];
  LineEntry Line[Entries];
};

class MemoryTiming {
public:
  explicit MemoryTiming(const DeviceConfig &Config);

  /// Between dispatches: pending traffic is over, caches keep their lines but
  /// for L1 and the scalar cache (an acquire at the start of a dispatch).
  void startDispatch();
  /// The same while other dispatches run: traffic goes on.
  void acquire();

  /// Whether threads may call what follows at the same time, each for compute units
  /// of its own and their scalar caches.
  void share(bool On) { Shared = On; }

  /// Time at which a vector memory operation issued at \p Now has completed.
  /// \p Lanes is the wave's size.
  uint64_t vector(unsigned Cu, uint64_t Now, unsigned Lanes, const LineSet &Lines, unsigned Dwords,
                  MemoryOp Op, bool BypassL1, bool BypassArray, MemoryCounters &Counters);
  uint64_t scalar(unsigned Cu, uint64_t Now, uint64_t Address, unsigned Bytes, bool Store,
                  MemoryCounters &Counters);
  uint64_t lds(unsigned Cu, uint64_t Now, unsigned Lanes, unsigned Dwords,
               unsigned ConflictCycles, MemoryCounters &Counters);

  void invalidateVector(unsigned Cu) { Units[Cu].L1.clear(); }
  void invalidateScalar(unsigned Cu) { Scalars[Cu / CusPerScalar].clear(); }
  /// Of the caches of a CU.
  unsigned lineShift() const { return LineShift; }

private:
  struct Unit {
    CacheModel L1;
    Bandwidth L1Port{64, 1024}, LdsPort{64, 1024}; ///< One line or pass a cycle.
  };
  /// A request that missed in the caches of CU \p Cu; \p Line is one of theirs.
  uint64_t beyond(unsigned Cu, uint64_t Time, uint64_t Line, unsigned Requests, bool NeedsData,
                  bool UseArrayCache, MemoryCounters &Counters);
  uint64_t level2(uint64_t Time, uint64_t Line, unsigned Requests, bool NeedsData,
                  MemoryCounters &Counters);

  /// Held from the first request on that leaves a compute unit's caches, if there
  /// are threads.
  void beginRequest(std::unique_lock<std::mutex> &Guard) {
    if (__builtin_expect(Shared, 0) && !Guard.owns_lock())
      Guard.lock();
  }

  const TimingModel &Model;
  bool Shared = false;
  std::mutex Lock; ///< If Shared, of what lies behind compute units and scalar caches.
  unsigned LineShift, L2Shift; ///< Of a CU's line; from one of those to one of L2.
  unsigned CusPerScalar, CusPerWgp, Arrays;
  std::vector<Unit> Units;
  std::vector<CacheModel> Scalars;
  std::vector<CacheModel> ArrayCaches;
  CacheModel L2;
  std::vector<CacheModel> LastCache; ///< One or none.
  std::vector<Bandwidth> Channels;
  Bandwidth Last, Memory;
};

} // namespace vgpu
#endif
