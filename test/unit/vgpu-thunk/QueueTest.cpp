// The packet processor, with a device that only takes notes.
#include "thunk/Queue.h"
#include "thunk/Packets.h"

#include <gtest/gtest.h>

#include <hsa/amd_hsa_signal.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <vector>

using namespace vgpu;
using namespace std::chrono_literals;

namespace {

struct FakeDevice : PacketExecutor {
  std::mutex Lock;
  std::vector<uint64_t> Ran; ///< Kernel objects.
  std::vector<uint32_t> Events;
  std::vector<Fault> Faults;
  std::atomic<uint64_t> Clock{1000};
  std::function<DispatchResult(DispatchArgs &)> Behaviour;

  DispatchResult run(DispatchArgs &Args) override {
    {
      std::lock_guard<std::mutex> Guard(Lock);
      Ran.push_back(Args.Packet->kernel_object);
    }
    if (Behaviour)
      return Behaviour(Args);
    DispatchResult Result;
    Result.StartTick = Clock.fetch_add(10);
    Result.EndTick = Result.StartTick + 5;
    return Result;
  }
  uint64_t now() override { return Clock; }
  std::atomic<int> Holds{0}, Releases{0};
  void hold() override { ++Holds; }
  void release() override { ++Releases; }
  void signalChanged(uint32_t EventId) override {
    std::lock_guard<std::mutex> Guard(Lock);
    Events.push_back(EventId);
  }
  void report(const Fault &Problem) override {
    std::lock_guard<std::mutex> Guard(Lock);
    Faults.push_back(Problem);
  }
};

struct Packet {
  char Bytes[PacketBytes] = {};
};

struct QueueTest : testing::Test {
  static constexpr uint32_t Size = 16;
  alignas(64) Packet Ring[Size];
  amd_queue_t Descriptor;
  amd_signal_t Inactive, Done, Dependency;
  uint64_t Doorbell = ~uint64_t(0), Mailbox = 0;
  FakeDevice Gpu;
  std::unique_ptr<Queue> Tested;

  void SetUp() override {
    for (Packet &Each : Ring)
      Each.Bytes[0] = HSA_PACKET_TYPE_INVALID;
    std::memset(&Descriptor, 0, sizeof(Descriptor));
    for (amd_signal_t *Signal : {&Inactive, &Done, &Dependency})
      std::memset(Signal, 0, sizeof(*Signal));
    Descriptor.queue_inactive_signal = handle(Inactive);
    Queue::Config Setup;
    Setup.Id = 1;
    Setup.Ring = Ring;
    Setup.RingBytes = sizeof(Ring);
    Setup.Descriptor = &Descriptor;
    Setup.Doorbell = &Doorbell;
    Tested = std::make_unique<Queue>(Setup, Gpu);
  }
  void TearDown() override { Tested.reset(); }

  static hsa_signal_t handle(amd_signal_t &Signal) {
    return {reinterpret_cast<uint64_t>(&Signal)};
  }
  static int64_t value(amd_signal_t &Signal) {
    return __atomic_load_n(&Signal.value, __ATOMIC_ACQUIRE);
  }
  static void setValue(amd_signal_t &Signal, int64_t Value) {
    __atomic_store_n(&Signal.value, Value, __ATOMIC_RELEASE);
  }
  template <typename T> uint64_t write(T Body) {
    static_assert(sizeof(T) == PacketBytes, "");
    const uint64_t Index =
        __atomic_fetch_add(&Descriptor.write_dispatch_id, 1, __ATOMIC_ACQ_REL);
    char *Slot = Ring[Index % Size].Bytes;
    std::memcpy(Slot + 2, reinterpret_cast<char *>(&Body) + 2, PacketBytes - 2);
    uint16_t Header;
    std::memcpy(&Header, &Body, 2);
    __atomic_store_n(reinterpret_cast<uint16_t *>(Slot), Header,
                     __ATOMIC_RELEASE);
    return Index;
  }
  void ring(uint64_t Index) {
    __atomic_store_n(&Doorbell, Index, __ATOMIC_RELEASE);
    Tested->kick();
  }
  template <typename T> void submit(T Body) { ring(write(Body)); }
  static hsa_kernel_dispatch_packet_t kernel(uint64_t Object) {
    hsa_kernel_dispatch_packet_t Body = {};
    Body.header = HSA_PACKET_TYPE_KERNEL_DISPATCH;
    Body.kernel_object = Object;
    return Body;
  }
  template <typename Condition> static bool soon(Condition Met) {
    for (int I = 0; I < 5000; ++I) {
      if (Met())
        return true;
      std::this_thread::sleep_for(1ms);
    }
    return false;
  }
  uint64_t readIndex() {
    return __atomic_load_n(&Descriptor.read_dispatch_id, __ATOMIC_ACQUIRE);
  }
};

TEST_F(QueueTest, DispatchCompletesItsSignal) {
  setValue(Done, 1);
  Done.event_mailbox_ptr = reinterpret_cast<uint64_t>(&Mailbox);
  Done.event_id = 77;
  auto Body = kernel(0xabc0);
  Body.completion_signal = handle(Done);
  submit(Body);
  ASSERT_TRUE(soon([&] { return value(Done) == 0; }));
  EXPECT_EQ(1000u, Done.start_ts);
  EXPECT_EQ(1005u, Done.end_ts);
  EXPECT_EQ(1u, readIndex());
  EXPECT_EQ(HSA_PACKET_TYPE_INVALID, Ring[0].Bytes[0]);
  Tested.reset();
  EXPECT_EQ(77u, Mailbox);
  EXPECT_EQ(std::vector<uint32_t>{77}, Gpu.Events);
  EXPECT_EQ(std::vector<uint64_t>{0xabc0}, Gpu.Ran);
}

TEST_F(QueueTest, NothingRunsBeforeTheBell) {
  const uint64_t Index = write(kernel(1));
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(0u, readIndex());
  ring(Index);
  EXPECT_TRUE(soon([&] { return readIndex() == 1; }));
}

TEST_F(QueueTest, BellsOutOfOrderHideNoPacket) {
  const uint64_t First = write(kernel(1));
  const uint64_t Second = write(kernel(2));
  ring(Second);
  ring(First);
  EXPECT_TRUE(soon([&] { return readIndex() == 2; }));
}

TEST_F(QueueTest, PacketThatIsNotReadyIsWaitedFor) {
  // Reserved by one producer, who is slow; the next one rings.
  __atomic_fetch_add(&Descriptor.write_dispatch_id, 1, __ATOMIC_ACQ_REL);
  const uint64_t Second = write(kernel(2));
  ring(Second);
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(0u, readIndex());
  auto Body = kernel(1);
  std::memcpy(Ring[0].Bytes + 2, reinterpret_cast<char *>(&Body) + 2, 62);
  __atomic_store_n(reinterpret_cast<uint16_t *>(Ring[0].Bytes),
                   uint16_t(HSA_PACKET_TYPE_KERNEL_DISPATCH), __ATOMIC_RELEASE);
  ring(0);
  EXPECT_TRUE(soon([&] { return readIndex() == 2; }));
  Tested.reset();
  EXPECT_EQ((std::vector<uint64_t>{1, 2}), Gpu.Ran);
}

TEST_F(QueueTest, ScratchIsAskedForAndThePacketRunsAgain) {
  std::atomic<bool> Given{false};
  Gpu.Behaviour = [&](DispatchArgs &) {
    DispatchResult Result;
    if (!Given)
      Result.Status = DispatchStatus::NeedsScratch;
    return Result;
  };
  submit(kernel(5));
  ASSERT_TRUE(soon([&] { return value(Inactive) == 1; }));
  EXPECT_EQ(0u, readIndex()); // ROCr reads the packet there.
  EXPECT_EQ(HSA_PACKET_TYPE_KERNEL_DISPATCH, Ring[0].Bytes[0]);
  setValue(Inactive, int64_t(uint64_t(1) << 63 | 1)); // ROCr: retry later.
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(0u, readIndex());
  Given = true;
  setValue(Inactive, 0);
  EXPECT_TRUE(soon([&] { return readIndex() == 1; }));
}

TEST_F(QueueTest, NoScratchToBeHadStopsTheQueue) {
  Gpu.Behaviour = [&](DispatchArgs &) {
    DispatchResult Result;
    Result.Status = DispatchStatus::NeedsScratch;
    return Result;
  };
  submit(kernel(5));
  ASSERT_TRUE(soon([&] { return value(Inactive) == 1; }));
  setValue(Inactive, -1);
  EXPECT_TRUE(Tested->joinFor(5s));
  EXPECT_EQ(0u, readIndex());
}

TEST_F(QueueTest, LargeScratchGoesBackAfterTheDispatch) {
  Descriptor.queue_properties = AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE;
  submit(kernel(5));
  ASSERT_TRUE(soon([&] { return value(Inactive) == 512; }));
  EXPECT_EQ(0u, readIndex());
  setValue(Inactive, 0);
  __atomic_store_n(&Descriptor.queue_properties, 0u, __ATOMIC_RELEASE);
  EXPECT_TRUE(soon([&] { return readIndex() == 1; }));
}

TEST_F(QueueTest, FaultStopsTheQueue) {
  Gpu.Behaviour = [&](DispatchArgs &) {
    DispatchResult Result;
    Result.Status = DispatchStatus::Faulted;
    Result.Fault.Cause = FaultCause::IllegalInstruction;
    Result.Fault.QueueError = 0x40000000;
    return Result;
  };
  setValue(Done, 1);
  auto Body = kernel(5);
  Body.completion_signal = handle(Done);
  submit(Body);
  ASSERT_TRUE(soon([&] { return value(Inactive) == 0x40000000; }));
  EXPECT_TRUE(Tested->joinFor(5s));
  EXPECT_EQ(1u, Gpu.Faults.size());
  EXPECT_EQ(1, value(Done));
  EXPECT_EQ(0u, readIndex());
}

TEST_F(QueueTest, MemoryFaultIsNoQueueError) {
  Gpu.Behaviour = [&](DispatchArgs &) {
    DispatchResult Result;
    Result.Status = DispatchStatus::Faulted;
    Result.Fault.Cause = FaultCause::Memory;
    return Result;
  };
  submit(kernel(5));
  EXPECT_TRUE(Tested->joinFor(5s));
  EXPECT_EQ(1u, Gpu.Faults.size());
  EXPECT_EQ(0, value(Inactive));
}

TEST_F(QueueTest, BadPacketsAreQueueErrors) {
  auto Body = kernel(0);
  Body.header = HSA_PACKET_TYPE_AGENT_DISPATCH;
  submit(Body);
  ASSERT_TRUE(soon([&] { return value(Inactive) == QueueBadPacket; }));
}

TEST_F(QueueTest, UnknownVendorPacketIsAQueueError) {
  Packet Body;
  Body.Bytes[0] = HSA_PACKET_TYPE_VENDOR_SPECIFIC;
  Body.Bytes[2] = 99;
  submit(Body);
  ASSERT_TRUE(soon([&] { return value(Inactive) == QueueBadVendorPacket; }));
}

TEST_F(QueueTest, Pm4BufferInvalidatesAndCompletes) {
  setValue(Done, 1);
  Packet Body;
  Body.Bytes[0] = HSA_PACKET_TYPE_VENDOR_SPECIFIC;
  Body.Bytes[2] = AmdFormatPm4Buffer;
  const hsa_signal_t Handle = handle(Done);
  std::memcpy(Body.Bytes + 56, &Handle, 8);
  submit(Body);
  ASSERT_TRUE(soon([&] { return value(Done) == 0; }));
}

TEST_F(QueueTest, BarrierBehindAKernelHasItsEndForTime) {
  std::atomic<bool> Go{false};
  Gpu.Behaviour = [&](DispatchArgs &) {
    while (!Go)
      std::this_thread::sleep_for(1ms);
    Gpu.Clock = 9000; // The host is far behind the model.
    DispatchResult Result;
    Result.StartTick = 1000;
    Result.EndTick = 1200;
    return Result;
  };
  setValue(Done, 1);
  write(kernel(1));
  hsa_barrier_and_packet_t Body = {};
  Body.header = HSA_PACKET_TYPE_BARRIER_AND;
  Body.completion_signal = handle(Done);
  submit(Body);
  Go = true;
  ASSERT_TRUE(soon([&] { return value(Done) == 0; }));
  EXPECT_EQ(1200u, Done.end_ts);

  // One that comes later is as late as it is.
  setValue(Done, 1);
  std::this_thread::sleep_for(10ms);
  submit(Body);
  ASSERT_TRUE(soon([&] { return value(Done) == 0; }));
  EXPECT_EQ(9001u, Done.end_ts); // Rounded up.

  // A dependency of the device's counts with its own time.
  setValue(Done, 1);
  setValue(Dependency, 0);
  Dependency.end_ts = 9500;
  Go = false;
  write(kernel(2));
  Body.dep_signal[2] = handle(Dependency);
  submit(Body);
  Go = true;
  ASSERT_TRUE(soon([&] { return value(Done) == 0; }));
  EXPECT_EQ(9500u, Done.end_ts);
}

/// A packet that was there when the one before it ended is ready right then; one
/// that found the queue idle is ready when it comes. Any is there no earlier than
/// when it was seen.
TEST_F(QueueTest, KernelsAreReadyWhenTheirPredecessorEnded) {
  std::atomic<bool> Go{false};
  std::vector<uint64_t> Ready;
  uint64_t End = 1200;
  Gpu.Behaviour = [&](DispatchArgs &Args) {
    while (!Go)
      std::this_thread::sleep_for(1ms);
    std::lock_guard<std::mutex> Guard(Gpu.Lock);
    Ready.push_back(Args.ReadyTick);
    DispatchResult Result;
    Result.StartTick = End - 100;
    Result.EndTick = End;
    End += 1000;
    return Result;
  };
  auto Count = [&] {
    std::lock_guard<std::mutex> Guard(Gpu.Lock);
    return Ready.size();
  };
  write(kernel(1));
  write(kernel(2));
  // Between them nothing but a barrier that waits for what the device did later.
  setValue(Dependency, 0);
  Dependency.end_ts = 7000;
  hsa_barrier_and_packet_t Body = {};
  Body.header = HSA_PACKET_TYPE_BARRIER_AND;
  Body.dep_signal[0] = handle(Dependency);
  write(Body);
  submit(kernel(3));
  Go = true;
  ASSERT_TRUE(soon([&] { return Count() == 3; }));
  std::this_thread::sleep_for(10ms);
  Gpu.Clock = 9000;
  submit(kernel(4));
  ASSERT_TRUE(soon([&] { return Count() == 4; }));
  EXPECT_EQ((std::vector<uint64_t>{1001, 1200, 7000, 9001}), Ready);
}

/// The host's clock goes on while the model computes: what is added meanwhile is
/// not ready before it was there, even if that is after the modelled end of what ran;
/// and it is seen although the queue's own thread is not at it.
TEST_F(QueueTest, NothingIsReadyBeforeItCame) {
  std::atomic<bool> Runs{false}, Go{false};
  std::atomic<uint64_t> Ready{0};
  Gpu.Behaviour = [&](DispatchArgs &Args) {
    Ready = Args.ReadyTick;
    Runs = true;
    while (!Go)
      std::this_thread::sleep_for(1ms);
    DispatchResult Result;
    Result.EndTick = 1200;
    return Result;
  };
  submit(kernel(1));
  ASSERT_TRUE(soon([&] { return Runs.load(); }));
  EXPECT_FALSE(Tested->look());
  Gpu.Clock = 5000;
  const uint64_t Index = write(kernel(2));
  EXPECT_FALSE(Tested->look()); // Nobody has rung.
  __atomic_store_n(&Doorbell, Index, __ATOMIC_RELEASE);
  EXPECT_TRUE(Tested->look());
  Gpu.Clock = 9000;
  Go = true;
  ASSERT_TRUE(soon([&] { return readIndex() == 2; }));
  EXPECT_EQ(5001u, Ready);
}

/// Producers reserve more packets than the ring has room for: what lies in their
/// slots are other packets.
TEST_F(QueueTest, AFullRingHasNoPacketsBeyondIt) {
  std::atomic<bool> Go{false};
  Gpu.Behaviour = [&](DispatchArgs &) {
    while (!Go)
      std::this_thread::sleep_for(1ms);
    return DispatchResult();
  };
  for (uint32_t I = 0; I < Size; ++I)
    submit(kernel(I));
  const uint64_t Index = __atomic_fetch_add(&Descriptor.write_dispatch_id, 1, __ATOMIC_ACQ_REL);
  ring(Index);
  std::this_thread::sleep_for(5ms);
  Go = true;
  ASSERT_TRUE(soon([&] { return readIndex() == Size; }));
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(Size, readIndex());
}

/// Whoever satisfies a dependency: from the device it has a time, from the host
/// it is now.
TEST_F(QueueTest, ADependencyOfTheHostIsSatisfiedNow) {
  Gpu.Behaviour = [&](DispatchArgs &) {
    DispatchResult Result;
    Result.EndTick = 1200;
    return Result;
  };
  setValue(Done, 1);
  setValue(Dependency, 1);
  Dependency.end_ts = 5; // Of an earlier use.
  hsa_barrier_and_packet_t Body = {};
  Body.header = HSA_PACKET_TYPE_BARRIER_AND;
  Body.completion_signal = handle(Done);
  Body.dep_signal[0] = handle(Dependency);
  write(kernel(1));
  submit(Body);
  ASSERT_TRUE(soon([&] { return readIndex() == 1; }));
  std::this_thread::sleep_for(5ms);
  Gpu.Clock = 8000;
  setValue(Dependency, 0);
  ASSERT_TRUE(soon([&] { return value(Done) == 0; }));
  EXPECT_EQ(8000u, Done.end_ts);
}

/// What the device holds for a queue is given back when the queue has nothing
/// more, or only waits.
TEST_F(QueueTest, AnIdleQueueHoldsNothing) {
  Gpu.Behaviour = [&](DispatchArgs &Args) {
    if (!Args.Held->exchange(true))
      ++Gpu.Holds;
    DispatchResult Result;
    Result.EndTick = 1200;
    return Result;
  };
  submit(kernel(1));
  ASSERT_TRUE(soon([&] { return readIndex() == 1; }));
  EXPECT_TRUE(soon([&] { return Gpu.Releases == 1; }));
  EXPECT_EQ(1, Gpu.Holds);
  // A queue that waits for a signal is held while it looks again, no longer.
  setValue(Dependency, 1);
  hsa_barrier_and_packet_t Body = {};
  Body.header = HSA_PACKET_TYPE_BARRIER_AND;
  Body.dep_signal[0] = handle(Dependency);
  submit(Body);
  EXPECT_TRUE(soon([&] {
    Tested->kickWaiter();
    return Gpu.Holds >= 2;
  }));
  EXPECT_TRUE(soon([&] { return Gpu.Releases == Gpu.Holds; }));
  EXPECT_EQ(1u, readIndex());
  setValue(Dependency, 0);
  Tested->kickWaiter();
  EXPECT_TRUE(soon([&] { return readIndex() == 2 && Gpu.Releases == Gpu.Holds; }));
}

TEST_F(QueueTest, CancelledDispatchEndsTheThread) {
  Gpu.Behaviour = [&](DispatchArgs &Args) {
    while (!*Args.Cancel)
      std::this_thread::sleep_for(1ms);
    DispatchResult Result;
    Result.Status = DispatchStatus::Faulted;
    Result.Fault.Cause = FaultCause::Cancelled;
    return Result;
  };
  submit(kernel(5));
  ASSERT_TRUE(soon([&] {
    std::lock_guard<std::mutex> Guard(Gpu.Lock);
    return !Gpu.Ran.empty();
  }));
  Tested.reset();
  EXPECT_TRUE(Gpu.Faults.empty());
  EXPECT_EQ(0, value(Inactive));
}

TEST_F(QueueTest, SuspendedQueueTakesNothing) {
  Tested->suspend(true);
  submit(kernel(1));
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(0u, readIndex());
  Tested->suspend(false);
  EXPECT_TRUE(soon([&] { return readIndex() == 1; }));
}

TEST_F(QueueTest, BarrierValueComparesUnderTheMask) {
  setValue(Dependency, 0xff00);
  setValue(Done, 1);
  hsa_amd_barrier_value_packet_t Body = {};
  Body.header.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC;
  Body.header.AmdFormat = AmdFormatBarrierValue;
  Body.signal = handle(Dependency);
  Body.mask = 0xf0;
  Body.value = 0x20;
  Body.cond = HSA_SIGNAL_CONDITION_EQ;
  Body.completion_signal = handle(Done);
  submit(Body);
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(1, value(Done));
  setValue(Dependency, 0xff2f);
  EXPECT_TRUE(soon([&] { return value(Done) == 0; }));
}

} // namespace
