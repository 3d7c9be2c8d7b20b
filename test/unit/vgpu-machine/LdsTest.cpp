// DS reads, writes and lane operations.
#include "LaneFixture.h"

#include <cstring>

using namespace vgpu;
using namespace vgpu::test;

namespace {

class Lds : public LaneFixture {
protected:
  void SetUp() override {
    LaneFixture::SetUp();
    L.GroupBytes = 8192;
  }
};

TEST_F(Lds, AllWidths) {
  EXPECT_RUNS(R"(
    global_load_dwordx4 v[4:7], v2, s[8:9]
    v_mov_b32_e32 v20, -1
    v_mov_b32_e32 v21, -1
    s_waitcnt vmcnt(0)
    ds_write_b128 v2, v[4:7]
    ds_read_b128 v[8:11], v2
    ds_read_b96 v[12:14], v2 offset:4
    ds_read_b64 v[16:17], v2 offset:8
    ds_read_u8 v18, v2 offset:3
    ds_read_i8 v19, v2 offset:3
    ds_read_u16_d16 v20, v2 offset:2
    ds_read_u16_d16_hi v21, v2 offset:2
    ds_read_i16 v22, v2 offset:2
    s_waitcnt lgkmcnt(0)
    v_lshlrev_b32_e32 v3, 6, v0
    global_store_dwordx4 v3, v[8:11], s[10:11]
    global_store_dwordx3 v3, v[12:14], s[10:11] offset:16
    global_store_dwordx2 v3, v[16:17], s[10:11] offset:28
    global_store_dwordx4 v3, v[18:21], s[10:11] offset:36
    global_store_dword v3, v22, s[10:11] offset:52
  )");
  for (unsigned I = 0; I < 64; ++I) {
    const uint32_t *Row = Out + 16 * I, *From = In + 4 * I;
    EXPECT_EQ(std::memcmp(Row, From, 16), 0);
    EXPECT_EQ(std::memcmp(Row + 4, From + 1, 12), 0);
    EXPECT_EQ(std::memcmp(Row + 7, From + 2, 8), 0);
    EXPECT_EQ(Row[9], From[0] >> 24);
    EXPECT_EQ(int32_t(Row[10]), int32_t(From[0]) >> 24);
    EXPECT_EQ(Row[11], 0xffff0000 | From[0] >> 16);
    EXPECT_EQ(Row[12], (From[0] & 0xffff0000) | 0xffff);
    EXPECT_EQ(int32_t(Row[13]), int32_t(From[0]) >> 16);
  }
}

TEST_F(Lds, PairsAndStrides) {
  EXPECT_RUNS(R"(
    global_load_dwordx4 v[4:7], v2, s[8:9]
    s_waitcnt vmcnt(0)
    ds_write2st64_b32 v1, v4, v5 offset0:0 offset1:3
    ds_write2_b64 v2, v[4:5], v[6:7] offset0:200 offset1:201
    s_nop 0
    ds_read2st64_b32 v[8:9], v1 offset0:3 offset1:0
    ds_read2_b32 v[10:11], v1 offset0:192 offset1:0
    ds_read2_b64 v[12:15], v2 offset0:201 offset1:200
    s_waitcnt lgkmcnt(0)
    v_lshlrev_b32_e32 v3, 5, v0
    global_store_dwordx4 v3, v[8:11], s[10:11]
    global_store_dwordx4 v3, v[12:15], s[10:11] offset:16
  )");
  for (unsigned I = 0; I < 64; ++I) {
    const uint32_t *Row = Out + 8 * I, *From = In + 4 * I;
    EXPECT_EQ(Row[0], From[1]);
    EXPECT_EQ(Row[1], From[0]);
    EXPECT_EQ(Row[2], From[1]);
    EXPECT_EQ(Row[3], From[0]);
    EXPECT_EQ(Row[4], From[2]);
    EXPECT_EQ(Row[5], From[3]);
    EXPECT_EQ(Row[6], From[0]);
    EXPECT_EQ(Row[7], From[1]);
  }
}

TEST_F(Lds, NarrowWrites) {
  EXPECT_RUNS(R"(
    global_load_dword v4, v1, s[8:9]
    v_mov_b32_e32 v5, -1
    ds_write_b32 v1, v5
    s_waitcnt vmcnt(0)
    ds_write_b8 v1, v4
    ds_write_b16_d16_hi v1, v4 offset:2
    ds_read_b32 v6, v1
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v6, s[10:11]
  )");
  for (unsigned I = 0; I < 64; ++I)
    EXPECT_EQ(Out[I], (In[I] & 0xffff0000) | 0xff00 | (In[I] & 0xff));
}

TEST_F(Lds, Swizzle) {
  EXPECT_RUNS(R"(
    global_load_dword v4, v1, s[8:9]
    s_waitcnt vmcnt(0)
    ds_swizzle_b32 v5, v4 offset:swizzle(QUAD_PERM, 3, 2, 0, 1)
    ds_swizzle_b32 v6, v4 offset:swizzle(SWAP, 16)
    ds_swizzle_b32 v7, v4 offset:swizzle(BROADCAST, 8, 5)
    ds_swizzle_b32 v8, v4 offset:swizzle(REVERSE, 4)
    s_waitcnt lgkmcnt(0)
    global_store_dwordx4 v2, v[5:8], s[10:11]
  )");
  const unsigned Quad[4] = {3, 2, 0, 1};
  for (unsigned I = 0; I < 64; ++I) {
    EXPECT_EQ(Out[4 * I], In[(I & ~3u) + Quad[I & 3]]);
    EXPECT_EQ(Out[4 * I + 1], In[I ^ 16]);
    EXPECT_EQ(Out[4 * I + 2], In[(I & ~7u) + 5]);
    EXPECT_EQ(Out[4 * I + 3], In[I ^ 3]);
  }
}

TEST_F(Lds, SwizzleRotatesAndReversesBits) {
  EXPECT_RUNS(R"(
    global_load_dword v4, v1, s[8:9]
    s_waitcnt vmcnt(0)
    ds_swizzle_b32 v5, v4 offset:0xe000
    ds_swizzle_b32 v6, v4 offset:0xe010
    ds_swizzle_b32 v7, v4 offset:0xc060
    ds_swizzle_b32 v8, v4 offset:0xc467
    s_waitcnt lgkmcnt(0)
    global_store_dwordx4 v2, v[5:8], s[10:11]
  )");
  for (unsigned I = 0; I < 64; ++I) {
    unsigned Reversed = 0;
    for (unsigned B = 0; B < 5; ++B)
      if (I & (1u << B))
        Reversed += 16 >> B;
    EXPECT_EQ(Out[4 * I], In[Reversed + (I & 32)]);
    // Mask 16: the upper half of each 32 stays apart.
    EXPECT_EQ(Out[4 * I + 1], In[Reversed / 2 + (I & 48)]);
    EXPECT_EQ(Out[4 * I + 2], In[(I + 3) % 32 + (I & 32)]);
    // Backwards by 3 in steps that keep the lowest three bits.
    EXPECT_EQ(Out[4 * I + 3],
              In[(I & 7) | ((I - 3) & 24) | (I & 32)]);
  }
}

TEST_F(Lds, BothOperandsInLds) {
  // src2 forms: the second operand lies 64 dwords on, or where the upper bits
  // of the address say.
  L.GroupBytes = 1024;
  EXPECT_RUNS(R"(
    global_load_dword v4, v1, s[8:9]
    global_load_dword v5, v1, s[8:9] offset:256
    s_waitcnt vmcnt(0)
    ds_write_b32 v1, v4
    ds_write_b32 v1, v5 offset:256
    ds_write_b32 v1, v4 offset:512
    ds_write_b32 v1, v5 offset:768
    ds_add_src2_u32 v1 offset:64
    v_or_b32_e32 v6, 0x00800200, v1
    ds_min_src2_i32 v6 offset:0x8000
    ds_read_b32 v4, v1
    ds_read_b32 v5, v1 offset:512
    ds_write_src2_b32 v1 offset:192
    ds_read_b32 v6, v1
    v_mov_b32_e32 v7, 0
    s_waitcnt lgkmcnt(0)
    global_store_dwordx4 v2, v[4:7], s[10:11]
  )");
  for (unsigned I = 0; I < 64; ++I) {
    EXPECT_EQ(Out[4 * I], In[I] + In[64 + I]);
    EXPECT_EQ(int32_t(Out[4 * I + 1]),
              std::min(int32_t(In[I]), int32_t(In[64 + I])));
    EXPECT_EQ(Out[4 * I + 2], In[64 + I]);
  }
}

TEST_F(Lds, ConditionalExchange) {
  L.GroupBytes = 512;
  EXPECT_RUNS(R"(
    v_lshlrev_b32_e32 v3, 3, v0
    global_load_dwordx2 v[4:5], v3, s[8:9]
    global_load_dwordx2 v[6:7], v3, s[8:9] offset:512
    s_waitcnt vmcnt(0)
    ds_write_b64 v3, v[4:5]
    ds_condxchg32_rtn_b64 v[8:9], v3, v[6:7]
    ds_read_b64 v[10:11], v3
    s_waitcnt lgkmcnt(0)
    global_store_dwordx4 v2, v[8:11], s[10:11]
  )");
  for (unsigned I = 0; I < 64; ++I)
    for (unsigned D = 0; D < 2; ++D) {
      const uint32_t Old = In[2 * I + D], Data = In[128 + 2 * I + D];
      EXPECT_EQ(Out[4 * I + D], Old);
      EXPECT_EQ(Out[4 * I + 2 + D], Data >> 31 ? Data - 0x80000000 : Old);
    }
}

TEST_F(Lds, PermuteBothWays) {
  // Lane l gives to / takes from lane (l * 5 + 3) % 64; odd lanes are off.
  EXPECT_RUNS(R"(
    global_load_dword v4, v1, s[8:9]
    v_mul_u32_u24_e32 v5, 5, v0
    v_add_u32_e32 v5, 3, v5
    v_lshlrev_b32_e32 v5, 2, v5
    v_mov_b32_e32 v8, -1
    v_mov_b32_e32 v9, -1
    s_waitcnt vmcnt(0)
    ds_bpermute_b32 v6, v5, v4
    ds_permute_b32 v7, v5, v4
    s_mov_b64 s[12:13], exec
    s_mov_b32 exec_lo, 0x55555555
    s_mov_b32 exec_hi, 0x55555555
    ds_bpermute_b32 v8, v5, v4
    s_mov_b64 exec, s[12:13]
    s_waitcnt lgkmcnt(0)
    global_store_dwordx4 v2, v[6:9], s[10:11]
  )");
  for (unsigned I = 0; I < 64; ++I) {
    unsigned Other = (5 * I + 3) % 64;
    EXPECT_EQ(Out[4 * I], In[Other]);
    EXPECT_EQ(Out[4 * Other + 1], In[I]);
    // Sources of even lanes are odd ones, which are inactive.
    EXPECT_EQ(Out[4 * I + 2], I & 1 ? ~0u : 0u);
  }
}

TEST_F(Lds, AppendConsume) {
  EXPECT_RUNS(R"(
    v_mov_b32_e32 v3, 0
    v_mov_b32_e32 v4, 10
    ds_write_b32 v3, v4 offset:20
    s_movk_i32 m0, 16
    s_mov_b64 s[12:13], exec
    s_mov_b64 exec, 7
    ds_append v5 offset:4
    s_mov_b64 exec, s[12:13]
    ds_consume v6 offset:4
    ds_read_b32 v7, v3 offset:20
    s_mov_b64 exec, 1
    s_waitcnt lgkmcnt(0)
    global_store_dwordx3 v3, v[5:7], s[10:11]
  )");
  EXPECT_EQ(Out[0], 10u);
  EXPECT_EQ(Out[1], 13u);
  EXPECT_EQ(Out[2], 13u - 64);
}

} // namespace
