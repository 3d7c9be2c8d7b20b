// Several dispatches on one device: that they run at the same time, that waves
// of one see what those of another write, what they do to each other's modelled
// time, and that a fault or a cancellation ends one and not the others.
#include "LaneFixture.h"

#include <atomic>
#include <functional>
#include <thread>

using namespace vgpu;
using namespace vgpu::test;

namespace {

/// In (s[8:9]) holds flags; each kernel sets its own and waits for the other's.
std::string meet(unsigned Own, unsigned Other) {
  return R"(
    v_mov_b32_e32 v3, 0
    v_mov_b32_e32 v4, 1
    global_store_dword v3, v4, s[8:9] offset:)" + std::to_string(4 * Own) + R"(
  wait:
    s_sleep 1
    global_load_dword v5, v3, s[8:9] offset:)" + std::to_string(4 * Other) + R"( glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s12, v5
    s_cmp_eq_u32 s12, 1
    s_cbranch_scc0 wait
    global_store_dword v3, v4, s[10:11] offset:)" + std::to_string(4 * Own) + "\n";
}

class Concurrency : public LaneFixture {
protected:
  /// As runs(), but from any thread: the kernel comes ready-made.
  std::unique_ptr<TestKernel> kernel(const std::string &Body) {
    auto K = std::make_unique<TestKernel>(
        Memory,
        "s_load_dwordx4 s[8:11], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n" + Body,
        std::vector<std::string>{"next_free_vgpr 32", "next_free_sgpr 64"});
    EXPECT_EQ(K->Error, "");
    return K;
  }
  /// A kernel that takes about 16 cycles a round on its own.
  std::unique_ptr<TestKernel> rounds(unsigned Count) {
    return kernel("s_movk_i32 s12, " + std::to_string(Count) + R"(
      next:
        s_sub_u32 s12, s12, 1
        s_cmp_lg_u32 s12, 0
        s_cbranch_scc1 next
    )");
  }
  struct Runner {
    hsa_kernel_dispatch_packet_t Packet = {};
    DispatchArgs Args;
    DispatchResult Result;
    std::thread Thread;
  };
  void prepare(Runner &R, const TestKernel &K, unsigned Groups = 1) {
    R.Packet.setup = 1;
    R.Packet.workgroup_size_x = 64;
    R.Packet.workgroup_size_y = R.Packet.workgroup_size_z = 1;
    R.Packet.grid_size_x = 64 * Groups;
    R.Packet.grid_size_y = R.Packet.grid_size_z = 1;
    R.Packet.kernel_object = K.object();
    R.Packet.kernarg_address = L.Kernarg;
    R.Args.Packet = &R.Packet;
    // Packets are in memory that the test allocated only if a kernel reads them.
    R.Args.KernelName = [](uint64_t) { return std::string("kernel"); };
  }
  void run(Runner &R) {
    R.Thread = std::thread([this, &R] { R.Result = D->run(R.Args); });
  }
  std::atomic<uint32_t> &flag(unsigned I) { return reinterpret_cast<std::atomic<uint32_t> &>(In[I]); }
  void waitForFlag(unsigned I) {
    while (flag(I) != 1)
      std::this_thread::yield();
  }
};

TEST_F(Concurrency, KernelsThatWaitForEachOtherEnd) {
  In[0] = In[1] = 0;
  auto A = kernel(meet(0, 1)), B = kernel(meet(1, 0));
  Runner RunA, RunB;
  prepare(RunA, *A);
  prepare(RunB, *B);
  run(RunA);
  waitForFlag(0);
  run(RunB);
  RunA.Thread.join();
  RunB.Thread.join();
  EXPECT_EQ(RunA.Result.Status, DispatchStatus::Completed);
  EXPECT_EQ(RunB.Result.Status, DispatchStatus::Completed);
  EXPECT_EQ(Out[0], 1u);
  EXPECT_EQ(Out[1], 1u);
  // They overlap in modelled time too.
  EXPECT_LT(RunB.Result.StartTick, RunA.Result.EndTick);
  EXPECT_LE(RunA.Result.StartTick, RunB.Result.StartTick);
}

TEST_F(Concurrency, AKernelEndsWhenTheHostSetsItsFlag) {
  In[0] = In[1] = 0;
  auto A = kernel(meet(0, 1));
  Runner RunA;
  prepare(RunA, *A, 200);
  run(RunA);
  waitForFlag(0);
  flag(1) = 1;
  RunA.Thread.join();
  EXPECT_EQ(RunA.Result.Status, DispatchStatus::Completed);
}

/// Begins are not before the host came, ends not after it was told, on the host's
/// clock: for a kernel that keeps pace with it by sleeping and would run ahead, and
/// for one that takes a thousand times longer to run than it takes in modelled time.
TEST_F(Concurrency, CauseComesBeforeEffect) {
  In[0] = In[1] = 0;
  auto Sleeper = kernel(meet(0, 1)), Slow = rounds(400), Short = rounds(1);
  for (bool Sleeps : {true, false}) {
    Runner RunA, RunB;
    prepare(RunA, Sleeps ? *Sleeper : *Slow, Sleeps ? 1 : 4800);
    prepare(RunB, *Short);
    const uint64_t BeforeA = D->realTimeNow();
    run(RunA);
    if (Sleeps)
      waitForFlag(0);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const uint64_t BeforeB = D->realTimeNow();
    RunB.Result = D->run(RunB.Args);
    const uint64_t AfterB = D->realTimeNow();
    flag(1) = 1;
    RunA.Thread.join();
    const uint64_t AfterA = D->realTimeNow();
    EXPECT_LE(BeforeA, RunA.Result.StartTick);
    EXPECT_LE(RunA.Result.EndTick, AfterA);
    EXPECT_LE(BeforeB, RunB.Result.StartTick);
    EXPECT_LE(RunB.Result.EndTick, AfterB);
    if (Sleeps) { // The two meet in modelled time, too.
      EXPECT_LT(RunB.Result.StartTick, RunA.Result.EndTick);
    }
  }
}

/// A tick is reached by the device's clock when a kernel that begins then reads it,
/// also where it is no whole number of cycles.
TEST(Ticks, ClocksAgree) {
  for (const char *Target : {"gfx906", "gfx90a", "gfx1030"}) {
    DeviceConfig Config;
    ASSERT_TRUE(DeviceConfig::forTarget(Target, Config));
    for (uint64_t Tick = 1000; Tick < 1010; ++Tick)
      EXPECT_EQ(Tick, Config.ticksOf(Config.cyclesOf(Tick))) << Target;
  }
}

/// A queue that goes on at once continues where its last dispatch ended, however
/// long its thread takes to say so.
TEST_F(Concurrency, AHeldDeviceWaitsForTheNextDispatch) {
  In[0] = In[1] = 0;
  auto A = kernel(meet(0, 1)), B = rounds(1000);
  Runner RunA, RunB;
  std::atomic<bool> Held{false};
  prepare(RunA, *A);
  prepare(RunB, *B);
  RunB.Args.Held = &Held;
  run(RunA);
  waitForFlag(0);
  for (unsigned I = 0; I < 5; ++I) {
    const DispatchResult Before = RunB.Result;
    RunB.Args.ReadyTick = Before.EndTick;
    RunB.Result = D->run(RunB.Args);
    EXPECT_TRUE(Held);
    if (I) {
      EXPECT_EQ(RunB.Result.StartTick, Before.EndTick);
      EXPECT_EQ(RunB.Result.Cycles, Before.Cycles) << "nothing else on its compute unit";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  flag(1) = 1;
  Held = false;
  D->release();
  RunA.Thread.join();
  EXPECT_EQ(RunA.Result.Status, DispatchStatus::Completed);
}

/// Two kernels that each fill the device take about as long together as one
/// after the other; two small ones take as long as one.
TEST_F(Concurrency, TheyShareComputeUnits) {
  auto Alone = [&](unsigned Groups) {
    auto K = rounds(3000);
    Runner R;
    prepare(R, *K, Groups);
    return D->run(R.Args).Cycles;
  };
  auto Together = [&](unsigned Groups) {
    // A third kernel keeps modelled time from passing until both have come.
    In[0] = In[1] = 0;
    auto Gate = kernel(meet(0, 1)), K = rounds(3000);
    Runner RunGate, One, Two;
    prepare(RunGate, *Gate);
    prepare(One, *K, Groups);
    prepare(Two, *K, Groups);
    run(RunGate);
    waitForFlag(0);
    D->hold();
    One.Args.ReadyTick = Two.Args.ReadyTick = D->realTimeNow();
    run(One);
    run(Two);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    D->release();
    One.Thread.join();
    Two.Thread.join();
    flag(1) = 1;
    RunGate.Thread.join();
    return std::max(One.Result.EndTick, Two.Result.EndTick) -
           std::min(One.Result.StartTick, Two.Result.StartTick);
  };
  const uint64_t CyclesPerTick = Config.EngineMHz / Config.RealTimeMHz;
  const unsigned Slots = Config.ComputeUnits * Config.SimdsPerCu * Config.WavesPerSimd;
  EXPECT_LT(Together(4) * CyclesPerTick, Alone(4) * 3 / 2);
  EXPECT_GT(Together(Slots) * CyclesPerTick, Alone(Slots) * 7 / 4);
}

TEST_F(Concurrency, AFaultEndsOneOnly) {
  In[0] = In[1] = 0;
  auto A = kernel(meet(0, 1)), B = kernel("s_trap 2");
  Runner RunA, RunB;
  prepare(RunA, *A, 50);
  prepare(RunB, *B, 5000);
  run(RunA);
  waitForFlag(0);
  RunB.Result = D->run(RunB.Args);
  EXPECT_EQ(RunB.Result.Status, DispatchStatus::Faulted);
  EXPECT_EQ(RunB.Result.Fault.Cause, FaultCause::Trap);
  flag(1) = 1;
  RunA.Thread.join();
  EXPECT_EQ(RunA.Result.Status, DispatchStatus::Completed);
  // What the other one held is free again: it runs as if nothing had been.
  auto C = rounds(100);
  Runner RunC;
  prepare(RunC, *C, 5000);
  EXPECT_EQ(D->run(RunC.Args).Status, DispatchStatus::Completed);
}

TEST_F(Concurrency, CancelEndsOneOnly) {
  In[0] = In[1] = 0;
  auto A = kernel(meet(0, 1)), B = kernel(meet(2, 3));
  In[2] = In[3] = 0;
  Runner RunA, RunB;
  std::atomic<bool> Cancel{false};
  prepare(RunA, *A);
  prepare(RunB, *B);
  RunB.Args.Cancel = &Cancel;
  run(RunA);
  run(RunB);
  waitForFlag(0);
  waitForFlag(2);
  Cancel = true;
  RunB.Thread.join();
  EXPECT_EQ(RunB.Result.Fault.Cause, FaultCause::Cancelled);
  flag(1) = 1;
  RunA.Thread.join();
  EXPECT_EQ(RunA.Result.Status, DispatchStatus::Completed);
}

/// Each counts what its own waves did.
TEST_F(Concurrency, ManyThreadsManyKernels) {
  auto K = kernel(R"(
    v_mov_b32_e32 v3, 0
    v_mov_b32_e32 v4, 1
    global_atomic_add v3, v4, s[10:11]
  )");
  std::vector<std::thread> Threads;
  std::atomic<unsigned> Completed{0};
  for (unsigned T = 0; T < 8; ++T)
    Threads.emplace_back([&] {
      for (unsigned I = 0; I < 50; ++I) {
        Runner R;
        prepare(R, *K, 1 + I);
        Completed += D->run(R.Args).Status == DispatchStatus::Completed;
      }
    });
  for (std::thread &T : Threads)
    T.join();
  EXPECT_EQ(Completed, 400u);
  EXPECT_EQ(Out[0], 8u * 64u * 50u * 51u / 2u);
}

} // namespace
