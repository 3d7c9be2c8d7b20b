// DeviceConfig::Threads: compute units on several host threads. Results are those of
// one thread; what only counts is, too.
#include "LaneFixture.h"

#include <mutex>
#include <set>
#include <thread>

using namespace vgpu;
using namespace vgpu::test;

namespace {

class ThreadsTest : public LaneFixture, public testing::WithParamInterface<unsigned> {
protected:
  ThreadsTest() : LaneFixture("gfx906") {}
  void SetUp() override {
    LaneFixture::SetUp();
    Config.Threads = GetParam();
    D = std::make_unique<Device>(Config, Memory);
  }
};
INSTANTIATE_TEST_SUITE_P(, ThreadsTest, testing::Values(1, 2, 4, 7));

/// Far more groups than there is room for, so that units ask for the next one all the
/// time, and all of them meet at one address.
TEST_P(ThreadsTest, AtomicsOfAllGroupsAddUp) {
  constexpr unsigned Groups = 6000;
  L.Grid[0] = 64 * Groups;
  EXPECT_RUNS(R"(
    v_mov_b32_e32 v3, 0
    v_mov_b32_e32 v4, s2
    global_atomic_add v3, v4, s[10:11]
    global_atomic_add v5, v3, v1, s[10:11] offset:8 glc
    s_and_b32 s12, s2, 0xfff
    s_lshl_b32 s12, s12, 2
    v_mov_b32_e32 v6, s12
    v_mov_b32_e32 v7, 1
    s_waitcnt vmcnt(0)
    s_mov_b64 exec, 1
    global_atomic_add v6, v7, s[10:11] offset:1024
  )");
  EXPECT_EQ(Out[0], 64u * (Groups * (Groups - 1) / 2));
  EXPECT_EQ(Out[2], 4 * (63 * 64 / 2) * Groups);
  for (unsigned I = 0; I < 4096; ++I)
    ASSERT_EQ(Out[256 + I], I < Groups - 4096 ? 2u : 1u) << "group " << I;
}

/// A group's waves are on the same thread, LDS and barriers with them.
TEST_P(ThreadsTest, GroupsKeepToThemselves) {
  constexpr unsigned Groups = 2000;
  L.Group[0] = 256;
  L.Grid[0] = 256 * Groups;
  L.GroupBytes = 1024;
  EXPECT_RUNS(R"(
    v_mov_b32_e32 v3, 0
    v_mov_b32_e32 v4, s2
    v_mov_b32_e32 v7, 1
    s_mov_b32 m0, -1
    ds_write_b32 v1, v4
    s_waitcnt lgkmcnt(0)
    s_barrier
    v_xor_b32_e32 v5, 0x3fc, v1
    ds_read_b32 v6, v5
    s_waitcnt lgkmcnt(0)
    v_cmp_ne_u32_e32 vcc, s2, v6
    s_and_b64 exec, vcc, exec
    global_atomic_add v3, v7, s[10:11]
    s_mov_b64 exec, 1
    global_atomic_add v3, v7, s[10:11] offset:4
  )");
  EXPECT_EQ(Out[0], 0u) << "lanes that read another group's number";
  EXPECT_EQ(Out[1], 4 * Groups) << "waves";
}

/// The last group to begin lets all others go on: they are on other units, and spin.
TEST_P(ThreadsTest, GroupsWaitForEachOther) {
  constexpr unsigned Groups = 300;
  L.Grid[0] = 64 * Groups;
  EXPECT_RUNS(R"(
    v_mov_b32_e32 v3, 0
    v_mov_b32_e32 v4, 1
    s_mov_b64 exec, 1
    global_atomic_add v3, v4, s[10:11]
    s_waitcnt vmcnt(0)
  wait:
    global_load_dword v5, v3, s[10:11] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s12, v5
    s_cmpk_lt_u32 s12, )" + std::to_string(Groups) + R"(
    s_cbranch_scc1 wait
    global_atomic_add v3, v4, s[10:11] offset:4
  )");
  EXPECT_EQ(Out[0], Groups);
  EXPECT_EQ(Out[1], Groups);
}

TEST_P(ThreadsTest, AsManyThreadsRunWavesAsAskedFor) {
  std::mutex Lock;
  std::set<std::thread::id> Seen;
  uint64_t Count = 0;
  L.Interrupt = [&](uint32_t Event) {
    std::lock_guard<std::mutex> Guard(Lock);
    Seen.insert(std::this_thread::get_id());
    Count += Event;
  };
  L.Grid[0] = 64 * 5000;
  EXPECT_RUNS("s_mov_b32 m0, 1\ns_sendmsg sendmsg(MSG_INTERRUPT)\n");
  EXPECT_EQ(Seen.size(), GetParam());
  EXPECT_EQ(Count, 5000u);
}

/// One of many groups; the others end with it, and the device is free again.
TEST_P(ThreadsTest, AFaultIsReportedOnceAndWhole) {
  L.Grid[0] = 64 * 5000;
  for (unsigned Round = 0; Round < 3; ++Round) {
    EXPECT_FALSE(runs(R"(
      s_cmpk_eq_u32 s2, 777
      s_cbranch_scc0 fine
      s_mov_b64 s[10:11], 0
    fine:
      global_store_dword v1, v0, s[10:11]
    )"));
    EXPECT_EQ(Result.Fault.Cause, FaultCause::Memory);
    EXPECT_EQ(Result.Fault.Workgroup[0], 777u);
    EXPECT_NE(why().find("workgroup (777, 0, 0), wave 0, lane 0"), std::string::npos) << why();
    EXPECT_NE(why().find("=> +0x"), std::string::npos) << why();
  }
  EXPECT_RUNS("global_store_dword v1, v0, s[10:11]");
}

} // namespace
