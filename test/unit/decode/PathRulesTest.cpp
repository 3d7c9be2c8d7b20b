// Blocks without events are put back where they ran: random walks over graphs
// written down here, with the events of omitted blocks taken out.
#include "PathRules.h"

#include "DumpBuilder.h"
#include "WaveEvents.h"

#include <gtest/gtest.h>

#include <random>

using namespace kprobe;

namespace {

using Graph = std::vector<std::vector<uint32_t>>; // successors by site
using Path = std::vector<std::pair<uint32_t, uint32_t>>; // site, lanes

// 0 -> loop 1 { if 2 else 3; join 4; inner loop 5; 6 } -> 7 -> if 8 -> 9.
// 4 and 6 are told of by 1 (a chain), 7 by 0, 9 by 7 (a chain behind a loop).
struct LoopGraph {
  PathRules Rules;
  LoopGraph()
      : Rules(Graph{{1}, {2, 3}, {4}, {4}, {5}, {5, 6}, {1, 7}, {8, 9}, {9}, {}}) {
    EXPECT_TRUE(Rules.add(4, 1));
    EXPECT_TRUE(Rules.add(6, 4));
    EXPECT_TRUE(Rules.add(7, 0));
    EXPECT_TRUE(Rules.add(9, 7));
    EXPECT_TRUE(Rules.isSound());
  }
};

Path walk(const PathRules &Rules, const Path &Events) {
  PathWalk Walk(Rules);
  Path Out;
  auto Pay = [&](uint32_t Site, uint32_t Lanes) {
    Out.emplace_back(Site, Lanes);
  };
  for (auto [Site, Lanes] : Events) {
    Walk.event(Site, Lanes, Pay);
    Out.emplace_back(Site, Lanes);
  }
  Walk.end(Pay);
  return Out;
}

TEST(PathRules, RandomWalksComeBackWhole) {
  LoopGraph Loops;
  std::mt19937 Random(1);
  for (int Round = 0; Round < 1000; ++Round) {
    auto Coin = [&] { return Random() % 2 == 0; };
    // A divergent wave runs both arms of a branch, each with some lanes.
    Path Full = {{0, 64}};
    auto Arms = [&](uint32_t Lanes, uint32_t A, uint32_t B) {
      uint32_t Some = Random() % (Lanes + 1);
      if (Some)
        Full.emplace_back(A, Some);
      if (Some < Lanes && B)
        Full.emplace_back(B, Lanes - Some);
    };
    uint32_t Lanes = 64;
    do {
      Full.emplace_back(1, Lanes);
      Arms(Lanes, 2, 3);
      Full.emplace_back(4, Lanes);
      do
        Full.emplace_back(5, Lanes);
      while (Coin());
      Full.emplace_back(6, Lanes);
      Lanes -= Random() % Lanes; // lanes that leave the loop
    } while (Coin());
    Full.emplace_back(7, 64);
    Arms(64, 8, 0);
    Full.emplace_back(9, 64);

    Path Events;
    for (auto Each : Full)
      if (Each.first != 4 && Each.first != 6 && Each.first != 7 &&
          Each.first != 9)
        Events.push_back(Each);
    ASSERT_EQ(walk(Loops.Rules, Events), Full) << "round " << Round;
  }
}

TEST(PathRules, AnchorsAreSound) {
  PathRules Rules(Graph{{1}, {2}, {}});
  EXPECT_TRUE(Rules.add(1, 0));
  EXPECT_FALSE(Rules.add(2, 0)) << "one anchor, two sites";
  EXPECT_FALSE(Rules.add(1, 2)) << "two anchors";
  EXPECT_TRUE(Rules.isSound());
  EXPECT_TRUE(Rules.add(2, 1));
  EXPECT_TRUE(Rules.isSound());

  PathRules Ring(Graph{{1}, {0}});
  EXPECT_TRUE(Ring.add(1, 0));
  EXPECT_TRUE(Ring.add(0, 1));
  EXPECT_FALSE(Ring.isSound());
  PathRules Self(Graph{{0}});
  EXPECT_TRUE(Self.add(0, 0));
  EXPECT_FALSE(Self.isSound());
}

TEST(PathRules, TooManyBetween) {
  Graph Line;
  for (uint32_t I = 0; I < KPROBE_MAX_BETWEEN + 3; ++I)
    Line.push_back({I + 1});
  Line.push_back({});
  PathRules Long(Line);
  EXPECT_FALSE(Long.add(KPROBE_MAX_BETWEEN + 2, 0));
  PathRules Fits(Line);
  EXPECT_TRUE(Fits.add(KPROBE_MAX_BETWEEN + 1, 0));
}

// In a wave: the omitted block follows without a time of its own, at the next
// event's or at the end, and no place of the ring is counted for it.
TEST(PathRules, InAWave) {
  PathRules Rules(Graph{{1, 2}, {2}, {}});
  ASSERT_TRUE(Rules.add(2, 0));
  EventRules Sites(10, 3, 64, true);
  Sites.Paths = &Rules;
  std::vector<KprobeEvent> Events = {makeEvent(11, 5, 1040)};
  WaveView View = {};
  View.Header.State = KPROBE_WAVE_ENDED;
  View.Header.RingBytes = 64;
  View.Header.BeginCycles = 1000;
  View.Header.EndCycles = 1100;
  View.Header.BeginExec = 0xffff;
  View.Header.Cursor = 8;
  View.Events = Events.data();
  View.EventCount = Events.size();
  std::vector<Block> Blocks;
  WaveAccount A = forEachBlock(
      View, Sites, [&](const Block &B) { Blocks.push_back(B); });
  EXPECT_EQ(A.Kept, 1u);
  ASSERT_EQ(Blocks.size(), 3u);
  EXPECT_EQ(Blocks[0].LocalSite, 0u);
  EXPECT_EQ(Blocks[0].Cycles, 40u);
  EXPECT_EQ(Blocks[1].LocalSite, 1u);
  EXPECT_EQ(Blocks[1].Cycles, 60u);
  EXPECT_EQ(Blocks[2].LocalSite, 2u);
  EXPECT_EQ(Blocks[2].Lanes, 16u);
  EXPECT_EQ(Blocks[2].Begin, 1100u);
  EXPECT_FALSE(Blocks[2].TimeKnown);

  // One that never ended owes it still.
  View.Header.State = KPROBE_WAVE_BEGUN;
  Blocks.clear();
  forEachBlock(View, Sites, [&](const Block &B) { Blocks.push_back(B); });
  EXPECT_EQ(Blocks.size(), 2u);
}

} // namespace
