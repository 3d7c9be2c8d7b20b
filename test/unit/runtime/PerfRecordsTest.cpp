// perf's records become host events: layouts as perf_event_open(2) gives them,
// written here by hand.
#include "PerfRecords.h"
#include "ThreadId.h"

#include <gtest/gtest.h>

#include <cstring>
#include <linux/perf_event.h>
#include <thread>

using namespace kprobe;

namespace {

const char WakingFormat[] =
    "name: sched_waking\nID: 373\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n";
const char ExitFormat[] =
    "name: sys_exit\nID: 442\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
    "\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n";

class Record {
public:
  Record(uint32_t Type, uint16_t Misc) {
    put(Type), put(Misc), put(uint16_t(0));
  }
  template <typename T> Record &put(T Value) {
    const auto *First = reinterpret_cast<const uint8_t *>(&Value);
    Bytes.insert(Bytes.end(), First, First + sizeof(Value));
    return *this;
  }
  Record &identity(uint32_t Pid, uint32_t Tid, uint64_t Ns) {
    return put(Pid).put(Tid).put(Ns).put(uint32_t(3)).put(uint32_t(0));
  }
  std::vector<uint8_t> done() {
    uint16_t Size = uint16_t(Bytes.size());
    std::memcpy(Bytes.data() + 6, &Size, sizeof(Size));
    return Bytes;
  }

private:
  std::vector<uint8_t> Bytes;
};

struct PerfRecords : testing::Test {
  void SetUp() override {
    Tracepoint Waking, Exit;
    Waking.Kind = KPROBE_HOST_WAKEUP;
    Exit.Kind = KPROBE_HOST_SYSCALL_END;
    ASSERT_TRUE(parseFormat(WakingFormat, "pid", "target_cpu", Waking));
    ASSERT_TRUE(parseFormat(ExitFormat, "id", "ret", Exit));
    Points.Known = {Waking, Exit};
  }
  void feed(Record &R) {
    std::vector<uint8_t> Bytes = R.done();
    Writer.record(Bytes.data(), Bytes.size(), Points, Events, Lost);
  }
  Record waking(uint64_t Ns, uint32_t Woken) {
    Record R(PERF_RECORD_SAMPLE, 0);
    R.identity(42, 43, Ns).put(uint32_t(36));
    R.put(uint16_t(373)).put(uint16_t(0)).put(int32_t(43));
    R.put(uint64_t(0)).put(uint64_t(0)).put(Woken).put(int32_t(120));
    return R.put(int32_t(1));
  }
  template <typename T> T at(size_t Place) {
    T Value = {};
    EXPECT_LE(Place + sizeof(T), Events.size());
    if (Place + sizeof(T) <= Events.size())
      std::memcpy(&Value, Events.data() + Place, sizeof(T));
    return Value;
  }
  Tracepoints Points;
  LinuxEventWriter Writer;
  std::vector<uint8_t> Events;
  uint64_t Lost = 0;
};

TEST_F(PerfRecords, SwitchesSayWhyAThreadLeft) {
  Record In(PERF_RECORD_SWITCH, 0);
  Record Out(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT);
  Record Pushed(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT |
                                        PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
  feed(In.identity(42, 43, 1000));
  feed(Out.identity(42, 43, 2000));
  feed(Pushed.identity(42, 44, 1500));
  ASSERT_EQ(Events.size(), 3 * sizeof(KprobeHostSwitch));
  auto First = at<KprobeHostSwitch>(0);
  EXPECT_EQ(First.Head.Kind, KPROBE_HOST_SWITCH_IN);
  EXPECT_EQ(First.Head.Bytes, sizeof(First));
  EXPECT_EQ(First.Head.Ns, 1000u);
  EXPECT_EQ(First.ThreadId, 43u);
  EXPECT_EQ(First.ProcessId, 42u);
  auto Second = at<KprobeHostSwitch>(sizeof(First));
  EXPECT_EQ(Second.Head.Kind, KPROBE_HOST_SWITCH_OUT);
  EXPECT_EQ(Second.Preempted, 0u);
  auto Third = at<KprobeHostSwitch>(2 * sizeof(First));
  EXPECT_EQ(Third.Preempted, 1u);
  EXPECT_EQ(Third.Head.Ns, 2000u) << "time never runs back in a stream";
}

TEST_F(PerfRecords, TracepointsByTheirFormat) {
  Record Wake = waking(1000, 77);
  feed(Wake);
  Record Exit(PERF_RECORD_SAMPLE, 0);
  Exit.identity(42, 43, 2000).put(uint32_t(28));
  Exit.put(uint16_t(442)).put(uint16_t(0)).put(int32_t(43));
  Exit.put(int64_t(202)).put(int64_t(-11)).put(uint32_t(0));
  feed(Exit);
  ASSERT_EQ(Events.size(),
            sizeof(KprobeHostWakeup) + sizeof(KprobeHostSyscall));
  auto Wakeup = at<KprobeHostWakeup>(0);
  EXPECT_EQ(Wakeup.ThreadId, 43u);
  EXPECT_EQ(Wakeup.Woken, 77u);
  EXPECT_EQ(Wakeup.Processor, 1u);
  auto Call = at<KprobeHostSyscall>(sizeof(Wakeup));
  EXPECT_EQ(Call.Head.Kind, KPROBE_HOST_SYSCALL_END);
  EXPECT_EQ(Call.Number, 202);
  EXPECT_EQ(Call.Result, -11);
}

TEST_F(PerfRecords, OneWakeupThatCameTwiceIsOne) {
  Record One = waking(1000, 77), Same = waking(1400, 77),
         Other = waking(1800, 78), Later = waking(9000000, 78);
  for (Record *R : {&One, &Same, &Other, &Later})
    feed(*R);
  EXPECT_EQ(Events.size(), 3 * sizeof(KprobeHostWakeup));
}

// But when one of them wakes a thread of the program, that is told.
TEST_F(PerfRecords, LeavesOurOwnThreadsOut) {
  uint32_t Own = 0;
  std::thread([&] {
    isOurs();
    Own = threadId();
  }).join();
  ASSERT_TRUE(isThreadOfOurs(Own));
  ASSERT_FALSE(isThreadOfOurs(threadId()));
  Record In(PERF_RECORD_SWITCH, 0);
  Record Woken = waking(1000, Own);
  Record Exit(PERF_RECORD_SAMPLE, 0);
  Exit.identity(42, Own, 2000).put(uint32_t(28));
  Exit.put(uint16_t(442)).put(uint16_t(0)).put(Own);
  Exit.put(int64_t(202)).put(int64_t(-11)).put(uint32_t(0));
  feed(In.identity(42, Own, 1000));
  feed(Woken);
  feed(Exit);
  EXPECT_TRUE(Events.empty());
  Record Wakes(PERF_RECORD_SAMPLE, 0);
  Wakes.identity(42, Own, 3000).put(uint32_t(36));
  Wakes.put(uint16_t(373)).put(uint16_t(0)).put(Own);
  Wakes.put(uint64_t(0)).put(uint64_t(0)).put(uint32_t(77)).put(int32_t(120));
  feed(Wakes.put(int32_t(1)));
  ASSERT_EQ(Events.size(), sizeof(KprobeHostWakeup));
  EXPECT_EQ(at<KprobeHostWakeup>(0).Woken, 77u);
}

TEST_F(PerfRecords, LossesAreCountedAndTheUnknownIsSkipped) {
  Record Gone(PERF_RECORD_LOST, 0);
  feed(Gone.put(uint64_t(9)).put(uint64_t(5)).identity(42, 43, 1));
  Record Fork(PERF_RECORD_FORK, 0);
  feed(Fork.put(uint64_t(0)).put(uint64_t(0)).identity(42, 43, 1));
  Record Strange(PERF_RECORD_SAMPLE, 0);
  feed(Strange.identity(42, 43, 1).put(uint32_t(4)).put(uint32_t(999)));
  Record Lying(PERF_RECORD_SAMPLE, 0);
  feed(Lying.identity(42, 43, 1).put(uint32_t(4000)).put(uint32_t(373)));
  Record Short(PERF_RECORD_SWITCH, 0);
  feed(Short.put(uint64_t(1)));
  EXPECT_EQ(Lost, 5u);
  EXPECT_TRUE(Events.empty());
}

TEST(TracepointFormat, NeedsItsFields) {
  Tracepoint Point;
  EXPECT_FALSE(parseFormat(ExitFormat, "id", "target_cpu", Point));
  EXPECT_FALSE(parseFormat("name: x\n", "id", nullptr, Point));
  EXPECT_FALSE(parseFormat(WakingFormat, "comm[16]", nullptr, Point))
      << "16 bytes are no number";
}

} // namespace
