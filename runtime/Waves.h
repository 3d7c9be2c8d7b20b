// From slots in ring memory to WAVES payloads, and back to zeroed slots.
//
// Works on plain memory, so that a test can lay out slots by hand.
#ifndef KPROBE_RUNTIME_WAVES_H
#define KPROBE_RUNTIME_WAVES_H

#include "RingPool.h"
#include "kprobe/wire.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace kprobe {

// Called with the payload of one WAVES chunk.
using WavesSink = std::function<void(const std::vector<uint8_t> &)>;

// The grid as the device's index of a wave counts it (KprobeDispatchContext).
struct WaveGrid {
  uint32_t GroupsX = 1;
  uint32_t GroupsY = 1;
  uint32_t WavesPerGroup = 1;
  bool KeepsFirst = false; // mode drop
  uint32_t Counters = 0;   // mode counters: of each wave
  bool HasPlaces = false;  // KPROBE_KERNEL_PLACES
};

struct WavesResult {
  uint64_t Waves = 0; // slots that a wave had used
};

// State of a wave, by what the device has written into its header.
inline uint32_t waveState(const KprobeWaveHeader &Header) {
  return Header.EndTicks != 0     ? KPROBE_WAVE_ENDED
         : Header.BeginTicks != 0 ? KPROBE_WAVE_BEGUN
                                  : KPROBE_WAVE_UNUSED;
}

// What follows from the size of the rings.
inline void setRing(KprobeDispatchContext &Context, uint32_t RingBytes) {
  Context.RingBytes = RingBytes;
  Context.RingMask = KPROBE_RING_MASK(RingBytes);
  Context.SlotBytes = uint32_t(sizeof(KprobeWaveHeader)) + RingBytes;
}

// Copies every used slot, its header completed by what follows from its number,
// oldest event first, and zeroes what the device wrote when Clear is set (not
// while waves may still run). A payload is handed to
// Sink whenever it would grow past ChunkBytes.
WavesResult drainWaves(uint64_t Dispatch, uint8_t *Slots,
                       const RegionPlan &Plan, const WaveGrid &Grid,
                       bool Clear, size_t ChunkBytes,
                       const WavesSink &Sink);

// BeginTicks of the first wave that has one, 0 when none has begun.
uint64_t anyWaveTick(const uint8_t *Slots, const RegionPlan &Plan);

} // namespace kprobe

#endif
