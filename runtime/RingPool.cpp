// First fit from the pool's begin, so that the same zeroed, warm bytes are used
// again and a small program never touches the rest.
#include "RingPool.h"
#include "LargePages.h"

#include "kprobe/wire.h"

#include <algorithm>
#include <cstring>

namespace kprobe {

static constexpr uint64_t HeaderBytes = sizeof(KprobeWaveHeader);
static constexpr uint64_t LeastSharers = 8;
// More than this and the grid is no sample any more, but an accident.
static constexpr uint32_t MostSampleShift = 40;
// Beyond the last region in use: 128 of the usual rings.
static constexpr uint64_t PreparedBytes = 8u << 20;
// Whoever wants a region meanwhile waits for a piece to be done.
static constexpr uint64_t PieceBytes = 512u << 10;

uint64_t RegionPlan::bytes() const {
  return SlotCount * (HeaderBytes + RingBytes);
}

uint64_t RegionDemand::slots(uint32_t Shift) const {
  auto Divided = [&](uint64_t Count) {
    return Count == 0 ? 0 : ((Count - 1) >> Shift) + 1;
  };
  return Sample.Groups ? Divided(Groups) * WavesPerGroup
                       : Divided(Groups * WavesPerGroup);
}

RegionPlan planRegion(const RegionDemand &Demand, uint64_t Share,
                      uint64_t Largest, uint32_t MostRing, uint32_t LeastRing) {
  RegionPlan Plan;
  if (Demand.RingBytes != 0)
    MostRing = LeastRing = Demand.RingBytes;
  MostRing = std::min(MostRing, Demand.MostRingBytes);
  LeastRing = std::min(LeastRing, MostRing);
  uint32_t Shift = Demand.Sample.Shift;
  const uint64_t Wanted = Demand.slots(Shift);
  if (Wanted == 0)
    return Plan;
  auto Take = [&](uint64_t Slots, uint32_t Ring) {
    Plan.SlotCount = Slots;
    Plan.RingBytes = Ring;
    (Demand.Sample.Groups ? Plan.GroupShift : Plan.SampleShift) = Shift;
    return Plan;
  };
  // The device computes offsets of slots with 32 bits.
  Largest = std::min<uint64_t>(Largest, UINT32_MAX);
  Share = std::min(Share, Largest);
  // Slots are counted by division: their number times a ring may not fit 64
  // bits.
  for (uint64_t Limit : {Share, Largest})
    for (uint32_t Ring = MostRing; Ring >= LeastRing; Ring /= 2)
      if (Limit / (HeaderBytes + Ring) >= Wanted)
        return Take(Wanted, Ring);
  // These get the least ring: a wider sample says more about the grid than
  // longer histories of fewer waves.
  uint64_t Slots = Largest / (HeaderBytes + LeastRing);
  while (++Shift <= MostSampleShift)
    if (uint64_t Sampled = Demand.slots(Shift); Sampled <= Slots)
      return Take(Sampled, LeastRing);
  return Plan;
}

RingPool::RingPool(void *Memory, uint64_t Bytes, uint32_t MostRing,
                   uint32_t LeastRing, std::function<void()> FlushWrites)
    : Memory(static_cast<uint8_t *>(Memory)), Bytes(Bytes), MostRing(MostRing),
      LeastRing(std::min(LeastRing, MostRing)),
      FlushWrites(std::move(FlushWrites)), FreeBytes(Bytes) {
  if (!Bytes)
    return;
  Free[0] = Bytes;
  // Only in the host's memory does this do anything.
  askForLargePages(Memory, Bytes);
}

uint64_t RingPool::freeBytes() const {
  std::lock_guard<std::mutex> Guard(Lock);
  return FreeBytes;
}

RingRegion RingPool::acquire(const RegionDemand &Demand, bool &TooLarge) {
  std::lock_guard<std::mutex> Guard(Lock);
  uint32_t Least = Demand.RingBytes ? Demand.RingBytes : LeastRing;
  TooLarge = Bytes / (HeaderBytes + Least) == 0;
  uint64_t Largest = 0;
  for (const auto &Block : Free)
    Largest = std::max(Largest, Block.second);

  // With n sharers in flight each taking 1/n, what is free falls like 1/n and
  // not to nothing.
  uint64_t Share = FreeBytes / std::max(LeastSharers, InUse);
  RegionPlan Plan = planRegion(Demand, Share, Largest, MostRing, LeastRing);
  return Plan.SlotCount == 0 ? RingRegion() : take(Plan);
}

RingRegion RingPool::acquireExactly(const RegionPlan &Plan) {
  std::lock_guard<std::mutex> Guard(Lock);
  // By division, as above.
  if (std::min<uint64_t>(Bytes, UINT32_MAX) / (HeaderBytes + Plan.RingBytes) <
      Plan.SlotCount)
    return RingRegion();
  return take(Plan);
}

// With the lock held.
RingRegion RingPool::take(const RegionPlan &Plan) {
  RingRegion Region;
  Region.Plan = Plan;
  uint64_t Need = Plan.bytes();
  auto Block = std::find_if(Free.begin(), Free.end(),
                            [&](const auto &B) { return B.second >= Need; });
  if (Block == Free.end())
    return RingRegion();
  Region.Offset = Block->first;
  Region.Bytes = Need;
  uint64_t Rest = Block->second - Need;
  Free.erase(Block);
  if (Rest)
    Free[Region.Offset + Need] = Rest;
  FreeBytes -= Need;
  ++InUse;
  // Where prepare() was not fast enough.
  uint64_t End = Region.Offset + Need;
  if (End > ZeroedBytes)
    zeroUpTo(End);
  return Region;
}

// Only some way ahead of what is used: most programs never reach the pool's end.
bool RingPool::prepare() {
  std::lock_guard<std::mutex> Guard(Lock);
  // What was never zeroed was never handed out: it ends the last free block.
  if (ZeroedBytes == Bytes)
    return false;
  uint64_t Wanted =
      std::min(Bytes, std::prev(Free.end())->first + PreparedBytes);
  if (ZeroedBytes < Wanted)
    zeroUpTo(std::min(Wanted, ZeroedBytes + PieceBytes));
  return ZeroedBytes < Wanted;
}

// With the lock held.
void RingPool::zeroUpTo(uint64_t End) {
  std::memset(Memory + ZeroedBytes, 0, End - ZeroedBytes);
  ZeroedBytes = End;
  if (FlushWrites)
    FlushWrites();
}

void RingPool::release(const RingRegion &Region) {
  if (!Region)
    return;
  std::lock_guard<std::mutex> Guard(Lock);
  FreeBytes += Region.Bytes;
  --InUse;
  auto Next = Free.lower_bound(Region.Offset);
  uint64_t Offset = Region.Offset;
  uint64_t Size = Region.Bytes;
  if (Next != Free.end() && Offset + Size == Next->first) {
    Size += Next->second;
    Next = Free.erase(Next);
  }
  if (Next != Free.begin()) {
    auto Before = std::prev(Next);
    if (Before->first + Before->second == Offset) {
      Before->second += Size;
      return;
    }
  }
  Free[Offset] = Size;
}

} // namespace kprobe
