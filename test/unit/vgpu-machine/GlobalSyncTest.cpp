// ds_gws_*: barriers and semaphores across workgroups, for queues that were
// given them.
#include "LaneFixture.h"

using namespace vgpu;
using namespace vgpu::test;

namespace {

class GlobalSyncTest : public LaneFixture {
protected:
  void SetUp() override {
    LaneFixture::SetUp();
    L.GlobalResources = 64;
    L.Group[0] = 64;
  }
  /// Sets resource 0 to Count, as the runtime's kernel does.
  bool init(unsigned Count) {
    L.Grid[0] = 64;
    return runs("s_mov_b32 m0, 0\nv_mov_b32_e32 v3, " + std::to_string(Count) +
                "\nds_gws_init v3 gds\ns_waitcnt lgkmcnt(0)\n");
  }
};

/// Each group adds to a counter, meets the others and reads what it has become.
const char *const CountAndMeet = R"(
    s_mov_b32 m0, 0
    v_mov_b32_e32 v3, 0
    v_mov_b32_e32 v4, 1
    v_cmp_eq_u32_e32 vcc, 0, v0
    s_and_saveexec_b64 s[14:15], vcc
    global_atomic_add v3, v4, s[10:11]
    s_waitcnt vmcnt(0)
    v_mov_b32_e32 v5, 99
    ds_gws_barrier v5 gds
    s_waitcnt lgkmcnt(0)
    global_load_dword v6, v3, s[10:11] glc
    s_lshl_b32 s12, s2, 2
    v_mov_b32_e32 v7, s12
    s_waitcnt vmcnt(0)
    global_store_dword v7, v6, s[10:11] offset:1024
)";

TEST_F(GlobalSyncTest, BarrierHoldsAllGroups) {
  ASSERT_TRUE(init(99)) << why();
  L.Grid[0] = 64 * 100;
  for (unsigned Round = 1; Round <= 3; ++Round) { // It reloads itself.
    EXPECT_RUNS(CountAndMeet);
    for (unsigned I = 0; I < 100; ++I)
      ASSERT_EQ(Out[256 + I], 100u * Round) << "group " << I;
  }
}

TEST_F(GlobalSyncTest, TooFewGroupsAreADeadlock) {
  ASSERT_TRUE(init(99)) << why();
  L.Grid[0] = 64 * 99;
  EXPECT_FALSE(runs(CountAndMeet));
  EXPECT_EQ(Result.Fault.Cause, FaultCause::Deadlock);
  EXPECT_NE(why().find("workgroups wait for others"), std::string::npos) << why();
  EXPECT_NE(why().find("ds_gws_barrier"), std::string::npos) << why();
  // Who waited is forgotten with the dispatch.
  ASSERT_TRUE(init(99)) << why();
  L.Grid[0] = 64 * 100;
  EXPECT_RUNS(CountAndMeet);
}

TEST_F(GlobalSyncTest, GroupsWithoutRoomAreNamed) {
  const unsigned Slots = Config.ComputeUnits * Config.SimdsPerCu * Config.WavesPerSimd;
  L.GroupBytes = 65536; // One group a compute unit.
  ASSERT_TRUE(init(Config.ComputeUnits)) << why();
  L.Grid[0] = 64 * (Config.ComputeUnits + 1);
  ASSERT_GT(Slots, Config.ComputeUnits + 1);
  EXPECT_FALSE(runs(CountAndMeet));
  EXPECT_EQ(Result.Fault.Cause, FaultCause::Deadlock);
  EXPECT_NE(why().find("60 of 61 have begun"), std::string::npos) << why();
}

TEST_F(GlobalSyncTest, SemaphoreCountsAndWakes) {
  ASSERT_TRUE(init(1)) << why();
  L.Grid[0] = 64 * 4;
  // Group 0 signals three times, late; the other groups wait once each.
  EXPECT_RUNS(R"(
    s_mov_b32 m0, 0
    v_mov_b32_e32 v3, 0
    v_mov_b32_e32 v4, 1
    s_mov_b64 exec, 1
    s_cmp_eq_u32 s2, 0
    s_cbranch_scc0 wait
    s_sleep 100
    ds_gws_sema_v gds
    v_mov_b32_e32 v5, 1
    ds_gws_sema_br v5 gds
    s_branch done
  wait:
    ds_gws_sema_p gds
    s_waitcnt lgkmcnt(0)
    global_atomic_add v3, v4, s[10:11]
  done:
  )");
  EXPECT_EQ(Out[0], 3u) << "one by the initial count, two were woken";
}

TEST_F(GlobalSyncTest, AQueueWithoutThemFaults) {
  L.GlobalResources = 0;
  L.Grid[0] = 64;
  EXPECT_FALSE(runs("v_mov_b32_e32 v3, 0\ns_mov_b32 m0, 0\nds_gws_init v3 gds"));
  EXPECT_NE(why().find("only a cooperative queue"), std::string::npos) << why();
  L.GlobalResources = 2;
  EXPECT_FALSE(runs("v_mov_b32_e32 v3, 0\ns_mov_b32 m0, 0x20000\nds_gws_init v3 gds"));
  EXPECT_NE(why().find("global wave sync 2, the queue has 2"), std::string::npos) << why();
}

} // namespace
