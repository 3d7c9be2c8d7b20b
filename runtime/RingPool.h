// Hands out ring memory of one agent to dispatches.
//
// The pool is one block, taken once. A dispatch gets a region of SlotCount
// slots (wave header + ring, kprobe/wire.h) for as long as it runs and is
// drained. Nothing here waits: what does not fit is refused and the dispatch
// runs without probes.
//
// How a grid is made to fit, in this order: rings shrink by halves down to a
// minimum; then every 2nd, 4th, 8th, … wave is sampled, or workgroup if the user
// samples those. A dispatch is offered
// an eighth of what is free before it may take more, and less when more than
// eight are in flight: a program that runs far ahead of the device finds its
// rings smaller, not the pool empty.
#ifndef KPROBE_RUNTIME_RINGPOOL_H
#define KPROBE_RUNTIME_RINGPOOL_H

#include "Config.h"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace kprobe {

struct RegionPlan {
  uint64_t SlotCount = 0; // 0: does not fit
  uint32_t RingBytes = 0;
  uint32_t SampleShift = 0; // as in KprobeDispatchContext
  uint32_t GroupShift = 0;

  uint64_t bytes() const;
};

// What a region is wanted for.
struct RegionDemand {
  uint64_t Groups = 0;
  uint64_t WavesPerGroup = 1;
  SampleChoice Sample = {};
  uint32_t RingBytes = 0; // a power of two; 0: as many as fit
  uint32_t MostRingBytes = UINT32_MAX; // of those; a power of two, or no limit

  // Slots that a sample of one in 2^Shift needs.
  uint64_t slots(uint32_t Shift) const;
};

// Largest ring (a power of two within [LeastRing, MostRing]) with which the
// wanted sample fits into Share bytes, or into Largest bytes where the share is
// too small even for the least rings; a smaller sample where it does not fit
// those.
RegionPlan planRegion(const RegionDemand &Demand, uint64_t Share,
                      uint64_t Largest, uint32_t MostRing, uint32_t LeastRing);

struct RingRegion {
  uint64_t Offset = 0; // from the pool's begin
  uint64_t Bytes = 0;
  RegionPlan Plan;
  explicit operator bool() const { return Bytes != 0; }
};

class RingPool {
public:
  // Memory is accessible by the host; its content is unknown. FlushWrites is
  // called after the pool has written there, before the device may.
  RingPool(void *Memory, uint64_t Bytes, uint32_t MostRing, uint32_t LeastRing,
           std::function<void()> FlushWrites = {});

  // A region whose bytes are all zero, or an empty one. TooLarge is set when
  // not even the empty pool could have held a single slot.
  RingRegion acquire(const RegionDemand &Demand, bool &TooLarge);

  // The same for exactly this plan.
  RingRegion acquireExactly(const RegionPlan &Plan);

  // Zeroes a piece of memory that has not been used yet, so that acquire() finds
  // it done; for a thread that has nothing else to do. False when there is
  // enough.
  bool prepare();

  // The caller has zeroed again what the device wrote.
  void release(const RingRegion &Region);

  uint8_t *address(const RingRegion &Region) const {
    return Memory + Region.Offset;
  }
  uint64_t freeBytes() const;
  uint64_t totalBytes() const { return Bytes; }

private:
  RingRegion take(const RegionPlan &Plan);
  void zeroUpTo(uint64_t End);

  uint8_t *Memory;
  uint64_t Bytes;
  uint32_t MostRing;
  uint32_t LeastRing;
  std::function<void()> FlushWrites;
  mutable std::mutex Lock;
  std::map<uint64_t, uint64_t> Free; // offset → bytes, never adjacent
  uint64_t FreeBytes;
  uint64_t InUse = 0;       // regions
  uint64_t ZeroedBytes = 0; // everything free below this offset is zero
};

} // namespace kprobe

#endif
