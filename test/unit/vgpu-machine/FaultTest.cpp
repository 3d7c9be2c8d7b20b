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
  says("kernel kernel, workgroup (0, 0, 0), wave 0, lane 37");
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
  says("the workgroup has 128");
}

TEST_F(Faults, MisalignedAtomic) {
  fails("v_or_b32_e32 v1, 2, v1\nglobal_atomic_add v1, v0, s[10:11]",
        FaultCause::Misaligned);
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
  setenv("KPROBE_VGPU_MAX_CYCLES", "20000", 1);
  D = std::make_unique<Device>(Config, Memory);
  unsetenv("KPROBE_VGPU_MAX_CYCLES");
  fails("loop:\ns_nop 0\ns_branch loop", FaultCause::CycleLimit);
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
