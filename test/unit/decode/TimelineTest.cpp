// One order of time: alignment, tracks, guards.
#include "Timeline.h"

#include "TestDump.h"

#include <map>

using namespace kprobe;
using namespace kprobe::test;

namespace {

struct Slice {
  int64_t Begin, End;
};

/// Everything a walk saw, and what must hold in every one.
struct Walk {
  std::vector<TimelineItem::Kind> Kinds;
  std::vector<int64_t> Times;
  std::map<uint64_t, Slice> Waves; ///< by index
  std::map<uint64_t, uint32_t> Tracks, Lanes;
  std::map<uint64_t, std::vector<Slice>> Blocks;
  std::map<uint64_t, std::vector<uint64_t>> Sites;
  uint64_t Clamped = 0;
  Alignment How = Alignment::None;

  explicit Walk(const std::string &Text,
                size_t InMemory = Timeline::DefaultInMemory) {
    AlignedBytes Input(make(Text));
    MemorySource Source(Input.data(), Input.size());
    Timeline T(InMemory);
    Error E = T.open(Source);
    EXPECT_FALSE(E) << E.text();
    TimelineItem Item;
    bool Done = false;
    while (!T.next(Item, Done) && !Done) {
      EXPECT_TRUE(Times.empty() || Item.Ns >= Times.back());
      EXPECT_GE(Item.Ns, T.beginNs());
      Kinds.push_back(Item.What);
      Times.push_back(Item.Ns);
      if (Item.What == TimelineItem::Kind::WaveBegin) {
        uint64_t Index = Item.Wave->Header.WaveIndex;
        Waves[Index] = {Item.Wave->BeginNs, Item.Wave->EndNs};
        Tracks[Index] = Item.Wave->Where->Id;
        Lanes[Index] = Item.Wave->Where->Lane;
      }
      if (Item.What == TimelineItem::Kind::Block) {
        uint64_t Index = Item.Wave->Header.WaveIndex;
        Blocks[Index].push_back({Item.Ns, Item.EndNs});
        Sites[Index].push_back(Item.Block->Cycles.LocalSite);
      }
    }
    Clamped = T.clampedTimes();
    How = T.clockOf(T.trace().Agents.begin()->second).How;
    checkNesting();
  }

  /// Slices of a track never cross, blocks lie inside their wave.
  void checkNesting() const {
    for (const auto &[Index, Inside] : Blocks) {
      int64_t At = Waves.at(Index).Begin;
      for (const Slice &S : Inside) {
        EXPECT_GE(S.Begin, At);
        EXPECT_GE(S.End, S.Begin);
        EXPECT_LE(S.End, Waves.at(Index).End);
        At = S.End;
      }
    }
    for (const auto &[A, WaveA] : Waves)
      for (const auto &[B, WaveB] : Waves)
        if (A < B && Tracks.at(A) == Tracks.at(B)) {
          EXPECT_TRUE(WaveA.End <= WaveB.Begin || WaveB.End <= WaveA.Begin)
              << A << " and " << B;
        }
  }
};

/// Ticks are 10 ns; tick 100000000 is 2 s of CLOCK_MONOTONIC.
const std::string Start = std::string(Head) +
                          "clock mono=2000000000 ticks=100000000\n"
                          "clock mono=3000000000 ticks=200000000\n";
constexpr int64_t Base = 2000000000;

TEST(Timeline, CyclesAreMappedByTheWavesOwnClocks) {
  // 1000 cycles in 100 ticks = 1000 ns; another wave at half the rate.
  Walk W(Start + "dispatch table=T waves=2\nwaves\n"
                 "  wave begin=5000,100000000 end=6000,100000100\n"
                 "    event site=0 clock=5000\n"
                 "    event site=1 clock=5001\n"
                 "    event site=2 clock=5500\n"
                 "  wave begin=5000,100000000 end=6000,100000200 hw=1,0\n"
                 "    event site=0 clock=5500\n"
                 "end\nsummary\n");
  EXPECT_EQ(W.How, Alignment::Readings);
  ASSERT_EQ(W.Blocks[0].size(), 3u);
  EXPECT_EQ(W.Blocks[0][0].Begin, Base);
  EXPECT_EQ(W.Blocks[0][1].Begin, Base + 1) << "one cycle";
  EXPECT_EQ(W.Blocks[0][2].Begin, Base + 500);
  EXPECT_EQ(W.Blocks[0][2].End, Base + 1000);
  EXPECT_EQ(W.Blocks[1][0].Begin, Base + 1000);
  EXPECT_EQ(W.Waves[1].End, Base + 2000);
  EXPECT_EQ(W.Clamped, 0u);
}

TEST(Timeline, WavesOfOnePlaceThatOverlapGetTracksOfTheirOwn) {
  // 0 and 1 overlap by one tick, 2 begins when 0 ends, 3 is elsewhere.
  Walk W(Start + "dispatch table=T waves=4\nwaves\n"
                 "  wave begin=0,100000000 end=1000,100000100\n"
                 "  wave begin=990,100000099 end=2000,100000200\n"
                 "  wave begin=1000,100000100 end=2000,100000200\n"
                 "  wave begin=0,100000000 end=1000,100000100 hw=1,0\n"
                 "end\nsummary\n");
  EXPECT_NE(W.Tracks[0], W.Tracks[1]);
  EXPECT_EQ(W.Tracks[0], W.Tracks[2]);
  EXPECT_EQ(W.Lanes[1], 1u);
  EXPECT_EQ(W.Lanes[2], 0u);
  EXPECT_EQ(W.Lanes[3], 0u);
  EXPECT_NE(W.Tracks[3], W.Tracks[0]);
}

TEST(Timeline, EqualTimesKeepProgramOrderAndRepeat) {
  std::string Text = Start + "dispatch table=T waves=2\nwaves\n"
                             "  wave ring=8192 begin=0,100000000 "
                             "end=1000,100000100\n";
  for (int I = 0; I < 300; ++I)
    Text += "    event site=" + std::to_string(I % 3) + " clock=100\n";
  Text += "  wave hw=1,0 begin=0,100000000 end=1000,100000100\n"
          "    event site=2 clock=100\n    event site=0 clock=100\n"
          "end\nsummary\n";
  Walk A(Text), B(Text);
  ASSERT_EQ(A.Sites[0].size(), 300u);
  for (uint64_t I = 0; I < 300; ++I)
    EXPECT_EQ(A.Sites[0][I], I % 3);
  EXPECT_EQ(A.Sites[1], (std::vector<uint64_t>{2, 0}));
  EXPECT_EQ(A.Kinds, B.Kinds);
  EXPECT_EQ(A.Times, B.Times);
}

TEST(Timeline, SenselessTimesAreMovedAndCounted) {
  struct Case {
    const char *What, *Line;
    uint64_t Clamped;
  };
  const Case Cases[] = {
      {"ends one tick before it begins", "begin=0,100000001 end=10,100000000",
       1},
      {"end tick of zero", "begin=0,100000000 end=10,0", 1},
      {"begins in the far future",
       "begin=0,0x8000000000000000 "
       "end=10,0x8000000000000001",
       2},
      {"begins before the trace", "begin=0,1 end=10,100000000", 1},
      {"is sound", "begin=0,100000000 end=10,100000001", 0},
  };
  for (const Case &C : Cases) {
    // The trace begins one second before tick 100000000.
    Walk W("process monotonic=1500000000\n" + Start.substr(8) +
           "dispatch table=T\nwaves\n  wave " + C.Line +
           "\n    event site=0 clock=5\nend\nsummary\n");
    EXPECT_EQ(W.Clamped, C.Clamped) << C.What;
    EXPECT_EQ(W.Blocks[0].size(), 1u) << C.What;
  }
  Walk K(Start + "dispatch table=T begin=2000000100 end=2000000099\nsummary\n");
  EXPECT_EQ(K.Clamped, 1u);
}

TEST(Timeline, AWaveShorterThanATickUsesTheAgentsRate) {
  Walk W(Start + "dispatch table=T\nwaves\n"
                 "  wave begin=0,100000000 end=8,100000000\n"
                 "    event site=0 clock=2\n    event site=1 clock=6\n"
                 "end\nsummary\n");
  EXPECT_EQ(W.Blocks[0][0].Begin, Base + 2) << "1 GHz";
  EXPECT_EQ(W.Blocks[0][1].Begin, Base + 6);
  EXPECT_EQ(W.Waves[0].End, Base + 8);
}

TEST(Timeline, AWaveThatNeverEndedEndsWithItsLastEvent) {
  Walk W(Start + "dispatch table=T\nwaves\n"
                 "  wave begun begin=0,100000000\n"
                 "    event site=0 clock=200\n    event site=1 clock=700\n"
                 "end\nsummary\n");
  EXPECT_EQ(W.Waves[0].End, Base + 700);
}

TEST(Timeline, WithoutReadingsKernelTimesAlignTheWaves) {
  std::string Waves = "waves\n  wave begin=0,777 end=1000,877\nend\nsummary\n";
  Walk W(std::string(Head) + "clock mono=2000000000 system=1000\n" +
         "dispatch table=T begin=51000 end=60000\n" + Waves);
  EXPECT_EQ(W.How, Alignment::Dispatches);
  EXPECT_EQ(W.Waves[0].Begin, 2000050000);
  Walk None(std::string(Head) + "dispatch table=T\n" + Waves);
  EXPECT_EQ(None.How, Alignment::None);
  EXPECT_EQ(None.Waves[0].Begin, 1000000000) << "the trace's begin";
}

TEST(Timeline, KernelsBeginAndEndAroundTheirWaves) {
  Walk W(Start + "dispatch table=T submit=1999999000 begin=2000000000 "
                 "end=2000001000\nwaves\n"
                 "  wave begin=0,100000000 end=1000,100000100\nend\nsummary\n");
  using Kind = TimelineItem::Kind;
  EXPECT_EQ(W.Kinds,
            (std::vector<Kind>{Kind::Submit, Kind::KernelBegin, Kind::WaveBegin,
                               Kind::WaveEnd, Kind::KernelEnd}));
}

TEST(Timeline, WhatDoesNotFitInMemoryComesOutTheSame) {
  std::string Text = Start + "dispatch table=T submit=1999999000 waves=200\n"
                             "waves\n";
  for (unsigned I = 0; I < 200; ++I) {
    // Out of order, and several at the same time.
    std::string Tick = std::to_string(100000000 + I * 7919 % 50);
    Text += "  wave begin=0," + Tick + " end=100," + Tick + " hw=" +
            std::to_string(I) + ",0\n    event site=0 clock=0\n";
  }
  Text += "end\nsummary\n";
  Walk All(Text);
  EXPECT_EQ(All.Waves.size(), 200u);
  for (size_t InMemory : {1u, 3u, 64u, 199u}) {
    Walk Some(Text, InMemory);
    EXPECT_EQ(Some.Kinds, All.Kinds);
    EXPECT_EQ(Some.Times, All.Times);
    EXPECT_EQ(Some.Tracks, All.Tracks) << "the order of equal times, too";
  }
}

} // namespace
