// Memory instructions that only gfx10 has, or has in another way, in waves of 32
// and of 64 lanes.
#include "LaneFixture.h"

#include <cstring>

namespace vgpu::test {
namespace {

class Gfx10Memory : public LaneFixture,
                    public testing::WithParamInterface<unsigned> {
protected:
  Gfx10Memory() : LaneFixture("gfx1030") {}
  unsigned lanes() const { return GetParam(); }
  bool runsHere(const std::string &Body) {
    L.Grid[0] = L.Group[0] = uint16_t(lanes());
    return runs(Body, {lanes() == 32 ? "wavefront_size32 1"
                                     : "wavefront_size32 0"});
  }
  static uint32_t bits(float V) {
    uint32_t B;
    std::memcpy(&B, &V, 4);
    return B;
  }
};
#define EXPECT_RUNS_HERE(...) ASSERT_TRUE(runsHere(__VA_ARGS__)) << why()

INSTANTIATE_TEST_SUITE_P(Waves, Gfx10Memory, testing::Values(32u, 64u),
                         [](const auto &Info) {
                           return "wave" + std::to_string(Info.param);
                         });

/// A resource over In in s[12:15].
std::string resource(unsigned Stride, unsigned Records, unsigned Word3) {
  return "s_mov_b32 s12, s8\n s_or_b32 s13, s9, " +
         std::to_string(Stride << 16) + "\n s_mov_b32 s14, " +
         std::to_string(Records) + "\n s_mov_b32 s15, " +
         std::to_string(Word3) + "\n";
}

TEST_P(Gfx10Memory, RangeChecksOfBuffers) {
  const std::string Store = "s_waitcnt vmcnt(0)\n"
                            "global_store_dword v1, v3, s[10:11]\n";
  const struct {
    const char *Load;
    unsigned Stride, Records, Select;
    bool (*InRange)(unsigned);
  } Cases[] = {
      // Bytes against records.
      {"buffer_load_dword v3, v1, s[12:15], 0 offen", 0, 65, 3,
       [](unsigned L) { return 4 * L + 4 <= 65; }},
      // Never but for an empty one.
      {"buffer_load_dword v3, v1, s[12:15], 0 offen", 0, 1, 2,
       [](unsigned) { return true; }},
      {"buffer_load_dword v3, v1, s[12:15], 0 offen", 0, 0, 2,
       [](unsigned) { return false; }},
      // Index against records.
      {"buffer_load_dword v3, v0, s[12:15], 0 idxen", 4, 9, 1,
       [](unsigned L) { return L < 9; }},
      // Index against records and offset against stride.
      {"buffer_load_dword v3, v0, s[12:15], 0 idxen", 4, 9, 0,
       [](unsigned L) { return L < 9; }},
      {"buffer_load_dword v3, v0, s[12:15], 0 idxen offset:4", 4, 9, 0,
       [](unsigned) { return false; }},
  };
  for (const auto &C : Cases) {
    std::memset(Out, 0xee, 256);
    EXPECT_RUNS_HERE(resource(C.Stride, C.Records, C.Select << 28) +
                     "v_mov_b32 v3, 7\n" + C.Load + "\n" + Store);
    for (unsigned Lane = 0; Lane < lanes(); ++Lane)
      EXPECT_EQ(Out[Lane], C.InRange(Lane) ? In[Lane] : 0u)
          << C.Load << " select " << C.Select << " lane " << Lane;
  }
}

TEST_P(Gfx10Memory, UnifiedFormats) {
  for (unsigned Lane = 0; Lane < lanes(); ++Lane)
    In[Lane] = Lane << 24 | 0x80ff;
  const std::string Store = "s_waitcnt vmcnt(0)\n"
                            "global_store_dwordx4 v2, v[4:7], s[10:11]\n";
  // 56: four bytes from 0 to 1; 60: as integers. Select x, y, z, w.
  EXPECT_RUNS_HERE(resource(4, 64, 1u << 28 | 56 << 12 | 07654) +
                   "buffer_load_format_xyzw v[4:7], v0, s[12:15], 0 idxen\n" +
                   Store);
  for (unsigned Lane = 0; Lane < lanes(); ++Lane) {
    EXPECT_EQ(Out[4 * Lane], bits(1.0f));
    EXPECT_EQ(Out[4 * Lane + 1], bits(128 / 255.0f));
    EXPECT_EQ(Out[4 * Lane + 3], bits(float(Lane) / 255.0f));
  }
  EXPECT_RUNS_HERE(
      resource(4, 64, 1u << 28) +
      "tbuffer_load_format_xyzw v[4:7], v0, s[12:15], format:60, 0 idxen\n" +
      Store);
  for (unsigned Lane = 0; Lane < lanes(); ++Lane) {
    EXPECT_EQ(Out[4 * Lane], 255u);
    EXPECT_EQ(Out[4 * Lane + 1], 128u);
    EXPECT_EQ(Out[4 * Lane + 3], Lane);
  }
}

TEST_P(Gfx10Memory, AddressesFromLaneNumbers) {
  EXPECT_RUNS_HERE("global_load_dword_addtid v3, s[8:9] offset:16\n"
                   "s_waitcnt vmcnt(0)\n"
                   "global_store_dword_addtid v3, s[10:11] offset:8\n");
  for (unsigned Lane = 0; Lane < lanes(); ++Lane)
    EXPECT_EQ(Out[Lane + 2], In[Lane + 4]);
}

TEST_P(Gfx10Memory, AtomicsThatOnlyGfx10Has) {
  const auto Check = [&](const std::string &Op, uint32_t Before, uint32_t Data,
                         uint32_t Data2, uint32_t After) {
    for (unsigned Lane = 0; Lane < lanes(); ++Lane)
      Out[Lane] = Before;
    EXPECT_RUNS_HERE("v_mov_b32 v4, " + std::to_string(Data) +
                     "\n v_mov_b32 v5, " + std::to_string(Data2) + "\n" + Op +
                     "\n s_waitcnt vmcnt(0)\n"
                     "global_store_dword v1, v6, s[10:11] offset:1024\n");
    for (unsigned Lane = 0; Lane < lanes(); ++Lane) {
      EXPECT_EQ(Out[Lane], After) << Op;
      EXPECT_EQ(Out[Lane + 256], Before) << Op;
    }
  };
  const std::string Rest = " v6, v1, v4, s[10:11] glc";
  Check("global_atomic_csub" + Rest, 10, 3, 0, 7);
  Check("global_atomic_csub" + Rest, 3, 10, 0, 0);
  const struct {
    std::string Kind;
    std::string (*Operands)(const std::string &Data);
  } Ways[] = {
      {"global", [](const std::string &Data) { return " v6, v1, " + Data + ", s[10:11] glc"; }},
      {"flat",
       [](const std::string &Data) { return " v6, v[8:9], " + Data + " glc"; }},
      {"buffer",
       [](const std::string &Data) {
         return " " + Data + ", v1, s[12:15], 0 offen glc\ns_waitcnt vmcnt(0)\nv_mov_b32 v6, v4";
       }},
  };
  for (const auto &Way : Ways) {
    const std::string Atomic = "v_add_co_u32 v8, vcc_lo, s10, v1\n"
                               "v_add_co_ci_u32_e64 v9, s18, s11, 0, vcc_lo\n"
                               "s_mov_b32 s12, s10\n s_mov_b32 s13, s11\n"
                               "s_movk_i32 s14, 0x400\n s_mov_b32 s15, 0x31014fac\n" +
                               Way.Kind + "_atomic_f";
    Check(Atomic + "min" + Way.Operands("v4"), bits(2.5f), bits(-1.0f), 0, bits(-1.0f));
    Check(Atomic + "max" + Way.Operands("v4"), bits(2.5f), bits(-1.0f), 0, bits(2.5f));
    const std::string Swap = Atomic + "cmpswap" + Way.Operands("v[4:5]");
    Check(Swap, bits(2.5f), bits(9.0f), bits(2.5f), bits(9.0f));
    Check(Swap, bits(2.5f), bits(9.0f), bits(2.0f), bits(2.5f));
    Check(Swap, 0x80000000, bits(9.0f), 0, bits(9.0f)); // -0 equals 0
  }
}

TEST_P(Gfx10Memory, CacheInstructionsComplete) {
  EXPECT_RUNS_HERE("buffer_gl0_inv\n buffer_gl1_inv\n s_gl1_inv\n"
                   "s_dcache_inv\n s_waitcnt vmcnt(0) lgkmcnt(0)\n"
                   "s_load_dword null, s[8:9], 0x0\n s_waitcnt lgkmcnt(0)\n"
                   "v_mov_b32 v3, 5\n global_store_dword v1, v3, s[10:11]\n"
                   "s_waitcnt_vscnt null, 0x0\n");
  EXPECT_EQ(Out[lanes() - 1], 5u);
}

} // namespace
} // namespace vgpu::test
