// What a program does wrong is said: kind, lane, address, instruction.
#include "LaneFixture.h"

#include <cstdlib>

using namespace vgpu;
using namespace vgpu::test;

namespace {

class Faults : public LaneFixture {
protected:
  void fails(const std::string &Body, FaultCause Cause,
             const std::vector<std::string> &Options = {}) {
    EXPECT_FALSE(runs(Body, Options));
    EXPECT_EQ(Result.Status, DispatchStatus::Faulted);
    EXPECT_EQ(Result.Fault.Cause, Cause) << why();
  }
  /// A device that gives up after 20000 cycles.
  void limitCycles() {
    setenv("KPROBE_VGPU_MAX_CYCLES", "20000", 1);
    D = std::make_unique<Device>(Config, Memory);
    unsetenv("KPROBE_VGPU_MAX_CYCLES");
  }
  void says(const std::string &Part) {
    EXPECT_NE(why().find(Part), std::string::npos) << why();
  }
};

TEST_F(Faults, WildLoadNamesTheLane) {
  fails(R"(
    v_mov_b32_e32 v4, s8
    v_mov_b32_e32 v5, s9
    v_cmp_eq_u32_e32 vcc, 37, v0
    v_mov_b32_e32 v6, 0x1234
    v_cndmask_b32_e32 v5, v5, v6, vcc
    global_load_dword v7, v[4:5], off
    s_waitcnt vmcnt(0)
  )",
        FaultCause::Memory);
  EXPECT_EQ(Result.Fault.Lane, 37);
  EXPECT_EQ(Result.Fault.Address >> 32, 0x1234u);
  EXPECT_EQ(Result.Fault.QueueError, 0u);
  EXPECT_FALSE(Result.Fault.IsWrite);
  says("global_load_dword v7, v[4:5], off");
  says("kernel kernel, workgroup (0, 0, 0), wave 0, lane 37, work item (37, 0, 0)");
  says("registers: v[4:5] = " + std::string("0x1234"));
  says("exec = 0xffffffffffffffff, 64 of 64 lanes active");
}

TEST_F(Faults, CodeAroundIsShownFromTheEntryOn) {
  fails(R"(
    v_mov_b32_e32 v4, 1
    v_mov_b32_e32 v5, 0x12345678
    v_mov_b32_e32 v6, 3
    v_mov_b32_e32 v8, 4
    v_mov_b32_e32 v4, 0x40
    global_load_dword v7, v[4:5], off offset:8
    s_waitcnt vmcnt(0)
    v_mov_b32_e32 v10, 7
  )",
        FaultCause::Memory);
  // Four before, three behind: eight instructions, the second has a literal.
  says("code of kernel:\n   +0x18    v_mov_b32_e32 v5, 0x12345678\n");
  EXPECT_EQ(why().find("v_mov_b32_e32 v4, 1"), std::string::npos) << why();
  says("\n=> +0x2c    global_load_dword v7, v[4:5], off offset:8\n   +0x34    s_waitcnt vmcnt(0)\n");
  says("\n   +0x3c    s_endpgm\n");
  EXPECT_EQ(Result.Fault.KernelPc, 0x2cu);
  EXPECT_EQ(Result.Fault.Address, 0x1234567800000048u);
  says("registers: v[4:5] = 0x1234567800000040, offset 8; exec");
}

TEST_F(Faults, AddressFromScalarAndVector) {
  fails(R"(
    s_mov_b32 s10, 0x100
    s_mov_b32 s11, 0x77
    v_lshlrev_b32_e32 v1, 12, v0
    s_mov_b64 exec, 12
    global_store_dword v1, v0, s[10:11] offset:-16
  )",
        FaultCause::Memory);
  EXPECT_EQ(Result.Fault.Lane, 2);
  says("registers: v1 = 0x2000, s[10:11] = 0x7700000100, offset -16; "
       "exec = 0xc, 2 of 64 lanes active");
}

TEST_F(Faults, ScalarLoadNamesItsBase) {
  fails("s_mov_b32 s10, 0\ns_mov_b32 s11, 0x55\ns_load_dword s12, s[10:11], 0x20\n"
        "s_waitcnt lgkmcnt(0)",
        FaultCause::Memory);
  EXPECT_EQ(Result.Fault.Lane, -1);
  says("registers: s[10:11] = 0x5500000000, offset 32; exec");
}

TEST_F(Faults, InstructionFetch) {
  fails("s_mov_b32 s10, 0x1000\ns_mov_b32 s11, 0x55\ns_setpc_b64 s[10:11]", FaultCause::Memory);
  EXPECT_EQ(Result.Fault.Address, 0x5500001000u);
  says("(instruction fetch)");
  EXPECT_EQ(why().find("v_cndmask"), std::string::npos) << why();
}

TEST_F(Faults, NullStore) {
  fails("v_mov_b32_e32 v4, 0\nv_mov_b32_e32 v5, 0\nglobal_store_dword v[4:5], "
        "v0, off",
        FaultCause::Memory);
  EXPECT_TRUE(Result.Fault.IsWrite);
  says("null pointer");
}

TEST_F(Faults, InactiveLanesMayHoldAnything) {
  EXPECT_RUNS(R"(
    v_mov_b32_e32 v4, 0
    v_mov_b32_e32 v5, 0
    s_mov_b64 exec, 0
    global_load_dword v6, v[4:5], off
    ds_read_b32 v6, v1
    s_waitcnt vmcnt(0) lgkmcnt(0)
  )");
}

TEST_F(Faults, ReadOnlyMemory) {
  void *ReadOnly = Memory.allocate(4096, false);
  static_cast<void **>(L.Kernarg)[1] = ReadOnly;
  fails("global_store_dword v1, v0, s[10:11]", FaultCause::Memory);
  says("read-only");
}

TEST_F(Faults, FreedMemory) {
  EXPECT_RUNS("global_store_dword v1, v0, s[10:11]");
  Memory.forget(Out);
  fails("global_store_dword v1, v0, s[10:11]", FaultCause::Memory);
}

TEST_F(Faults, LdsOutOfRange) {
  L.GroupBytes = 128;
  fails("ds_write_b32 v1, v0", FaultCause::LocalMemory);
  EXPECT_EQ(Result.Fault.Lane, 32);
  EXPECT_EQ(Result.Fault.QueueError, 0x20000000u);
  says("the workgroup has 128");
  says("registers: v1 = 0x80; exec");
}

TEST_F(Faults, MisalignedAtomic) {
  fails("v_or_b32_e32 v1, 2, v1\nglobal_atomic_add v1, v0, s[10:11]",
        FaultCause::Misaligned);
  EXPECT_EQ(Result.Fault.QueueError, 0x20000000u);
}

TEST_F(Faults, UnknownInstructionIsNamed) {
  fails("ds_gws_barrier v0 gds", FaultCause::IllegalInstruction);
  says("ds_gws_barrier");
  fails(".long 0xbfff0000", FaultCause::IllegalInstruction);
  says("bfff0000");
}

TEST_F(Faults, TrapTwo) {
  fails("s_trap 2", FaultCause::Trap);
  EXPECT_EQ(Result.Fault.QueueError, 0x80000000u);
  EXPECT_RUNS("s_trap 3");
}

TEST_F(Faults, EndlessLoopHitsTheLimit) {
  limitCycles();
  fails("loop:\ns_nop 0\ns_branch loop", FaultCause::CycleLimit);
  says("1 wave of this workgroup at entry + 0x");
}

// Wave 0 waits at a barrier for wave 1, which waits for ever for something else.
TEST_F(Faults, LimitTellsWhoWaitsAtABarrier) {
  limitCycles();
  L.Group[0] = 192;
  L.Grid[0] = 384;
  fails(R"(
    v_cmp_gt_u32_e32 vcc, 64, v0
    s_and_b64 vcc, vcc, exec
    s_cbranch_vccz wait
loop:
    s_sleep 1
    s_branch loop
wait:
    s_barrier
  )",
        FaultCause::CycleLimit);
  says("2 waves of this workgroup waiting at the barrier at entry + 0x28");
  says("2 waves of other workgroups waiting at the barrier at entry + 0x28");
}

// 2^32 and 2^64 would be none if they were counted in too few bits.
TEST_F(Faults, GridsAreNotCutToThirtyTwoBits) {
  limitCycles();
  L.Group[0] = 1;
  L.Grid[0] = L.Grid[1] = 1u << 16;
  fails("", FaultCause::CycleLimit);
  L.Grid[0] = L.Grid[1] = 1u << 31;
  L.Grid[2] = 4;
  fails("", FaultCause::InvalidPacket);
  says("grid has 2^64 workgroups or more");
}

TEST_F(Faults, CancelEndsADispatch) {
  std::atomic<bool> Cancel{true};
  TestKernel K(Memory, "loop:\ns_sleep 10\ns_branch loop");
  ASSERT_EQ(K.Error, "");
  auto *Packet = Memory.array<hsa_kernel_dispatch_packet_t>(1);
  Packet->setup = 1;
  Packet->workgroup_size_x = Packet->workgroup_size_y =
      Packet->workgroup_size_z = 1;
  Packet->grid_size_x = Packet->grid_size_y = Packet->grid_size_z = 1;
  Packet->kernel_object = K.object();
  DispatchArgs Args;
  Args.Packet = Packet;
  Args.Cancel = &Cancel;
  EXPECT_EQ(D->run(Args).Fault.Cause, FaultCause::Cancelled);
}

} // namespace
