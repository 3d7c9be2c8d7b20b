// FLAT, GLOBAL and MUBUF loads and stores against plain host memory.
#include "LaneFixture.h"

#include <cstring>

using namespace vgpu;
using namespace vgpu::test;

namespace {

using VectorMemory = LaneFixture;

template <typename T> T at(const void *Base, size_t Offset) {
  T Value;
  std::memcpy(&Value, static_cast<const char *>(Base) + Offset, sizeof Value);
  return Value;
}

TEST_F(VectorMemory, NarrowLoads) {
  // Byte address lane * 4 + 3 or + 2: sign bits differ between lanes.
  EXPECT_RUNS(R"(
    global_load_ubyte v4, v1, s[8:9] offset:3
    global_load_sbyte v5, v1, s[8:9] offset:3
    global_load_ushort v6, v1, s[8:9] offset:2
    global_load_sshort v7, v1, s[8:9] offset:2
    s_waitcnt vmcnt(0)
    global_store_dwordx4 v2, v[4:7], s[10:11]
  )");
  for (unsigned I = 0; I < 64; ++I) {
    EXPECT_EQ(Out[4 * I], at<uint8_t>(In, 4 * I + 3));
    EXPECT_EQ(int32_t(Out[4 * I + 1]), at<int8_t>(In, 4 * I + 3));
    EXPECT_EQ(Out[4 * I + 2], at<uint16_t>(In, 4 * I + 2));
    EXPECT_EQ(int32_t(Out[4 * I + 3]), at<int16_t>(In, 4 * I + 2));
  }
}

TEST_F(VectorMemory, D16KeepsTheOtherHalf) {
  EXPECT_RUNS(R"(
    v_mov_b32_e32 v4, 0xaaaabbbb
    v_mov_b32_e32 v5, 0xaaaabbbb
    v_mov_b32_e32 v6, 0xaaaabbbb
    v_mov_b32_e32 v7, 0xaaaabbbb
    global_load_short_d16 v4, v1, s[8:9]
    global_load_short_d16_hi v5, v1, s[8:9]
    global_load_sbyte_d16 v6, v1, s[8:9] offset:1
    global_load_ubyte_d16_hi v7, v1, s[8:9] offset:1
    s_waitcnt vmcnt(0)
    global_store_dwordx4 v2, v[4:7], s[10:11]
  )");
  for (unsigned I = 0; I < 64; ++I) {
    uint32_t Half = at<uint16_t>(In, 4 * I);
    EXPECT_EQ(Out[4 * I], 0xaaaa0000u | Half);
    EXPECT_EQ(Out[4 * I + 1], Half << 16 | 0xbbbb);
    EXPECT_EQ(Out[4 * I + 2],
              0xaaaa0000u | uint16_t(int16_t(at<int8_t>(In, 4 * I + 1))));
    EXPECT_EQ(Out[4 * I + 3],
              uint32_t(at<uint8_t>(In, 4 * I + 1)) << 16 | 0xbbbb);
  }
}

TEST_F(VectorMemory, WideAndUnaligned) {
  // Base + 1: dword loads at odd addresses work on this target under HSA.
  EXPECT_RUNS(R"(
    v_lshlrev_b32_e32 v3, 5, v0
    global_load_dwordx4 v[4:7], v3, s[8:9] offset:1
    global_load_dwordx3 v[8:10], v3, s[8:9] offset:20
    s_mov_b64 s[12:13], exec
    s_mov_b64 exec, -2
    global_load_dwordx2 v[12:13], v3, s[8:9] offset:-8
    s_mov_b64 exec, s[12:13]
    s_waitcnt vmcnt(0)
    v_lshlrev_b32_e32 v3, 6, v0
    global_store_dwordx4 v3, v[4:7], s[10:11]
    global_store_dwordx3 v3, v[8:10], s[10:11] offset:16
    s_mov_b64 exec, -2
    global_store_dwordx2 v3, v[12:13], s[10:11] offset:32
    s_mov_b64 exec, s[12:13]
  )");
  for (unsigned I = 0; I < 64; ++I) {
    EXPECT_EQ(std::memcmp(Out + 16 * I,
                          reinterpret_cast<char *>(In) + 32 * I + 1, 16),
              0)
        << I;
    EXPECT_EQ(std::memcmp(Out + 16 * I + 4, In + 8 * I + 5, 12), 0) << I;
    if (I) {
      EXPECT_EQ(std::memcmp(Out + 16 * I + 8, In + 8 * I - 2, 8), 0) << I;
    }
  }
  EXPECT_EQ(Out[8], 0u) << "lane 0 was not active";
}

TEST_F(VectorMemory, NarrowStoresAndPartialExec) {
  std::memset(Out, 0xff, 1024);
  EXPECT_RUNS(R"(
    global_load_dword v4, v1, s[8:9]
    s_waitcnt vmcnt(0)
    s_mov_b32 exec_lo, 0x55555555
    s_mov_b32 exec_hi, 0xf0000001
    global_store_byte v1, v4, s[10:11]
    global_store_byte_d16_hi v1, v4, s[10:11] offset:1
    global_store_short_d16_hi v1, v4, s[10:11] offset:2
  )");
  uint64_t Exec = 0xf000000155555555;
  for (unsigned I = 0; I < 64; ++I) {
    uint32_t V = In[I];
    uint32_t Expected =
        Exec >> I & 1 ? (V & 0xff) | (V >> 16 & 0xff) << 8 | (V & 0xffff0000)
                      : 0xffffffff;
    EXPECT_EQ(Out[I], Expected) << I;
  }
}

/// All lanes on one address: loads broadcast, of stores the highest lane wins.
TEST_F(VectorMemory, OneAddressForAllLanes) {
  EXPECT_RUNS(R"(
    v_mov_b32_e32 v3, 16
    global_load_dwordx2 v[4:5], v3, s[8:9]
    v_mov_b32_e32 v8, 0x1000
    s_mov_b32 exec_lo, 0xfff
    s_mov_b32 exec_hi, 0
    global_store_dword v8, v0, s[10:11]
    global_store_byte v8, v0, s[10:11] offset:5
    s_mov_b64 exec, -1
    s_waitcnt vmcnt(0)
    v_lshlrev_b32_e32 v3, 3, v0
    global_store_dwordx2 v3, v[4:5], s[10:11]
  )");
  for (unsigned I = 0; I < 64; ++I) {
    EXPECT_EQ(Out[2 * I], In[4]);
    EXPECT_EQ(Out[2 * I + 1], In[5]);
  }
  EXPECT_EQ(Out[1024], 11u);
  EXPECT_EQ(Out[1025], 11u << 8);
}

TEST_F(VectorMemory, FlatReachesLdsScratchAndGlobal) {
  // Lane 0..: addresses into LDS for odd lanes and global for even ones.
  L.GroupBytes = 1024;
  EXPECT_RUNS(R"(
    v_mov_b32_e32 v4, s8
    v_mov_b32_e32 v5, s9
    v_add_co_u32_e32 v4, vcc, v4, v1
    v_addc_co_u32_e32 v5, vcc, 0, v5, vcc
    v_add_u32_e32 v6, 0x1000, v0
    v_mov_b32_e32 v7, v1
    ds_write_b32 v7, v6
    s_getreg_b32 s12, hwreg(HW_REG_SH_MEM_BASES, 16, 16)
    s_lshl_b32 s12, s12, 16
    v_and_b32_e32 v8, 1, v0
    v_cmp_eq_u32_e32 vcc, 1, v8
    v_mov_b32_e32 v9, s12
    v_cndmask_b32_e32 v4, v4, v7, vcc
    v_cndmask_b32_e32 v5, v5, v9, vcc
    s_waitcnt lgkmcnt(0)
    flat_load_dword v10, v[4:5]
    s_waitcnt vmcnt(0) lgkmcnt(0)
    global_store_dword v1, v10, s[10:11]
  )");
  for (unsigned I = 0; I < 64; ++I)
    EXPECT_EQ(Out[I], I & 1 ? 0x1000 + I : In[I]) << I;
}

TEST_F(VectorMemory, BufferRangeAndIndex) {
  // num_records = 100 bytes: lanes from 25 on are outside.
  EXPECT_RUNS(R"(
    s_mov_b32 s12, s8
    s_and_b32 s13, s9, 0xffff
    s_movk_i32 s14, 100
    s_mov_b32 s15, 0x24fac
    v_mov_b32_e32 v4, -1
    buffer_load_dword v4, v1, s[12:15], 0 offen
    s_or_b32 s13, s13, 0x80000
    s_movk_i32 s14, 40
    s_movk_i32 s16, 4
    buffer_load_dword v5, v0, s[12:15], s16 idxen
    s_waitcnt vmcnt(0)
    v_lshlrev_b32_e32 v3, 3, v0
    global_store_dwordx2 v3, v[4:5], s[10:11]
  )");
  for (unsigned I = 0; I < 64; ++I) {
    EXPECT_EQ(Out[2 * I], I < 25 ? In[I] : 0) << I;
    EXPECT_EQ(Out[2 * I + 1], I < 40 ? In[2 * I + 1] : 0)
        << "stride 8, lane " << I;
  }
}

TEST_F(VectorMemory, BufferFormats) {
  // 8_8_8_8 unorm, all four components selected in order (x y z w = 4 5 6 7).
  EXPECT_RUNS(R"(
    s_mov_b32 s12, s8
    s_and_b32 s13, s9, 0xffff
    s_movk_i32 s14, 1024
    s_mov_b32 s15, 0x50fac
    buffer_load_format_xyzw v[4:7], v1, s[12:15], 0 offen
    s_waitcnt vmcnt(0)
    global_store_dwordx4 v2, v[4:7], s[10:11]
  )");
  for (unsigned I = 0; I < 64; ++I)
    for (unsigned C = 0; C < 4; ++C) {
      float Expected = float((In[I] >> 8 * C & 255) / 255.0);
      EXPECT_EQ(at<float>(Out, 16 * I + 4 * C), Expected) << I << " " << C;
    }
}

/// Scratch through MUBUF (as the compiler does, by negative numbers too) and through
/// the flat aperture is one memory.
TEST_F(VectorMemory, ScratchIsOneMemoryBothWays) {
  amd_queue_t *Queue = Memory.array<amd_queue_t>(1);
  L.Queue = Queue;
  L.PrivateBytes = 64;
  const char *Body = R"(
    s_add_u32 flat_scratch_lo, s6, s17
    s_addc_u32 flat_scratch_hi, s7, 0
    s_add_u32 s0, s0, s17
    s_addc_u32 s1, s1, 0
    s_load_dwordx4 s[8:11], s[4:5], 0x0
    v_lshlrev_b32_e32 v1, 2, v0
    v_add_u32_e32 v4, 0x100, v0
    v_add_u32_e32 v5, 0x200, v0
    buffer_store_dword v4, off, s[0:3], 0 offset:8
    v_mov_b32_e32 v6, -20
    buffer_store_dword v5, v6, s[0:3], 0 offen offset:32
    s_getreg_b32 s12, hwreg(HW_REG_SH_MEM_BASES, 0, 16)
    s_lshl_b32 s12, s12, 16
    v_mov_b32_e32 v8, 8
    v_mov_b32_e32 v9, s12
    s_waitcnt vmcnt(0)
    flat_load_dwordx2 v[10:11], v[8:9]
    s_waitcnt vmcnt(0) lgkmcnt(0)
    v_lshlrev_b32_e32 v3, 3, v0
    global_store_dwordx2 v3, v[10:11], s[10:11]
  )";
  TestKernel Plain(Memory, Body,
                   {"user_sgpr_private_segment_buffer 1",
                    "user_sgpr_flat_scratch_init 1",
                    "system_sgpr_private_segment_wavefront_offset 1",
                    "private_segment_fixed_size 64", "user_sgpr_count 16",
                    "next_free_sgpr 64"});
  ASSERT_EQ(Plain.Error, "");

  Result = launch(*D, Memory, Plain, L);
  ASSERT_EQ(Result.Status, DispatchStatus::NeedsScratch)
      << "the queue has no scratch yet";
  EXPECT_EQ(Result.ScratchPerLane, 64u);

  // As ROCr would answer: 8 waves of 64 lanes, 64 bytes each.
  char *Scratch = static_cast<char *>(Memory.allocate(8 * 4096));
  uint64_t Base = reinterpret_cast<uint64_t>(Scratch);
  Queue->scratch_backing_memory_location = Base;
  Queue->scratch_wave64_lane_byte_size = 64;
  Queue->compute_tmpring_size = 8 | 4 << 12;
  Queue->scratch_resource_descriptor[0] = uint32_t(Base);
  Queue->scratch_resource_descriptor[1] = uint32_t(Base >> 32) | 1u << 31;
  Queue->scratch_resource_descriptor[2] = 8 * 4096;
  Queue->scratch_resource_descriptor[3] = 0x00ea4fac;
  Result = launch(*D, Memory, Plain, L);
  ASSERT_EQ(Result.Status, DispatchStatus::Completed) << why();
  for (unsigned I = 0; I < 64; ++I) {
    EXPECT_EQ(Out[2 * I], 0x100 + I);
    EXPECT_EQ(Out[2 * I + 1], 0x200 + I);
  }
}

} // namespace
