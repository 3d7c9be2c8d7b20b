// Sums, percentiles and losses of whole dumps.
#include "StatisticsReport.h"
#include "TestDump.h"

#include <map>

using namespace kprobe;
using namespace kprobe::test;

namespace {

/// Decodes \p Texts as so many dumps.
void collect(Statistics &S, const std::vector<std::string> &Texts) {
  for (const std::string &Text : Texts) {
    AlignedBytes Input(make(Text));
    MemorySource Source(Input.data(), Input.size());
    Error E = readTrace(Source, S.open(), S);
    EXPECT_FALSE(E) << E.text();
  }
  S.finish();
}

std::map<std::string, uint64_t> losses(const Statistics &S) {
  std::map<std::string, uint64_t> Out;
  for (const Loss &L : lossesOf(S))
    Out[L.Key] = L.Count;
  return Out;
}

const std::string Wave = "  wave begin=1000,1000 end=1400,1040\n"
                         "    event site=0 clock=1010 lanes=64\n"
                         "    event site=1 clock=1020 lanes=10\n"
                         "    event site=1 clock=1050 lanes=20\n"
                         "    event site=2 clock=1150 lanes=64\n";

TEST(Statistics, SumsOfAKernelFollowTheEvents) {
  Statistics S;
  collect(S, {std::string(Head) +
              "clock mono=1000000\n"
              "dispatch table=T waves=2 begin=5000 end=6000\n"
              "waves\n" +
              Wave + Wave +
              "end\n"
              "dispatch id=2 table=T begin=7000 end=10000\n"
              "waves dispatch=2\n" +
              Wave +
              "end\n"
              "summary seen=2\n"});
  ASSERT_EQ(S.kernels().size(), 1u);
  const KernelStatistics &K = *S.kernels()[0];
  EXPECT_EQ(K.Name, "k(float*)");
  EXPECT_EQ(K.Dispatches, 2u);
  EXPECT_EQ(K.Waves.Ended, 3u);
  EXPECT_EQ(K.Events.Kept, 12u);
  EXPECT_EQ(K.TimesNs, (std::vector<uint64_t>{1000, 3000}));
  EXPECT_EQ(K.TotalNs, 4000u);
  // Each wave: site 0 for 10, site 1 for 30 and 100, site 2 for 250 cycles.
  EXPECT_EQ(K.Sites[0].Hits, 3u);
  EXPECT_EQ(K.Sites[0].Cycles, 30u);
  EXPECT_EQ(K.Sites[1].Hits, 6u);
  EXPECT_EQ(K.Sites[1].Lanes, 90u);
  EXPECT_EQ(K.Sites[1].Cycles, 390u);
  EXPECT_EQ(K.Sites[1].Min, 30u);
  EXPECT_EQ(K.Sites[1].Max, 100u);
  EXPECT_EQ(K.Sites[1].percentile(500), 30u);
  EXPECT_EQ(K.Sites[1].percentile(990), 100u) << "never beyond the maximum";
  EXPECT_EQ(K.Sites[2].Cycles, 750u);
  EXPECT_EQ(K.BlockCycles, 30u + 390u + 750u);
  EXPECT_EQ(sitesByShare(K), (std::vector<uint32_t>{2, 1, 0}));
  EXPECT_TRUE(lossesOf(S).empty());
}

TEST(Statistics, KernelTimeFallsBackToItsWaves) {
  Statistics S;
  collect(S, {std::string(Head) + "dispatch table=T\nwaves\n" + Wave +
              "end\nsummary\n"});
  EXPECT_EQ(S.kernels()[0]->TimesNs, std::vector<uint64_t>{400})
      << "40 ticks of 100 MHz";
}

TEST(Statistics, LossesAreCountedByReason) {
  Statistics S;
  collect(S, {std::string(Head) +
              "dispatch table=T waves=100 slots=6 shift=4\n"
              "waves\n" +
              Wave +
              "  wave begin=1000,1000 end=1400,1040 cursor=80\n"
              "    events site=1 clock=1100 step=10 count=8\n"
              "  wave begin=1000,1000 end=1400,1040 cursor=32\n"
              "    event site=1 clock=1100\n"
              "    event site=7 clock=1110\n"
              "    empty\n"
              "  wave begun begin=1000,1000\n"
              "    events site=1 clock=1100 step=10 count=8\n"
              "  wave unused\n"
              "end\n"
              "dispatch id=2 name=other\n"
              "dispatch id=3 table=T status=3\n"
              "summary seen=9 pending=2 dropped=1\n"
              "chunk kind=50 text=x\n"
              "summary seen=9 pending=2 dropped=1\n"});
  std::map<std::string, uint64_t> Expected = {
      {"events_overwritten", 2},  {"events_missing", 1},
      {"events_damaged", 1},      {"waves_not_sampled", 94},
      {"waves_not_begun", 1},     {"waves_absent", 1},
      {"waves_not_ended", 1},     {"waves_incomplete", 1},
      {"dispatches_status_1", 1}, {"dispatches_status_3", 1},
      {"dispatches_pending", 2},  {"dispatches_unrecorded", 6},
      {"chunks_dropped", 1},      {"chunks_unknown", 1}};
  EXPECT_EQ(losses(S), Expected);
  EventTotals E = S.eventTotals();
  EXPECT_EQ(E.Written,
            E.Kept + E.Overwritten + E.Missing + E.Damaged + E.Empty);
}

TEST(Statistics, SeveralDumpsAreOneKernelWhenTheirTablesAreEqual) {
  std::string Text =
      std::string(Head) + "dispatch table=T\nwaves\n" + Wave + "end\nsummary\n";
  std::string Other = Text;
  Other.replace(Other.find("line=2"), 6, "line=9");
  Statistics S;
  collect(S, {Text, Text, Other});
  ASSERT_EQ(S.kernels().size(), 2u) << "a recompiled kernel stays apart";
  EXPECT_EQ(S.kernels()[0]->Dispatches, 2u);
  EXPECT_EQ(S.kernels()[1]->Dispatches, 1u);
}

} // namespace
