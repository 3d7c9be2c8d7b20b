// The events of one wave: which places hold one, when each block ran.
//
// Times. An event has the low 32 bits of the cycle counter; the header has all
// 64 at both ends. `Now`, the full counter, is carried from event to event by
// 32-bit differences. A difference that would pass the wave's end is a step
// back: the place was skipped by its lap (a probe that ran with EXEC = 0 moves
// the cursor and stores nothing), and shows what an earlier lap left. Such
// places count as empty, like zero ones.
//
// A block's time runs from its event to the next event of the wave, the last
// one's to the wave's end. It is not known for the last block of a wave that
// never ended, nor for the oldest kept event after an overflow, which may be
// such a leftover itself.
//
// The entry block of a kernel usually has no event (KPROBE_SITE_IMPLIED): the
// wave's header says when it began and with which lanes. It is visited like any
// other block and is not a place. Nor are blocks that others tell of
// (PathRules.h): they are visited where they ran, without a time of their own.
// An event without a clock is visited likewise: its block ran at some time
// before the next event. The time from one clock to the next is that of the block
// with the clock, or of one of those without behind it if, going by the code, more
// of it was spent there: a loop of short blocks.
//
// Every place is accounted for:
//   written = overwritten + dropped + missing + empty + damaged + kept
#ifndef KPROBE_DECODE_WAVEEVENTS_H
#define KPROBE_DECODE_WAVEEVENTS_H

#include "DumpReader.h"
#include "Trace.h"

#include <algorithm>
#include <vector>

namespace kprobe {

enum class WaveFate {
  Ended,   ///< reached a return
  Begun,   ///< never reached one; events recovered from its ring
  Unused,  ///< a slot whose wave never began
  Damaged, ///< its header makes no sense: nothing of it is used
};

/// What became of the events of a wave, in events.
struct WaveAccount {
  WaveFate Fate = WaveFate::Damaged;
  uint64_t Written = 0;     ///< by the cursor; for Begun: places seen
  uint64_t Overwritten = 0; ///< the ring was too small
  uint64_t Dropped = 0;     ///< the same in mode drop: after those kept
  uint64_t Missing = 0;     ///< the cursor counts them, the dump lacks them
  uint64_t Empty = 0;       ///< probe ran without lanes
  uint64_t Damaged = 0;     ///< unknown site or kind, or impossible lanes
  uint64_t Kept = 0;
  bool LowerBound = false;     ///< Begun with a full ring: Written is at least
  bool ClockAmbiguous = false; ///< a gap of 2^32 cycles or more has no place
};

/// One execution of a block.
struct Block {
  uint32_t LocalSite; ///< counted from the kernel's first site
  uint32_t Lanes;
  uint64_t Begin;  ///< cycles, all 64 bits
  uint32_t Cycles; ///< 0 when not TimeKnown
  bool TimeKnown;
};

/// What an event is checked against.
struct EventRules {
  uint32_t FirstSite;
  uint32_t SiteCount;
  uint32_t WaveSize;
  bool ImpliedEntry; ///< the first site has no event
  const PathRules *Paths = nullptr; ///< null: no other lacks one
  const KprobeSiteRecord *Sites = nullptr; ///< null: nothing known of the code
  explicit EventRules(const Dispatch &D)
      : FirstSite(D.Kernel->FirstSite), SiteCount(D.Kernel->SiteCount),
        WaveSize(D.Table->header().WaveSize),
        ImpliedEntry(SiteCount != 0 && D.Table->sites()[FirstSite].Flags &
                                           KPROBE_SITE_IMPLIED),
        Paths(D.Table->pathRules(*D.Kernel)),
        Sites(D.Table->sites().data() + FirstSite) {}
  EventRules(uint32_t FirstSite, uint32_t SiteCount, uint32_t WaveSize,
             bool ImpliedEntry = false)
      : FirstSite(FirstSite), SiteCount(SiteCount), WaveSize(WaveSize),
        ImpliedEntry(ImpliedEntry) {}

  /// About the time of a visit, to compare two of them.
  uint64_t weight(uint32_t LocalSite) const {
    constexpr unsigned Lds = 4, Vmem = 16;
    const KprobeSiteRecord &S = Sites[LocalSite];
    return uint64_t(S.Valu) + S.Salu + Lds * S.Lds + Vmem * S.Vmem;
  }

  bool accepts(uint32_t Tag) const {
    constexpr unsigned Used = KPROBE_TAG_SITE_SHIFT + KPROBE_TAG_SITE_BITS;
    constexpr uint32_t Flags = KPROBE_EVENT_UNTIMED | KPROBE_EVENT_ALL_LANES;
    return (kprobe_tag_kind(Tag) & ~Flags) == KPROBE_EVENT_BLOCK &&
           Tag >> Used == 0 &&
           kprobe_tag_site(Tag) - FirstSite < SiteCount &&
           kprobe_tag_lanes(Tag) <= WaveSize;
  }
};

/// Reads fate and counts from the header; places are still to be looked at.
WaveAccount openWave(const WaveView &View);

/// The counter of a site, in mode counters.
KprobeCounter counterOf(const WaveView &View, uint64_t LocalSite);

/// Place of the oldest event in the whole ring of a wave that never ended.
uint64_t findRingStart(const KprobeEvent *Ring, uint64_t Count);

/// Full cycle count of the oldest kept event of an ended wave that lived so
/// long that its first kept event may be more than 2^32 cycles from its begin.
uint64_t anchorAtEnd(const WaveView &View, const EventRules &Rules);

namespace detail {

inline uint32_t lanesIn(uint64_t Exec) {
  return static_cast<uint32_t>(__builtin_popcountll(Exec));
}

/// Whose the time of \p First and of \p Others behind it mostly is: that of First, or
/// the first visit of the site that outweighs it most. \p Weights is scratch.
Block &longest(Block &First, std::vector<Block> &Others, const EventRules &Rules,
               std::vector<uint64_t> &Weights);

template <bool Ended, typename Fn>
void walkPlaces(const WaveView &View, const EventRules &Rules, uint64_t Start,
                uint64_t Now, WaveAccount &Account, Fn &&Visit) {
  constexpr uint32_t HalfClock = 0x7fffffff;
  const uint64_t End = View.Header.EndCycles;
  const uint64_t Count = View.EventCount;
  // The event whose time is still running, and those without a clock since.
  uint32_t PendingTag = 0;
  std::vector<Block> Untimed;
  bool Known = Account.Overwritten == 0 && !Account.LowerBound;
  bool PendingEntry = false;
  const uint32_t AllLanes = lanesIn(View.Header.BeginExec);
  const bool AllLanesKnown = AllLanes != 0 && AllLanes <= Rules.WaveSize;
  auto BlockOf = [&](uint32_t Tag, uint64_t Begin) {
    return Block{kprobe_tag_site(Tag) - Rules.FirstSite,
                 Tag & KPROBE_EVENT_ALL_LANES ? AllLanes
                                              : kprobe_tag_lanes(Tag),
                 Begin, 0, false};
  };
  std::vector<uint64_t> Weights;
  auto Pass = [&](uint64_t Time) {
    Block Done = BlockOf(PendingTag, Now);
    Block *Longest = &Done;
    if (__builtin_expect(!Untimed.empty(), 0) && Known && Rules.Sites &&
        PendingTag != 0)
      Longest = &detail::longest(Done, Untimed, Rules, Weights);
    Longest->Cycles = Known ? static_cast<uint32_t>(Time) : 0;
    Longest->TimeKnown = Known;
    if (PendingTag != 0) {
      Visit(Done);
      ++Account.Kept;
    }
    if (__builtin_expect(!Untimed.empty(), 0)) {
      bool Behind = Longest == &Done;
      for (Block &Each : Untimed) {
        Each.Begin = Behind ? Now + Time : Now;
        Behind |= Longest == &Each;
        Visit(Each);
      }
      Account.Kept += Untimed.size();
      Untimed.clear();
    }
  };
  if (Rules.ImpliedEntry && AllLanesKnown) {
    PendingEntry = Known;
    PendingTag = KPROBE_TAG_WHOLE(KPROBE_EVENT_BLOCK | KPROBE_EVENT_ALL_LANES,
                                  Rules.FirstSite);
    if (!Known) {
      Visit(BlockOf(PendingTag, View.Header.BeginCycles));
      PendingTag = 0;
    }
  }
  uint64_t Place = Start;
  for (uint64_t I = 0; I < Count; ++I, ++Place) {
    if (!Ended && Place == Count)
      Place = 0;
    KprobeEvent Event = View.Events[Place];
    if (__builtin_expect(!Rules.accepts(Event.Tag) ||
                             (Event.Tag & KPROBE_EVENT_ALL_LANES &&
                              !AllLanesKnown),
                         0)) {
      ++(Event.Tag == 0 ? Account.Empty : Account.Damaged);
      continue;
    }
    if (__builtin_expect((Event.Tag & KPROBE_EVENT_UNTIMED) != 0, 0)) {
      uint32_t Cursor = static_cast<uint32_t>(
          Account.Dropped != 0
              ? sizeof(KprobeEvent) * I
              : View.Header.Cursor - sizeof(KprobeEvent) * (Count - I));
      if (Ended && Account.Missing == 0 && Event.Clock != Cursor)
        ++Account.Empty; // of an earlier lap
      else
        Untimed.push_back(BlockOf(Event.Tag, 0));
      continue;
    }
    uint32_t Step = Event.Clock - static_cast<uint32_t>(Now);
    uint64_t Limit = Ended ? End - Now : PendingTag ? HalfClock : UINT64_MAX;
    if (__builtin_expect(Step > Limit, 0)) {
      ++Account.Empty;
      continue;
    }
    Pass(Step);
    Known |= PendingTag != 0;
    Now += Step;
    PendingTag = Event.Tag;
  }
  // Visited by now, or below, but no place.
  Account.Kept -= PendingEntry;
  uint64_t Rest = Ended ? End - Now : 0;
  if (Rest > UINT32_MAX && PendingTag != 0) {
    Account.ClockAmbiguous = true;
    Known = false;
  }
  // What comes behind the last event is not known if any was dropped.
  Known = Known && Ended && Account.Dropped == 0;
  Pass(Rest);
}

} // namespace detail

namespace detail {

/// Calls \p Visit(Block) for each kept event of \p View, oldest first.
template <typename Fn>
WaveAccount forEachEvent(const WaveView &View, const EventRules &Rules,
                         Fn &&Visit) {
  WaveAccount Account = openWave(View);
  uint64_t Begin = View.Header.BeginCycles;
  if (Account.Fate == WaveFate::Ended) {
    if (Account.Overwritten != 0 && View.Header.EndCycles - Begin > UINT32_MAX)
      Begin = anchorAtEnd(View, Rules);
    walkPlaces<true>(View, Rules, 0, Begin, Account, Visit);
  } else if (Account.Fate == WaveFate::Begun) {
    uint64_t Start = findRingStart(View.Events, View.EventCount);
    Account.LowerBound |= Start != 0;
    walkPlaces<false>(View, Rules, Start, Begin, Account, Visit);
  }
  return Account;
}

} // namespace detail

/// Calls \p Visit(Block) for each block that \p View is known to have executed,
/// oldest first.
template <typename Fn>
WaveAccount forEachBlock(const WaveView &View, const EventRules &Rules,
                         Fn &&Visit) {
  if (View.CounterCount != 0)
    return openWave(View);
  if (!Rules.Paths)
    return detail::forEachEvent(View, Rules, Visit);
  PathWalk Walk(*Rules.Paths);
  uint64_t Begin = 0;
  auto Pay = [&](uint32_t Site, uint32_t Lanes) {
    Visit(Block{Site, Lanes, Begin, 0, false});
  };
  WaveAccount Account =
      detail::forEachEvent(View, Rules, [&](const Block &Event) {
        Begin = Event.Begin;
        Walk.event(Event.LocalSite, Event.Lanes, Pay);
        Visit(Event);
      });
  if (Account.Fate == WaveFate::Ended && Account.Dropped == 0) {
    Begin = View.Header.EndCycles;
    Walk.end(Pay);
  }
  return Account;
}

/// Calls \p Visit(local site, visits, lanes) for what a wave of mode counters has
/// counted, and for the blocks that those tell of: in a wave that did not end,
/// their last visit may not have happened. False if these are not the counters of
/// \p Rules' kernel.
template <typename Fn>
bool forEachCounter(const WaveView &View, const EventRules &Rules, Fn &&Visit) {
  if (View.CounterCount != Rules.SiteCount)
    return false;
  for (uint32_t Site = 0; Site < Rules.SiteCount; ++Site) {
    KprobeCounter Counter = counterOf(View, Site);
    uint64_t Visits = Counter >> KPROBE_COUNTER_VISITS_SHIFT;
    uint64_t Lanes =
        Counter & ((KprobeCounter(1) << KPROBE_COUNTER_VISITS_SHIFT) - 1);
    if (Site == 0 && Rules.ImpliedEntry) {
      Visits = 1;
      Lanes = detail::lanesIn(View.Header.BeginExec);
    }
    for (uint32_t Told = Site; Visits != 0 && Told != PathRules::None;
         Told = Rules.Paths ? Rules.Paths->owedBy(Told) : PathRules::None)
      Visit(Told, Visits, Lanes);
  }
  return true;
}

} // namespace kprobe

#endif
