// Barriers, progress of resident waves, messages, and what the timing model
// promises: order and structure, not absolute numbers.
#include "LaneFixture.h"

#include <cstdio>
#include <cstdlib>

using namespace vgpu;
using namespace vgpu::test;

namespace {

using Scheduling = LaneFixture;

/// Each wave writes its LDS row, and after the barrier reads the next wave's.
TEST_F(Scheduling, BarrierOrdersWaves) {
  L.Group[0] = L.Grid[0] = 1024;
  L.GroupBytes = 4096;
  EXPECT_RUNS(R"(
    v_lshlrev_b32_e32 v1, 2, v0
    v_add_u32_e32 v3, 1000, v0
    ds_write_b32 v1, v3
    s_waitcnt lgkmcnt(0)
    s_barrier
    v_add_u32_e32 v4, 64, v0
    v_and_b32_e32 v4, 1023, v4
    v_lshlrev_b32_e32 v4, 2, v4
    ds_read_b32 v5, v4
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v5, s[10:11]
  )");
  for (unsigned I = 0; I < 1024; ++I)
    ASSERT_EQ(Out[I], 1000 + (I + 64) % 1024);
}

/// Waves of the upper half end at once; the others still meet at two barriers.
TEST_F(Scheduling, EndedWavesDoNotHoldABarrier) {
  L.Group[0] = L.Grid[0] = 512;
  EXPECT_RUNS(R"(
    v_readfirstlane_b32 s12, v0
    s_cmp_ge_u32 s12, 0x100
    s_cbranch_scc1 done
    s_barrier
    s_sleep 1
    s_barrier
    global_store_dword v1, v0, s[10:11]
  done:
  )");
  for (unsigned I = 0; I < 512; ++I)
    ASSERT_EQ(Out[I], I < 256 ? I : 0u);
}

/// Group 0 waits for a flag that the last group sets: all resident groups run.
TEST_F(Scheduling, ResidentGroupsMakeProgress) {
  L.Grid[0] = 64 * 200;
  EXPECT_RUNS(R"(
    v_mov_b32_e32 v3, 0
    s_cmp_eq_u32 s2, 0xc7
    s_cbranch_scc1 set
    s_cmp_lg_u32 s2, 0
    s_cbranch_scc1 done
  wait:
    global_load_dword v4, v3, s[10:11] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s12, v4
    s_cmp_eq_u32 s12, 0
    s_cbranch_scc1 wait
    v_mov_b32_e32 v5, 7
    global_store_dword v3, v5, s[10:11] offset:4
    s_branch done
  set:
    v_mov_b32_e32 v5, 1
    global_store_dword v3, v5, s[10:11]
  done:
  )");
  EXPECT_EQ(Out[1], 7u);
}

TEST_F(Scheduling, InterruptMessageCarriesM0) {
  std::vector<uint32_t> Seen;
  L.Interrupt = [&](uint32_t Event) { Seen.push_back(Event); };
  EXPECT_RUNS("s_mov_b32 m0, 42\ns_sendmsg sendmsg(MSG_INTERRUPT)");
  EXPECT_EQ(Seen, std::vector<uint32_t>{42});
}

/// Cycles between two s_memtime around Body, stored at Out[0].
std::string timed(const std::string &Body) {
  return R"(
    v_mov_b32_e32 v3, 0
    s_memtime s[20:21]
    s_waitcnt lgkmcnt(0)
  )" + Body +
         R"(
    s_memtime s[22:23]
    s_waitcnt lgkmcnt(0)
    s_sub_u32 s20, s22, s20
    v_mov_b32_e32 v4, s20
    global_store_dword v3, v4, s[10:11]
  )";
}

TEST_F(Scheduling, CachedLoadsAreFaster) {
  EXPECT_RUNS(timed("global_load_dword v5, v1, s[8:9]\ns_waitcnt vmcnt(0)\n"));
  uint32_t Cold = Out[0];
  EXPECT_RUNS("global_load_dword v5, v1, s[8:9]\ns_waitcnt vmcnt(0)\n" +
              timed("global_load_dword v5, v1, s[8:9]\ns_waitcnt vmcnt(0)\n"));
  uint32_t Warm = Out[0];
  EXPECT_GT(Warm, 100u);
  EXPECT_LT(Warm + 100, Cold);
}

TEST_F(Scheduling, WaitcntWaitsOnlyForWhatItNames) {
  const std::string Load = "global_load_dword v5, v1, s[8:9] offset:0\n";
  EXPECT_RUNS(timed(Load + "s_waitcnt vmcnt(1)\n"));
  uint32_t NotWaited = Out[0];
  EXPECT_RUNS(timed(Load + "s_waitcnt vmcnt(0)\n"));
  EXPECT_LT(NotWaited + 80, Out[0]);
}

TEST_F(Scheduling, BankConflictsCost) {
  L.GroupBytes = 16384;
  EXPECT_RUNS(timed("ds_read_b32 v5, v1\ns_waitcnt lgkmcnt(0)\n"));
  uint32_t Free = Out[0];
  // Stride of 128 bytes: all lanes in one bank.
  EXPECT_RUNS("v_lshlrev_b32_e32 v6, 7, v0\n" +
              timed("ds_read_b32 v5, v6\ns_waitcnt lgkmcnt(0)\n"));
  EXPECT_GE(Out[0], Free + 60);
  // The same dword for all lanes is a broadcast.
  EXPECT_RUNS("v_mov_b32_e32 v6, 4\n" +
              timed("ds_read_b32 v5, v6\ns_waitcnt lgkmcnt(0)\n"));
  EXPECT_EQ(Out[0], Free);
}

TEST_F(Scheduling, IssueCostByClass) {
  auto Cost = [&](const std::string &Line) {
    std::string Body;
    for (unsigned I = 0; I < 32; ++I)
      Body += Line + "\n";
    EXPECT_TRUE(runs(timed(Body))) << why();
    return Out[0];
  };
  uint32_t Add = Cost("v_add_f32_e32 v5, v6, v7");
  EXPECT_EQ(Cost("v_rcp_f32_e32 v5, v6") - Add, 32 * 12u)
      << "a quarter of the rate";
  EXPECT_EQ(Cost("v_fma_f64 v[4:5], v[6:7], v[6:7], v[6:7]") - Add, 32 * 4u)
      << "half the rate";
  EXPECT_EQ(Cost("s_add_u32 s30, s31, s32"), Add);
}

/// Four SIMDs run side by side; waves of one SIMD share its vector unit.
TEST_F(Scheduling, WavesOfASimdShareIt) {
  std::string Body;
  for (unsigned I = 0; I < 400; ++I)
    Body += "v_add_f32_e32 v5, v6, v7\n";
  L.Group[0] = L.Grid[0] = 64;
  EXPECT_RUNS(Body);
  uint64_t One = Result.Cycles;
  L.Group[0] = L.Grid[0] = 256;
  EXPECT_RUNS(Body);
  uint64_t Four = Result.Cycles;
  L.Group[0] = L.Grid[0] = 512;
  EXPECT_RUNS(Body);
  uint64_t Eight = Result.Cycles;
  EXPECT_LT(Four, One + 100);
  EXPECT_GT(Eight, 2 * 400 * 4u);
  EXPECT_LT(Eight, 2 * 400 * 4u + 600);
}

/// Waves 0 to 3 and 4 to 7 are one of each SIMD; v8 = when wave ends, by wave.
std::string race(const std::string &OfUpperHalf) {
  std::string Body = R"(
    v_readfirstlane_b32 s12, v0
    s_lshr_b32 s13, s12, 6
    s_cmp_ge_u32 s13, 4
    s_cbranch_scc0 go
  )" + OfUpperHalf + R"(
  go:
    s_barrier
  )";
  for (unsigned I = 0; I < 200; ++I)
    Body += "v_add_f32_e32 v5, v6, v7\n";
  return Body + R"(
    s_memtime s[20:21]
    s_waitcnt lgkmcnt(0)
    s_setprio 0
    s_lshl_b32 s13, s13, 2
    v_mov_b32_e32 v3, s13
    v_mov_b32_e32 v4, s20
    global_store_dword v3, v4, s[10:11]
  )";
}

TEST_F(Scheduling, PriorityDecidesWhoIssues) {
  L.Group[0] = L.Grid[0] = 512;
  EXPECT_RUNS(race("s_nop 0"));
  for (unsigned W = 0; W < 4; ++W)
    EXPECT_LT(std::abs(int(Out[W] - Out[W + 4])), 40) << "equal: in turn";
  EXPECT_RUNS(race("s_setprio 3"));
  for (unsigned W = 0; W < 4; ++W)
    EXPECT_GT(int(Out[W] - Out[W + 4]), 700) << "200 instructions of 4 cycles";
}

/// Arithmetic that runs ahead issues at the same cycles as without: a log keeps
/// every instruction in its place.
TEST_F(Scheduling, ALogDoesNotChangeCycles) {
  L.Grid[0] = 64 * 300;
  L.Group[0] = 192;
  const std::string Body = R"(
    s_movk_i32 s14, 0x10
  next:
    v_mul_f32_e32 v5, v0, v0
    v_rcp_f32_e32 v6, v5
    s_and_b32 s15, s14, 3
    s_cmp_eq_u32 s15, 0
    s_cbranch_scc1 skip
    global_load_dword v7, v1, s[8:9]
    s_waitcnt vmcnt(0)
    v_add_f32_e32 v6, v6, v7
  skip:
    s_barrier
    s_sub_u32 s14, s14, 1
    s_cmp_lg_u32 s14, 0
    s_cbranch_scc1 next
    global_store_dword v1, v6, s[10:11]
  )";
  EXPECT_RUNS(Body);
  D = std::make_unique<Device>(Config, Memory);
  EXPECT_RUNS(Body); // Memory's second level is as cold as before.
  const uint64_t Without = Result.Cycles;
  const std::string Path = testing::TempDir() + "cycles.log";
  setenv("KPROBE_VGPU_LOG", Path.c_str(), 1);
  D = std::make_unique<Device>(Config, Memory);
  unsetenv("KPROBE_VGPU_LOG");
  EXPECT_RUNS(Body);
  EXPECT_EQ(Result.Cycles, Without);
  D.reset();
  std::remove(Path.c_str());
}

} // namespace
