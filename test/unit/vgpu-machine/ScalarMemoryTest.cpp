// SMEM against plain host memory.
#include "LaneFixture.h"

#include <cstring>

using namespace vgpu;
using namespace vgpu::test;

namespace {

using ScalarMemory = LaneFixture;

TEST_F(ScalarMemory, LoadsOfAllSizes) {
  std::string Body = "v_mov_b32_e32 v3, 0\n";
  const unsigned Sizes[] = {1, 2, 4, 8, 16};
  unsigned At = 0;
  for (unsigned N : Sizes) {
    std::string Suffix = N == 1 ? "" : "x" + std::to_string(N);
    std::string To = N == 1 ? "s32" : "s[32:" + std::to_string(31 + N) + "]";
    Body += "s_load_dword" + Suffix + " " + To + ", s[8:9], " +
            std::to_string(At * 4) + "\ns_waitcnt lgkmcnt(0)\n";
    for (unsigned I = 0; I < N; ++I)
      Body += "v_mov_b32_e32 v4, s" + std::to_string(32 + I) +
              "\nglobal_store_dword v3, v4, s[10:11] offset:" +
              std::to_string(4 * (At + I)) + "\n";
    At += N;
  }
  EXPECT_RUNS(Body);
  for (unsigned I = 0; I < At; ++I)
    EXPECT_EQ(Out[I], In[I]) << I;
}

TEST_F(ScalarMemory, OffsetsAreSignedOrInARegister) {
  EXPECT_RUNS(R"(
    s_add_u32 s12, s8, 64
    s_addc_u32 s13, s9, 0
    s_load_dword s20, s[12:13], -8
    s_movk_i32 s14, 40
    s_load_dword s21, s[8:9], s14
    s_waitcnt lgkmcnt(0)
    v_mov_b32_e32 v3, 0
    v_mov_b32_e32 v4, s20
    v_mov_b32_e32 v5, s21
    global_store_dwordx2 v3, v[4:5], s[10:11]
  )");
  EXPECT_EQ(Out[0], In[14]);
  EXPECT_EQ(Out[1], In[10]);
}

TEST_F(ScalarMemory, BufferLoadChecksTheRange) {
  EXPECT_RUNS(R"(
    s_mov_b32 s12, s8
    s_and_b32 s13, s9, 0xffff
    s_movk_i32 s14, 8
    s_mov_b32 s15, 0
    s_buffer_load_dwordx4 s[20:23], s[12:15], 0x0
    s_waitcnt lgkmcnt(0)
    v_mov_b32_e32 v3, 0
    v_mov_b32_e32 v4, s20
    v_mov_b32_e32 v5, s21
    v_mov_b32_e32 v6, s22
    v_mov_b32_e32 v7, s23
    global_store_dwordx4 v3, v[4:7], s[10:11]
  )");
  EXPECT_EQ(Out[0], In[0]);
  EXPECT_EQ(Out[1], In[1]);
  EXPECT_EQ(Out[2], 0u);
  EXPECT_EQ(Out[3], 0u);
}

TEST_F(ScalarMemory, StoresAndAtomics) {
  Out[8] = 100;
  Out[9] = 7;
  EXPECT_RUNS(R"(
    s_mov_b32 s20, 0x1234
    s_mov_b32 s21, 0x5678
    s_store_dwordx2 s[20:21], s[10:11], 0x0
    s_movk_i32 s22, 5
    s_atomic_add s22, s[10:11], 0x20 glc
    s_waitcnt lgkmcnt(0)
    s_store_dword s22, s[10:11], 0x8
    s_movk_i32 s24, 9
    s_movk_i32 s25, 7
    s_atomic_cmpswap s[24:25], s[10:11], 0x24 glc
    s_waitcnt lgkmcnt(0)
    s_store_dword s24, s[10:11], 0xc
    s_dcache_wb
  )");
  EXPECT_EQ(Out[0], 0x1234u);
  EXPECT_EQ(Out[1], 0x5678u);
  EXPECT_EQ(Out[2], 100u);
  EXPECT_EQ(Out[8], 105u);
  EXPECT_EQ(Out[3], 7u);
  EXPECT_EQ(Out[9], 9u);
}

TEST_F(ScalarMemory, ScratchOffsetsCountIn64Bytes) {
  EXPECT_RUNS(R"(
    s_movk_i32 s20, 3
    s_scratch_load_dwordx2 s[16:17], s[8:9], s20
    s_scratch_load_dword s18, s[8:9], 0x10
    s_waitcnt lgkmcnt(0)
    s_scratch_store_dword s16, s[10:11], s20
    s_scratch_store_dwordx2 s[16:17], s[10:11], 0x8
    s_scratch_store_dword s18, s[10:11], 0x20
    s_atc_probe 0, s[8:9], 0x0
    s_dcache_wb
    s_waitcnt lgkmcnt(0)
  )");
  EXPECT_EQ(Out[48], In[48]);
  EXPECT_EQ(Out[2], In[48]);
  EXPECT_EQ(Out[3], In[49]);
  EXPECT_EQ(Out[8], In[4]);
}

TEST_F(ScalarMemory, ClocksAdvanceTogether) {
  EXPECT_RUNS(R"(
    s_memtime s[20:21]
    s_memrealtime s[22:23]
    s_waitcnt lgkmcnt(0)
    s_sleep 100
    s_memtime s[24:25]
    s_memrealtime s[26:27]
    s_waitcnt lgkmcnt(0)
    s_sub_u32 s24, s24, s20
    s_sub_u32 s26, s26, s22
    v_mov_b32_e32 v3, 0
    v_mov_b32_e32 v4, s24
    v_mov_b32_e32 v5, s26
    global_store_dwordx2 v3, v[4:5], s[10:11]
  )");
  EXPECT_GE(Out[0], 6400u);
  EXPECT_LT(Out[0], 6600u);
  EXPECT_NEAR(double(Out[1]), double(Out[0]) / 18.0, 2.0);
}

} // namespace
