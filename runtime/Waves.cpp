// Reads a region once, front to back: ring memory may be behind a bus, where
// reads are slow and only a copy of the header is safe to look at twice.
#include "Waves.h"

#include "kprobe/wire.h"

#include <algorithm>
#include <cstring>

namespace kprobe {

namespace {
class PayloadBuilder {
public:
  PayloadBuilder(uint64_t Dispatch, size_t ChunkBytes, const WavesSink &Sink)
      : ChunkBytes(ChunkBytes), Sink(Sink) {
    Record.Dispatch = Dispatch;
    Bytes.resize(sizeof(Record));
  }
  // Room for one wave; the returned place is valid until the next call.
  uint8_t *addWave(const KprobeWaveHeader &Header,
                   const KprobeWaveExtent &Extent) {
    size_t Need = sizeof(Header) + sizeof(Extent) + size_t(Extent.EventBytes);
    if (Record.WaveCount > 0 && Bytes.size() + Need > ChunkBytes)
      flush();
    size_t Place = Bytes.size();
    Bytes.resize(Place + Need);
    std::memcpy(&Bytes[Place], &Header, sizeof(Header));
    std::memcpy(&Bytes[Place + sizeof(Header)], &Extent, sizeof(Extent));
    ++Record.WaveCount;
    return Bytes.data() + Place + sizeof(Header) + sizeof(Extent);
  }
  void flush() {
    if (Record.WaveCount == 0)
      return;
    std::memcpy(Bytes.data(), &Record, sizeof(Record));
    Sink(Bytes);
    Record.WaveCount = 0;
    Bytes.resize(sizeof(Record));
  }

private:
  size_t ChunkBytes;
  const WavesSink &Sink;
  KprobeWavesRecord Record = {};
  std::vector<uint8_t> Bytes;
};
} // namespace

// Bytes up to and with the last event that is not zero.
static uint64_t usedBytes(const std::vector<uint8_t> &Ring) {
  size_t End = Ring.size();
  while (End >= 8) {
    uint64_t Word;
    std::memcpy(&Word, Ring.data() + End - 8, 8);
    if (Word != 0)
      break;
    End -= 8;
  }
  return End;
}

// Takes out the places that a wave has passed by, and fills in what the device has
// left to the host (KPROBE_KERNEL_PLACES). Returns the bytes of what remains.
static uint64_t closeGaps(std::vector<uint8_t> &Ring) {
  uint64_t To = 0;
  for (uint64_t From = 0; From < Ring.size(); From += sizeof(KprobeEvent)) {
    KprobeEvent Event;
    std::memcpy(&Event, &Ring[From], sizeof(Event));
    if (Event.Tag == 0)
      continue;
    if (kprobe_tag_kind(Event.Tag) & KPROBE_EVENT_UNTIMED)
      Event.Clock = uint32_t(To);
    std::memcpy(&Ring[To], &Event, sizeof(Event));
    To += sizeof(Event);
  }
  return To;
}

// The fields of a header that are the host's (wire.h).
static void complete(KprobeWaveHeader &Header, uint64_t Slot,
                     const RegionPlan &Plan, const WaveGrid &Grid) {
  uint64_t InSample = Slot << Plan.SampleShift;
  uint64_t Group = InSample / Grid.WavesPerGroup << Plan.GroupShift;
  Header.WaveInGroup = uint32_t(InSample % Grid.WavesPerGroup);
  Header.WaveIndex = Group * Grid.WavesPerGroup + Header.WaveInGroup;
  Header.Workgroup[0] = uint32_t(Group % Grid.GroupsX);
  Header.Workgroup[1] = uint32_t(Group / Grid.GroupsX % Grid.GroupsY);
  Header.Workgroup[2] = uint32_t(Group / Grid.GroupsX / Grid.GroupsY);
  Header.RingBytes = Plan.RingBytes;
  Header.State = waveState(Header);
}

WavesResult drainWaves(uint64_t Dispatch, uint8_t *Slots,
                       const RegionPlan &Plan, const WaveGrid &Grid, bool Clear,
                       size_t ChunkBytes, const WavesSink &Sink) {
  WavesResult Result;
  PayloadBuilder Payload(Dispatch, ChunkBytes, Sink);
  const uint64_t RingBytes = Plan.RingBytes;
  const uint64_t Stride = sizeof(KprobeWaveHeader) + RingBytes;
  std::vector<uint8_t> Raw;
  for (uint64_t Slot = 0; Slot < Plan.SlotCount; ++Slot) {
    uint8_t *At = Slots + Slot * Stride;
    uint8_t *Ring = At + sizeof(KprobeWaveHeader);
    KprobeWaveHeader Header;
    std::memcpy(&Header, At, sizeof(Header));
    if (waveState(Header) == KPROBE_WAVE_UNUSED)
      continue;
    ++Result.Waves;
    complete(Header, Slot, Plan, Grid);
    KprobeWaveExtent Extent = {};
    uint64_t Dirty = RingBytes;
    if (Grid.Counters) {
      Extent.EventBytes = uint64_t(Grid.Counters) * sizeof(KprobeCounter);
      Extent.Flags = KPROBE_EXTENT_COUNTERS;
      std::memcpy(Payload.addWave(Header, Extent), Ring, Extent.EventBytes);
    } else if (Grid.HasPlaces) {
      Raw.assign(Ring, Ring + RingBytes);
      Extent.EventBytes = closeGaps(Raw);
      if (Header.State == KPROBE_WAVE_ENDED)
        Header.Cursor = uint32_t(Extent.EventBytes);
      Extent.Flags = Header.State != KPROBE_WAVE_ENDED ? KPROBE_EXTENT_RAW
                     : Grid.KeepsFirst                 ? KPROBE_EXTENT_FIRST
                                                       : 0;
      std::memcpy(Payload.addWave(Header, Extent), Raw.data(),
                  Extent.EventBytes);
    } else if (Header.State == KPROBE_WAVE_ENDED) {
      uint64_t Written = Header.Cursor & ~uint64_t(7);
      Dirty = std::min(Written, RingBytes);
      Extent.EventBytes = Dirty;
      // A full ring is turned so that the oldest event comes first. In mode drop
      // its last place has whatever came too late.
      uint64_t Oldest =
          Written > RingBytes ? Written & KPROBE_RING_MASK(RingBytes) : 0;
      if (Grid.KeepsFirst) {
        Extent.Flags = KPROBE_EXTENT_FIRST;
        Extent.EventBytes =
            std::min(Written, RingBytes - sizeof(KprobeEvent));
        Oldest = 0;
      }
      uint8_t *To = Payload.addWave(Header, Extent);
      uint64_t Tail = Extent.EventBytes - Oldest;
      std::memcpy(To, Ring + Oldest, Tail);
      std::memcpy(To + Tail, Ring, Oldest);
    } else {
      // Never reached its end: where the newest event lies is not known, so
      // the reader gets the ring as it is.
      Raw.assign(Ring, Ring + RingBytes);
      Extent.EventBytes = usedBytes(Raw);
      Extent.Flags = KPROBE_EXTENT_RAW;
      std::memcpy(Payload.addWave(Header, Extent), Raw.data(),
                  Extent.EventBytes);
    }
    if (Clear) {
      std::memset(At, 0, sizeof(Header));
      std::memset(Ring, 0, Dirty);
    }
  }
  Payload.flush();
  return Result;
}

uint64_t anyWaveTick(const uint8_t *Slots, const RegionPlan &Plan) {
  for (uint64_t Slot = 0; Slot < Plan.SlotCount; ++Slot) {
    KprobeWaveHeader Header;
    std::memcpy(&Header,
                Slots + Slot * (sizeof(Header) + uint64_t(Plan.RingBytes)),
                sizeof(Header));
    if (Header.BeginTicks != 0)
      return Header.BeginTicks;
  }
  return 0;
}

} // namespace kprobe
