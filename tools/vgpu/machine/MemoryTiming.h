//===- MemoryTiming.h - When a memory access would have arrived -------------===//
//
// Caches and bandwidths of the memory system. Data is read and written at once
// by the instruction handlers; this only tells the time. Nothing in here can
// change a result.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_MACHINE_MEMORYTIMING_H
#define VGPU_MACHINE_MEMORYTIMING_H

#include "machine/AccessPattern.h"
#include "machine/Bandwidth.h"
#include "machine/CacheModel.h"
#include "machine/Device.h"
#include "machine/Timing.h"

#include <cstdint>
#include <mutex>
#include <unordered_map>
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

/// Numbers of pages, given when they are first asked for.
class PageNumbers {
public:
  uint64_t of(uint64_t Page) {
    Numbered &Slot = Recent[Page % (sizeof Recent / sizeof *Recent)];
    if (Slot.Page != Page)
      Slot = {Page, Known.emplace(Page, Known.size()).first->second};
    return Slot.Number;
  }

private:
  struct Numbered {
    uint64_t Page = ~uint64_t(0), Number = 0;
  };
  Numbered Recent[64];
  std::unordered_map<uint64_t, uint64_t> Known;
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
  /// \p Lanes is the wave's size; \p Lines are moved to where they stand for it.
  uint64_t vector(unsigned Cu, uint64_t Now, unsigned Lanes, LineSet &Lines, unsigned Dwords,
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

  /// The caches choose sets by address. What the driver allocated lies at the same
  /// addresses in each run, but the program's own memory lies anywhere: its pages
  /// count by when they are first used.
  uint64_t modelled(uint64_t Line) {
    const uint64_t Own = Line - (FirstOwnAddress >> LineShift);
    if (__builtin_expect(Own < (LastOwnAddress - FirstOwnAddress) >> LineShift, 1))
      return Line;
    return elsewhere(Line);
  }
  uint64_t elsewhere(uint64_t Line);

  /// Held from the first request on that leaves a compute unit's caches, if there
  /// are threads.
  void beginRequest(std::unique_lock<std::mutex> &Guard) {
    if (__builtin_expect(Shared, 0) && !Guard.owns_lock())
      Guard.lock();
  }

  const TimingModel &Model;
  bool Shared = false;
  std::mutex Lock; ///< If Shared, of what lies behind compute units and scalar caches.
  std::mutex PagesLock;
  PageNumbers Pages; ///< Outside of what the driver allocates.
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
