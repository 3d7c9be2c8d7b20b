// Events of a wave: counts, clocks beyond 32 bits, rings, damage.
#include "WaveEvents.h"

#include "DumpBuilder.h"

#include <gtest/gtest.h>

using namespace kprobe;

namespace {

constexpr uint32_t RingEvents = 8;

/// A wave whose kernel has sites 10 to 19.
class WaveEvents : public ::testing::Test {
protected:
  EventRules Rules = EventRules(10, 10, 64);
  std::vector<KprobeEvent> Events;
  WaveView View = {};
  std::vector<Block> Blocks;

  WaveEvents() {
    View.Header.State = KPROBE_WAVE_ENDED;
    View.Header.RingBytes = RingEvents * 8;
    View.Header.BeginCycles = 1000;
    View.Header.EndCycles = 2000;
  }

  WaveAccount run() {
    View.Events = Events.data();
    View.EventCount = Events.size();
    Blocks.clear();
    return forEachBlock(View, Rules,
                        [&](const Block &B) { Blocks.push_back(B); });
  }

  /// What an ended wave that wrote \p Count events leaves: clocks 1000 + 10 i.
  WaveAccount wroteEvents(uint32_t Count) {
    Events.clear();
    for (uint32_t I = Count > RingEvents ? Count - RingEvents : 0; I < Count;
         ++I)
      Events.push_back(makeEvent(10 + I % 10, 1 + I % 64, 1000 + 10 * I));
    View.Header.Cursor = Count * 8;
    View.Header.EndCycles = 1000 + 10 * Count;
    return run();
  }

  static void expectBalance(const WaveAccount &A) {
    EXPECT_EQ(A.Written,
              A.Overwritten + A.Missing + A.Empty + A.Damaged + A.Kept);
  }
};

TEST_F(WaveEvents, RingOfNAccountsForEveryEvent) {
  for (uint32_t Count : {0u, 1u, RingEvents - 1, RingEvents, RingEvents + 1,
                         2 * RingEvents, 2 * RingEvents + 1, 1000u}) {
    WaveAccount A = wroteEvents(Count);
    uint32_t Kept = std::min(Count, RingEvents);
    EXPECT_EQ(A.Fate, WaveFate::Ended);
    EXPECT_EQ(A.Written, Count);
    EXPECT_EQ(A.Kept, Kept);
    EXPECT_EQ(A.Overwritten, Count - Kept);
    expectBalance(A);
    ASSERT_EQ(Blocks.size(), Kept);
    for (uint32_t I = 0; I < Kept; ++I) {
      uint32_t Number = Count - Kept + I;
      EXPECT_EQ(Blocks[I].Begin, 1000u + 10 * Number);
      EXPECT_EQ(Blocks[I].LocalSite, Number % 10);
      EXPECT_EQ(Blocks[I].Lanes, 1 + Number % 64);
      // The oldest event after an overflow may be a leftover: no time.
      bool Known = I != 0 || Count <= RingEvents;
      EXPECT_EQ(Blocks[I].TimeKnown, Known);
      EXPECT_EQ(Blocks[I].Cycles, Known ? 10u : 0u);
    }
  }
}

// The entry block has no event: the header says when it began and with how many
// lanes. It is visited first and is no place of the ring.
TEST_F(WaveEvents, ImpliedEntryComesFromTheHeader) {
  Rules.ImpliedEntry = true;
  View.Header.BeginCycles = 0x100000990ull;
  View.Header.EndCycles = 0x100000a20ull;
  View.Header.BeginExec = 0x1fffull;
  View.Header.Cursor = 16;
  Events = {makeEvent(12, 64, 0x9b0), makeEvent(13, 5, 0xa00)};
  WaveAccount A = run();
  EXPECT_EQ(A.Kept, 2u);
  expectBalance(A);
  ASSERT_EQ(Blocks.size(), 3u);
  EXPECT_EQ(Blocks[0].LocalSite, 0u);
  EXPECT_EQ(Blocks[0].Lanes, 13u);
  EXPECT_EQ(Blocks[0].Begin, 0x100000990ull);
  EXPECT_TRUE(Blocks[0].TimeKnown);
  EXPECT_EQ(Blocks[0].Cycles, 0x20u);
  EXPECT_EQ(Blocks[1].LocalSite, 2u);
  EXPECT_EQ(Blocks[1].Cycles, 0x50u);

  // A kernel of one block writes no event at all.
  Events.clear();
  View.Header.Cursor = 0;
  A = run();
  EXPECT_EQ(A.Kept, 0u);
  expectBalance(A);
  ASSERT_EQ(Blocks.size(), 1u);
  EXPECT_EQ(Blocks[0].Cycles, 0x90u);

  // More lanes than a wave has, or none: nothing to show.
  for (uint64_t Exec : {0ull, ~0ull}) {
    Rules.WaveSize = 32;
    View.Header.BeginExec = Exec;
    A = run();
    EXPECT_TRUE(Blocks.empty());
    expectBalance(A);
  }
}

TEST_F(WaveEvents, ImpliedEntryOfAnOverflowedRingHasNoTime) {
  Rules.ImpliedEntry = true;
  View.Header.BeginExec = 1;
  WaveAccount A = wroteEvents(RingEvents + 3);
  EXPECT_EQ(A.Kept, RingEvents);
  expectBalance(A);
  ASSERT_EQ(Blocks.size(), RingEvents + 1);
  EXPECT_EQ(Blocks[0].LocalSite, 0u);
  EXPECT_FALSE(Blocks[0].TimeKnown);
  EXPECT_FALSE(Blocks[1].TimeKnown);
  EXPECT_TRUE(Blocks[2].TimeKnown);
}

TEST_F(WaveEvents, CursorBeyondTheFileCountsMissingEvents) {
  Events = {makeEvent(10, 64, 1010)};
  View.Header.Cursor = 5 * 8;
  WaveAccount A = run();
  EXPECT_EQ(A.Missing, 4u);
  EXPECT_EQ(A.Kept, 1u);
  expectBalance(A);
  View.Header.Cursor = 0xfffffff8u;
  A = run();
  EXPECT_EQ(A.Written, 0x1fffffffu);
  EXPECT_EQ(A.Missing, RingEvents - 1);
  expectBalance(A);
}

TEST_F(WaveEvents, HeadersThatMakeNoSenseAreDamaged) {
  Events = {makeEvent(10, 64, 1010), makeEvent(11, 64, 1020)};
  auto damaged = [&](auto Change) {
    WaveView Good = View;
    View.Header.Cursor = 16;
    Change(View.Header);
    WaveAccount A = run();
    bool Damaged = A.Fate == WaveFate::Damaged && Blocks.empty();
    expectBalance(A);
    View = Good;
    return Damaged;
  };
  EXPECT_FALSE(damaged([](KprobeWaveHeader &) {}));
  EXPECT_TRUE(damaged([](KprobeWaveHeader &H) { H.State = 7; }));
  EXPECT_TRUE(damaged([](KprobeWaveHeader &H) { H.RingBytes = 0; }));
  EXPECT_TRUE(damaged([](KprobeWaveHeader &H) { H.RingBytes = 96; }));
  EXPECT_TRUE(damaged([](KprobeWaveHeader &H) { H.RingBytes = 32; }));
  EXPECT_TRUE(damaged([](KprobeWaveHeader &H) { H.Cursor = 12; }));
  EXPECT_TRUE(damaged([](KprobeWaveHeader &H) { H.Cursor = 8; }))
      << "more events in the dump than the wave wrote";
  EXPECT_TRUE(damaged([](KprobeWaveHeader &H) { H.EndCycles = 999; }));
  View.Header.State = KPROBE_WAVE_UNUSED;
  EXPECT_EQ(run().Fate, WaveFate::Unused);
}

TEST_F(WaveEvents, ClockCrossesThirtyTwoBits) {
  View.Header.BeginCycles = 0x5fffffff0ull;
  View.Header.EndCycles = 0x600000050ull;
  View.Header.Cursor = 24;
  Events = {makeEvent(10, 64, 0xfffffff8), makeEvent(11, 64, 0x8),
            makeEvent(12, 64, 0x28)};
  WaveAccount A = run();
  EXPECT_FALSE(A.ClockAmbiguous);
  ASSERT_EQ(Blocks.size(), 3u);
  EXPECT_EQ(Blocks[0].Begin, 0x5fffffff8ull);
  EXPECT_EQ(Blocks[1].Begin, 0x600000008ull);
  EXPECT_EQ(Blocks[2].Begin, 0x600000028ull);
  EXPECT_EQ(Blocks[0].Cycles, 0x10u);
  EXPECT_EQ(Blocks[1].Cycles, 0x20u);
  EXPECT_EQ(Blocks[2].Cycles, 0x28u);
}

TEST_F(WaveEvents, BlocksOfBillionsOfCyclesKeepTheirLength) {
  // Blocks of 3 x 10^9 cycles: more than 2^31, less than 2^32.
  View.Header.BeginCycles = 0;
  View.Header.EndCycles = 9000000000ull;
  View.Header.Cursor = 24;
  Events = {makeEvent(10, 64, 0), makeEvent(11, 64, 3000000000u),
            makeEvent(12, 64, uint32_t(6000000000ull))};
  WaveAccount A = run();
  EXPECT_EQ(A.Kept, 3u);
  ASSERT_EQ(Blocks.size(), 3u);
  for (const Block &B : Blocks)
    EXPECT_EQ(B.Cycles, 3000000000u);
  EXPECT_EQ(Blocks[2].Begin, 6000000000ull);
}

TEST_F(WaveEvents, PauseOfTwoToThe32IsReported) {
  View.Header.BeginCycles = 0;
  View.Header.EndCycles = (1ull << 32) + 100;
  View.Header.Cursor = 16;
  Events = {makeEvent(10, 64, 10), makeEvent(11, 64, 20)};
  WaveAccount A = run();
  EXPECT_TRUE(A.ClockAmbiguous);
  EXPECT_EQ(A.Kept, 2u);
  EXPECT_FALSE(Blocks.back().TimeKnown);
}

TEST_F(WaveEvents, OverflowedLongWaveIsAnchoredAtItsEnd) {
  // The kept events are 3 x 2^32 cycles after the wave began.
  uint64_t Last = 3ull << 32;
  View.Header.BeginCycles = 500;
  View.Header.EndCycles = Last + 100;
  View.Header.Cursor = 100 * 8;
  for (uint32_t I = 0; I < RingEvents; ++I)
    Events.push_back(makeEvent(10, 64, uint32_t(Last - 70 + 10 * I)));
  WaveAccount A = run();
  EXPECT_FALSE(A.ClockAmbiguous);
  ASSERT_EQ(Blocks.size(), RingEvents);
  EXPECT_EQ(Blocks[0].Begin, Last - 70);
  EXPECT_EQ(Blocks[7].Begin, Last);
  EXPECT_EQ(Blocks[7].Cycles, 100u);
}

TEST_F(WaveEvents, EqualClocksKeepProgramOrder) {
  View.Header.RingBytes = 1024 * 8;
  View.Header.Cursor = 1000 * 8;
  for (uint32_t I = 0; I < 1000; ++I)
    Events.push_back(makeEvent(10 + I % 10, 64, 1100));
  WaveAccount A = run();
  EXPECT_EQ(A.Kept, 1000u);
  for (uint32_t I = 0; I < 1000; ++I) {
    EXPECT_EQ(Blocks[I].LocalSite, I % 10);
    EXPECT_EQ(Blocks[I].Cycles, I == 999 ? 900u : 0u);
  }
}

TEST_F(WaveEvents, EmptyPlacesAreNotEvents) {
  View.Header.Cursor = 32;
  Events = {makeEvent(10, 64, 1100), {0, 0}, {0, 0}, makeEvent(12, 64, 1300)};
  WaveAccount A = run();
  EXPECT_EQ(A.Empty, 2u);
  EXPECT_EQ(A.Kept, 2u);
  expectBalance(A);
  EXPECT_EQ(Blocks[0].Cycles, 200u);
  EXPECT_EQ(Blocks[1].Cycles, 700u);
}

TEST_F(WaveEvents, LeftoversOfAnEarlierLapAreEmptyPlaces) {
  // Place 3 was skipped in the last lap and shows an old, earlier clock.
  wroteEvents(2 * RingEvents);
  Events[3].Clock -= 80;
  WaveAccount A = run();
  EXPECT_EQ(A.Empty, 1u);
  EXPECT_EQ(A.Kept, RingEvents - 1);
  expectBalance(A);
  EXPECT_EQ(Blocks[2].Cycles, 20u) << "to the next true event";
}

TEST_F(WaveEvents, ForeignSitesKindsAndLanesAreDamage) {
  View.Header.Cursor = 6 * 8;
  Events = {
      makeEvent(9, 64, 1010),     makeEvent(20, 64, 1020),
      makeEvent(10, 64, 1030, 2), {1040, makeEvent(10, 64, 0).Tag | 1u << 31},
      makeEvent(19, 64, 1050),    makeEvent(10, 33, 1060)};
  WaveAccount A = run();
  EXPECT_EQ(A.Damaged, 4u);
  EXPECT_EQ(A.Kept, 2u);
  expectBalance(A);
  EventRules Wave32(10, 10, 32);
  EXPECT_FALSE(Wave32.accepts(makeEvent(10, 33, 0).Tag));
  EXPECT_TRUE(Wave32.accepts(makeEvent(10, 32, 0).Tag));
}

TEST_F(WaveEvents, BegunWaveWithRoomLeft) {
  View.Header.State = KPROBE_WAVE_BEGUN;
  View.Header.Cursor = 12345; // never written, whatever is there
  View.Header.EndCycles = 0;
  Events = {makeEvent(10, 64, 1010), makeEvent(11, 64, 1030)};
  WaveAccount A = run();
  EXPECT_EQ(A.Fate, WaveFate::Begun);
  EXPECT_EQ(A.Kept, 2u);
  EXPECT_FALSE(A.LowerBound);
  ASSERT_EQ(Blocks.size(), 2u);
  EXPECT_EQ(Blocks[0].Cycles, 20u);
  EXPECT_TRUE(Blocks[0].TimeKnown);
  EXPECT_FALSE(Blocks[1].TimeKnown) << "it may still have been running";
}

TEST_F(WaveEvents, BegunWaveThatWrappedIsReadFromItsOldestEvent) {
  View.Header.State = KPROBE_WAVE_BEGUN;
  for (uint32_t Start = 0; Start < RingEvents; ++Start) {
    Events.assign(RingEvents, {});
    for (uint32_t I = 0; I < RingEvents; ++I)
      Events[(Start + I) % RingEvents] = makeEvent(10 + I, 64, 1500 + 10 * I);
    WaveAccount A = run();
    EXPECT_TRUE(A.LowerBound);
    EXPECT_EQ(A.Kept, RingEvents);
    ASSERT_EQ(Blocks.size(), RingEvents) << Start;
    for (uint32_t I = 0; I < RingEvents; ++I)
      EXPECT_EQ(Blocks[I].LocalSite, I) << Start;
  }
}

TEST_F(WaveEvents, BegunWaveAcrossTheClocksWrap) {
  View.Header.State = KPROBE_WAVE_BEGUN;
  View.Header.BeginCycles = 0xffffff00;
  Events.assign(RingEvents, {});
  for (uint32_t I = 0; I < RingEvents; ++I)
    Events[(5 + I) % RingEvents] = makeEvent(10 + I, 64, 0xffffffe0u + 10 * I);
  run();
  ASSERT_EQ(Blocks.size(), RingEvents);
  EXPECT_EQ(Blocks[0].Begin, 0xffffffe0ull);
  EXPECT_EQ(Blocks[7].Begin, 0xffffffe0ull + 70);
}

TEST_F(WaveEvents, BegunWaveWithoutEvents) {
  View.Header.State = KPROBE_WAVE_BEGUN;
  EXPECT_EQ(run().Kept, 0u);
  Events = {{0, 0}, {0, 0}};
  EXPECT_EQ(run().Empty, 2u);
}

} // namespace
