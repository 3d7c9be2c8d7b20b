// All of a dump in the order of real time, for sinks that write traces.
//
// open() reads the dump once and keeps a small record a wave; next() then hands
// out dispatches, waves and blocks sorted by time, reading a wave's events when
// the wave begins. Memory: a fixed number of the records (the rest goes to a
// temporary file), the events of waves that run at the same time, and what a
// Trace keeps of each dispatch. The input is read twice, so it must be a file.
//
// Times are nanoseconds of CLOCK_MONOTONIC; realtimeNs() turns them into
// nanoseconds since the epoch. All guards against senseless times are here, so
// that every sink sees the same, sane ones:
//   - what lies outside the trace is moved to its edge, and counted;
//   - an end before its begin becomes the begin, and is counted;
//   - blocks lie inside their wave, in order.
#ifndef KPROBE_DECODE_TIMELINE_H
#define KPROBE_DECODE_TIMELINE_H

#include "ClockFit.h"
#include "DispatchCounters.h"
#include "HardwarePlace.h"
#include "HostMerge.h"
#include "Names.h"
#include "SpillSort.h"
#include "Trace.h"
#include "WaveEvents.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace kprobe {

/// How an agent's ticks were placed in time.
enum class Alignment {
  Readings,   ///< by clock readings
  Dispatches, ///< by kernel times: the first wave is put at its kernel's begin
  None,       ///< not at all: the first tick is put at the trace's begin
};

struct AgentClock {
  ClockFit Ticks;
  ClockFit System;
  Alignment How = Alignment::None;
  /// Cycles per second, from whole waves, else as stated; 0: unknown.
  uint64_t CycleHz = 0;
};

/// Where a viewer draws a wave. Waves of one place that overlap in time get
/// separate lanes, so that slices of one track never cross.
struct Track {
  const Agent *Where;
  std::optional<HardwarePlace> Place; ///< none: unknown target
  std::array<uint32_t, 2> Raw;
  uint32_t Lane; ///< 0, 1, …
  uint32_t Id;   ///< dense, in order of first use
};

struct TimelineBlock {
  Block Cycles;
  int64_t BeginNs;
  int64_t EndNs; ///< the next block's begin
};

struct TimelineWave {
  const Dispatch *Owner;
  const Track *Where;
  KprobeWaveHeader Header;
  WaveAccount Account;
  int64_t BeginNs;
  int64_t EndNs;
  std::vector<TimelineBlock> Blocks;
};

struct TimelineItem {
  enum class Kind {
    Submit,
    KernelBegin,
    KernelEnd,
    WaveBegin,
    Block,
    WaveEnd,
    CallBegin,
    CallEnd,
    Host, ///< any other host event
  };
  Kind What;
  int64_t Ns;
  int64_t EndNs;                  ///< of KernelBegin
  const Dispatch *Owner;          ///< null for calls and host events
  const TimelineWave *Wave;       ///< of wave items and blocks; lives until the
                                  ///< next call after its WaveEnd
  const TimelineBlock *Block;     ///< of blocks
  const HostItem *Host = nullptr; ///< of calls and host events; lives until
                                  ///< the next call
};

/// The site, in the kernel's table, that the time of a block item belongs to.
inline uint32_t siteOfTime(const TimelineItem &I) {
  const Block &B = I.Block->Cycles;
  // An interval of no length is a block without a time of its own.
  return B.TimeKnown || I.Block->EndNs == I.Block->BeginNs
             ? I.Owner->Kernel->FirstSite + B.LocalSite
             : UnknownSite;
}

/// What of a trace is wanted. Kernels, waves and blocks belong to a cut in time
/// when they overlap it, calls and single events when they begin in it.
struct TimelineCut {
  int64_t FromNs = 0; ///< since the trace's begin
  int64_t ToNs = INT64_MAX;
  std::string Kernel; ///< part of the demangled name
  std::optional<uint64_t> Dispatch;
  std::optional<uint64_t> Wave; ///< index in its grid
};

class Timeline {
public:
  static constexpr size_t DefaultInMemory = 1 << 16;
  /// \p InMemory records are kept in memory.
  explicit Timeline(size_t InMemory = DefaultInMemory)
      : Waves(InMemory), Starts(InMemory) {}

  /// Before open().
  void cut(const TimelineCut &Wanted) { Cut = Wanted; }

  /// Reads \p Source. On a fault everything before it can still be walked.
  Error open(ByteSource &Source);

  /// The next item; \p Done at the end.
  Error next(TimelineItem &Item, bool &Done);
  /// Calls \p Each with every item that is left.
  template <typename Visitor> Error visit(Visitor Each) {
    for (;;) {
      TimelineItem Item;
      bool Done = false;
      if (Error E = next(Item, Done))
        return E;
      if (Done)
        return Error::success();
      Each(Item);
    }
  }

  const Trace &trace() const { return Contents; }
  /// What else is known of dispatches; between open() and the walk.
  DispatchCounters &counters() { return Counters; }
  const DispatchCounters &counters() const { return Counters; }
  const AgentClock &clockOf(const Agent &A) const;
  /// Whether the submission, by a thread that is known, and the kernel are both
  /// among the items, so that an arrow leads from the one to the other.
  bool hasArrow(const Dispatch &D) const;
  uint64_t waveCount() const { return Waves.size(); }
  /// How much next() has given out, of all, in some unit.
  uint64_t given() const { return Starts.given() + Host.given(); }
  uint64_t toGive() const { return Starts.size() + Host.size(); }
  /// Called with these at every item.
  void watch(std::function<void(uint64_t Given, uint64_t All)> Watcher) {
    Watch = std::move(Watcher);
  }

  int64_t beginNs() const { return Begin; } ///< no item is earlier
  int64_t realtimeNs(int64_t MonotonicNs) const {
    return MonotonicNs + RealtimeOffset;
  }

  /// Times that had to be moved.
  uint64_t clampedTimes() const { return Clamped; }
  uint64_t damagedEvents() const { return DamagedEvents; }

private:
  struct WaveRecord {
    const Dispatch *Owner;
    uint64_t Offset; ///< of the events; header and extent lie before them
    uint64_t EventCount;
    uint64_t BeginTicks;
  };
  struct InOrderOfFile {
    bool operator()(const WaveRecord &, const WaveRecord &) const {
      return false;
    }
  };
  /// Sums of whole waves, for an agent's clock rate.
  struct CycleSums {
    unsigned __int128 Cycles = 0;
    uint64_t Ticks = 0;
  };
  struct Start {
    int64_t Ns;
    int64_t EndNs;
    TimelineItem::Kind What;
    const Dispatch *Owner;
    uint64_t Offset; ///< of a wave's events
    uint64_t EventCount;
  };
  struct ByTime {
    bool operator()(const Start &A, const Start &B) const {
      return A.Ns < B.Ns;
    }
  };
  struct Running {
    std::unique_ptr<TimelineWave> Wave;
    size_t NextBlock;
    uint64_t Order; ///< begin order: decides between equal times
    int64_t ns() const {
      return NextBlock < Wave->Blocks.size() ? Wave->Blocks[NextBlock].BeginNs
                                             : Wave->EndNs;
    }
  };
  /// What the heap compares, apart from what it owns: sorting touches no wave.
  struct HeapEntry {
    int64_t Ns;
    uint64_t Order;
    Running *Run;
    bool before(const HeapEntry &Other) const {
      return Ns != Other.Ns ? Ns < Other.Ns : Order < Other.Order;
    }
  };
  class Index;

  /// Whether the kernel's own begin and end are known.
  bool kernelTimed(const Dispatch &D) const;
  bool wants(const Dispatch &D) const;
  /// Whether the cut in time has \p Item.
  bool wanted(const TimelineItem &Item);
  Error nextOfAll(TimelineItem &Item, bool &Done);
  void fitClocks();
  void alignWithoutReadings(const Agent &A, AgentClock &C);
  Error collectStarts();
  Error collectWaves();
  int64_t clamped(int64_t Ns) const;
  int64_t clamp(int64_t Ns); ///< counts, too
  int64_t cutFrom() const;
  int64_t cutTo() const;
  void pushHeap(HeapEntry Entry);
  void siftDown(HeapEntry Entry);
  Error beginWave(const Start &S, TimelineItem &Item);
  Error nextDevice(TimelineItem &Item, bool &Done);
  int64_t nextDeviceNs() const;
  void mapBlocks(TimelineWave &W, const AgentClock &Clock);
  const Track *assignTrack(const TimelineWave &W);

  TimelineCut Cut;
  std::function<void(uint64_t, uint64_t)> Watch;
  // Begun and left out, not yet ended.
  std::unordered_set<uint64_t> CutCalls;
  std::unordered_set<const Dispatch *> CutKernels;
  std::unordered_set<const TimelineWave *> CutWaves;

  ByteSource *Source = nullptr;
  Trace Contents;
  DispatchCounters Counters;
  SpillSort<WaveRecord, InOrderOfFile> Waves;
  std::map<const Agent *, CycleSums> Sums;
  std::unordered_map<const Dispatch *, uint64_t> FirstTick;
  std::map<const Agent *, AgentClock> Clocks;
  SpillSort<Start, ByTime> Starts;
  HostMerge Host;
  bool HostGiven = false; ///< the head of Host was the last item
  std::vector<KprobeEvent> EventBuffer;
  std::unordered_map<uint64_t, std::unique_ptr<Running>> Active; ///< by Order
  std::vector<HeapEntry> Heap;      ///< the earliest first
  std::unique_ptr<Running> Retired; ///< the wave of the last WaveEnd
  uint64_t Begun = 0;

  struct Lane {
    Track Drawn;
    int64_t LastEnd;
  };
  using PlaceKey = std::array<uint64_t, 3>;
  std::map<PlaceKey, std::vector<std::unique_ptr<Lane>>> Places;
  uint32_t TrackCount = 0;

  int64_t Begin = 0;
  int64_t RealtimeOffset = 0;
  uint64_t Clamped = 0;
  uint64_t DamagedEvents = 0;
};

} // namespace kprobe

#endif
