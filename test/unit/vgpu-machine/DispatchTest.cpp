// From packet to memory: grids, partial groups and waves, initial registers.
#include "Harness.h"

#include <cstring>
#include <gtest/gtest.h>
#include <set>

using namespace vgpu;
using namespace vgpu::test;

namespace {

struct Machine906 : testing::Test {
  TestMemory Memory;
  DeviceConfig Config;
  std::unique_ptr<Device> D;
  void SetUp() override {
    ASSERT_TRUE(DeviceConfig::forTarget("gfx906", Config));
    D = std::make_unique<Device>(Config, Memory);
  }
  DispatchResult run(const TestKernel &K, const Launch &L) {
    EXPECT_EQ(K.Error, "");
    return launch(*D, Memory, K, L);
  }
};

using Dispatch = Machine906;

TEST_F(Dispatch, VectorAdd) {
  constexpr unsigned N = 1000; // The last wave is partial.
  float *A = Memory.array<float>(N), *B = Memory.array<float>(N),
        *C = Memory.array<float>(N + 24);
  for (unsigned I = 0; I < N; ++I) {
    A[I] = float(I) * 0.5f;
    B[I] = float(I * I);
  }
  for (unsigned I = N; I < N + 24; ++I)
    C[I] = -1;
  void **Kernarg = Memory.array<void *>(3);
  Kernarg[0] = A;
  Kernarg[1] = B;
  Kernarg[2] = C;
  TestKernel K(Memory, R"(
    s_load_dwordx4 s[8:11], s[0:1], 0x0
    s_load_dwordx2 s[12:13], s[0:1], 0x10
    s_lshl_b32 s2, s2, 8
    v_add_u32_e32 v0, s2, v0
    v_lshlrev_b32_e32 v0, 2, v0
    s_waitcnt lgkmcnt(0)
    global_load_dword v1, v0, s[8:9]
    global_load_dword v2, v0, s[10:11]
    s_waitcnt vmcnt(0)
    v_add_f32_e32 v1, v1, v2
    global_store_dword v0, v1, s[12:13]
  )");
  Launch L;
  L.Grid[0] = N;
  L.Group[0] = 256;
  L.Kernarg = Kernarg;
  DispatchResult R = run(K, L);
  ASSERT_EQ(R.Status, DispatchStatus::Completed) << text(R.Fault);
  for (unsigned I = 0; I < N; ++I)
    ASSERT_EQ(C[I], A[I] + B[I]) << I;
  for (unsigned I = N; I < N + 24; ++I)
    ASSERT_EQ(C[I], -1.0f) << "written beyond the grid at " << I;
  EXPECT_GT(R.Cycles, 500u);
  EXPECT_GT(R.EndTick, R.StartTick);
}

/// Every work item of a 3-D grid with partial groups in all directions stores
/// its ids once.
TEST_F(Dispatch, ThreeDimensionsPartial) {
  const uint32_t Grid[3] = {13, 7, 5};
  uint32_t *Out = Memory.array<uint32_t>(4 * 13 * 7 * 5 + 64);
  void **Kernarg = Memory.array<void *>(1);
  Kernarg[0] = Out;
  // Group 4 x 3 x 2; index = (z * 7 + y) * 13 + x of the absolute position.
  TestKernel K(Memory, R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    s_lshl_b32 s5, s2, 2
    s_mul_i32 s6, s3, 3
    s_lshl_b32 s7, s4, 1
    v_add_u32_e32 v3, s5, v0
    v_add_u32_e32 v4, s6, v1
    v_add_u32_e32 v5, s7, v2
    v_mul_u32_u24_e32 v6, 7, v5
    v_add_u32_e32 v6, v6, v4
    v_mul_u32_u24_e32 v6, 13, v6
    v_add_u32_e32 v6, v6, v3
    v_lshlrev_b32_e32 v6, 2, v6
    v_lshlrev_b32_e32 v7, 8, v4
    v_or_b32_e32 v7, v7, v3
    v_lshlrev_b32_e32 v8, 16, v5
    v_or_b32_e32 v7, v7, v8
    v_mov_b32_e32 v9, 0x1000000
    s_waitcnt lgkmcnt(0)
    global_atomic_add v6, v9, s[8:9]
    global_atomic_add v6, v7, s[8:9]
  )",
               {"system_sgpr_workgroup_id_y 1", "system_sgpr_workgroup_id_z 1",
                "system_vgpr_workitem_id 2"});
  Launch L;
  for (unsigned I = 0; I < 3; ++I)
    L.Grid[I] = Grid[I];
  L.Group[0] = 4;
  L.Group[1] = 3;
  L.Group[2] = 2;
  L.Kernarg = Kernarg;
  DispatchResult R = run(K, L);
  ASSERT_EQ(R.Status, DispatchStatus::Completed) << text(R.Fault);
  for (unsigned Z = 0; Z < 5; ++Z)
    for (unsigned Y = 0; Y < 7; ++Y)
      for (unsigned X = 0; X < 13; ++X)
        ASSERT_EQ(Out[(Z * 7 + Y) * 13 + X],
                  0x1000000u + (Z << 16 | Y << 8 | X));
}

TEST_F(Dispatch, InitialScalarRegisters) {
  uint32_t *Out = Memory.array<uint32_t>(64);
  void **Kernarg = Memory.array<void *>(1);
  Kernarg[0] = Out;
  amd_queue_t *Queue = Memory.array<amd_queue_t>(1);
  // dispatch ptr s0-1, queue ptr s2-3, kernarg s4-5, dispatch id s6-7, x s8, y
  // s9, z s10, info s11.
  TestKernel K(Memory, R"(
    s_load_dwordx2 s[20:21], s[4:5], 0x0
    v_mov_b32_e32 v1, 0
    s_waitcnt lgkmcnt(0)
    v_mov_b32_e32 v2, s0
    global_store_dword v1, v2, s[20:21] offset:0
    v_mov_b32_e32 v2, s2
    global_store_dword v1, v2, s[20:21] offset:4
    v_mov_b32_e32 v2, s8
    global_store_dword v1, v2, s[20:21] offset:8
    v_mov_b32_e32 v2, s9
    global_store_dword v1, v2, s[20:21] offset:12
    v_mov_b32_e32 v2, s10
    global_store_dword v1, v2, s[20:21] offset:16
    v_mov_b32_e32 v2, s11
    global_store_dword v1, v2, s[20:21] offset:20
    s_load_dword s22, s[0:1], 0xc
    s_waitcnt lgkmcnt(0)
    v_mov_b32_e32 v2, s22
    global_store_dword v1, v2, s[20:21] offset:24
    s_getreg_b32 s23, hwreg(HW_REG_SH_MEM_BASES)
    v_mov_b32_e32 v2, s23
    global_store_dword v1, v2, s[20:21] offset:28
  )",
               {"user_sgpr_dispatch_ptr 1", "user_sgpr_queue_ptr 1",
                "user_sgpr_dispatch_id 1", "system_sgpr_workgroup_id_y 1",
                "system_sgpr_workgroup_id_z 1",
                "system_sgpr_workgroup_info 1"});
  Launch L;
  L.Grid[0] = 64;
  L.Kernarg = Kernarg;
  L.Queue = Queue;
  DispatchResult R = run(K, L);
  ASSERT_EQ(R.Status, DispatchStatus::Completed) << text(R.Fault);
  EXPECT_NE(Out[0], 0u);
  EXPECT_EQ(Out[1], uint32_t(reinterpret_cast<uint64_t>(Queue)));
  EXPECT_EQ(Out[2], 0u);
  EXPECT_EQ(Out[5], 0x80000001u) << "first wave of one";
  EXPECT_EQ(Out[6], 64u) << "grid_size_x through the dispatch pointer";
  EXPECT_EQ(Out[7], 0x00010002u);
}

TEST_F(Dispatch, TwoRunsTakeEqualCycles) {
  uint32_t *Out = Memory.array<uint32_t>(4096);
  void **Kernarg = Memory.array<void *>(1);
  Kernarg[0] = Out;
  TestKernel K(Memory, R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    s_lshl_b32 s2, s2, 6
    v_add_u32_e32 v0, s2, v0
    v_lshlrev_b32_e32 v0, 2, v0
    s_movk_i32 s10, 20
    s_waitcnt lgkmcnt(0)
  loop:
    global_load_dword v1, v0, s[8:9]
    s_waitcnt vmcnt(0)
    v_add_u32_e32 v1, 1, v1
    global_store_dword v0, v1, s[8:9]
    s_sub_u32 s10, s10, 1
    s_cmp_lg_u32 s10, 0
    s_cbranch_scc1 loop
  )");
  Launch L;
  L.Grid[0] = 4096;
  L.Kernarg = Kernarg;
  DispatchResult First = run(K, L);
  ASSERT_EQ(First.Status, DispatchStatus::Completed) << text(First.Fault);
  Device Other(Config, Memory);
  DispatchResult Second = launch(Other, Memory, K, L);
  EXPECT_EQ(First.Cycles, Second.Cycles);
  for (unsigned I = 0; I < 4096; ++I)
    ASSERT_EQ(Out[I], 40u);
}

TEST_F(Dispatch, RefusesWhatCannotBeLaunched) {
  TestKernel K(Memory, "s_nop 0");
  Launch L;
  L.Group[0] = 1024;
  L.Group[1] = 2;
  EXPECT_EQ(run(K, L).Fault.QueueError, 64u);
  L = Launch();
  L.GroupBytes = 65 * 1024;
  EXPECT_EQ(run(K, L).Fault.QueueError, 4u);
  L = Launch();
  L.Grid[1] = 0;
  EXPECT_EQ(run(K, L).Fault.QueueError, 2u);
}

} // namespace
