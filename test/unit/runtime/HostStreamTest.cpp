// A thread's stream of host events: whole events in order, counted losses, room
// for the end of every call whose begin was taken.
#include "HostStream.h"
#include "StreamEvents.h"
#include "api/ApiCall.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <thread>
#include <vector>

using namespace kprobe;

namespace {

struct TestStream {
  explicit TestStream(uint64_t Bytes)
      : Memory(Bytes / 8),
        Stream(reinterpret_cast<uint8_t *>(Memory.data()), Bytes, 1, 1) {}
  std::vector<uint64_t> Memory;
  HostStream Stream;
};

// Takes everything that is there and appends the values; checks the sizes.
void take(HostStream &Stream, std::vector<uint64_t> &Values,
          size_t Most = 1 << 20) {
  for (;;) {
    HostStream::Span Span = Stream.readable(Most);
    if (Span.Bytes == 0)
      return;
    for (size_t At = 0; At < Span.Bytes;) {
      KprobeHostSubmit Event;
      std::memcpy(&Event, Span.Data + At,
                  std::min(sizeof(Event), Span.Bytes - At));
      ASSERT_NE(Event.Head.Bytes, 0);
      ASSERT_EQ(Event.Head.Bytes % 8, 0);
      ASSERT_LE(At + Event.Head.Bytes, Span.Bytes);
      if (Event.Head.Kind == KPROBE_HOST_SUBMIT)
        Values.push_back(Event.Dispatch);
      At += Event.Head.Bytes;
    }
    Stream.consume(Span.Bytes);
  }
}

TEST(HostStream, KeepsOrderOverTheRingsEnd) {
  TestStream T(1024);
  std::vector<uint64_t> Values;
  uint64_t Next = 0;
  // Sizes that do not divide the ring: every place of the wrap is met.
  for (unsigned Round = 0; Round < 500; ++Round) {
    for (uint16_t Bytes : {32, 40, 200, 48})
      ASSERT_TRUE(put(T.Stream, Bytes, Next++));
    take(T.Stream, Values, 64);
  }
  ASSERT_EQ(Values.size(), Next);
  for (uint64_t I = 0; I < Next; ++I)
    ASSERT_EQ(Values[I], I);
  EXPECT_EQ(T.Stream.lost(), 0u);
}

TEST(HostStream, DropsTheNewestAndCounts) {
  TestStream T(1024);
  for (uint64_t I = 0; I < 40; ++I)
    EXPECT_EQ(put(T.Stream, 32, I), I < 32) << I;
  EXPECT_EQ(T.Stream.lost(), 8u);
  std::vector<uint64_t> Values;
  take(T.Stream, Values);
  ASSERT_EQ(Values.size(), 32u);
  EXPECT_EQ(Values.back(), 31u);
  EXPECT_TRUE(put(T.Stream, 32, 99));
}

TEST(HostStream, AnotherThreadSeesWholeEventsOnly) {
  TestStream T(4096);
  constexpr uint64_t Count = 300000;
  std::vector<uint64_t> Values;
  uint64_t Taken = 0;
  std::thread Reader([&] {
    while (Values.empty() || Values.back() != Count)
      take(T.Stream, Values);
  });
  for (uint64_t I = 1; I < Count; ++I)
    Taken += put(T.Stream, uint16_t(32 + I % 9 * 8), I);
  while (!put(T.Stream, 32, Count))
    std::this_thread::yield();
  Reader.join();
  ASSERT_EQ(Values.size(), Taken + 1);
  for (size_t I = 1; I < Values.size(); ++I)
    ASSERT_LT(Values[I - 1], Values[I]);
}

// The recorder of this process, with calls as wrappers make them.
class Calls : public testing::Test {
protected:
  void SetUp() override {
    Config Settings;
    Settings.ApiRingBytes = 64 << 10;
    HostRecorder::get().start(Settings);
  }
  void TearDown() override {
    HostRecorder::get().stop();
    drain();
  }
  struct Seen {
    std::vector<KprobeHostEvent> Events;
    std::vector<KprobeThreadRecord> Threads;
    uint64_t Lost = 0;
  };
  Seen drain() {
    Seen Out;
    HostRecorder::get().drain([&](uint32_t Kind, const void *Record,
                                  size_t Bytes, std::string_view Rest) {
      if (Kind == KPROBE_CHUNK_THREAD) {
        KprobeThreadRecord Thread;
        std::memcpy(&Thread, Record, Bytes);
        Out.Threads.push_back(Thread);
      }
      if (Kind != KPROBE_CHUNK_HOST_EVENTS)
        return;
      KprobeHostEventsRecord Head;
      std::memcpy(&Head, Record, Bytes);
      Out.Lost = Head.Lost;
      for (size_t At = 0; At < Rest.size();) {
        KprobeHostEvent Event = {};
        std::memcpy(&Event, Rest.data() + At,
                    std::min(sizeof(Event), Rest.size() - At));
        if (Event.Kind != KPROBE_HOST_PADDING)
          Out.Events.push_back(Event);
        At += Event.Bytes;
      }
    });
    return Out;
  }
};

TEST_F(Calls, NestAndCarryTheirNumbers) {
  ApiCall Outer, Inner;
  FieldWriter W = Outer.begin(KPROBE_FUNCTION(2, 5), 4);
  ASSERT_TRUE(W);
  W.put(uint32_t(77));
  Outer.publish(W);
  recordHostEvent(KPROBE_HOST_SUBMIT, KprobeHostSubmit{{}, 3});
  Inner.publish(Inner.begin(KPROBE_FUNCTION(1, 9), 0));
  recordHostEvent(KPROBE_HOST_SUBMIT, KprobeHostSubmit{{}, 4});
  Inner.end(0);
  Outer.end(0);
  Seen Out = drain();
  ASSERT_EQ(Out.Events.size(), 6u);
  uint64_t First = Out.Events[0].Call, Second = Out.Events[2].Call;
  EXPECT_EQ(Out.Events[0].Bytes, 40);
  EXPECT_EQ(First >> KPROBE_CALL_THREAD_SHIFT,
            Second >> KPROBE_CALL_THREAD_SHIFT);
  EXPECT_EQ(Out.Events[1].Call, First);
  EXPECT_EQ(Second, First + 1);
  EXPECT_EQ(Out.Events[3].Call, Second);
  EXPECT_EQ(Out.Events[4].Call, Second);
  EXPECT_EQ(Out.Events[5].Call, First);
  for (size_t I = 1; I < 6; ++I)
    EXPECT_LE(Out.Events[I - 1].Ns, Out.Events[I].Ns);
}

TEST_F(Calls, EveryRecordedBeginHasItsEnd) {
  // Far deeper than the ring has room for: the later begins are dropped.
  std::deque<ApiCall> Open;
  for (unsigned I = 0; I < 1000; ++I) {
    ApiCall &Call = Open.emplace_back();
    if (FieldWriter W = Call.begin(KPROBE_FUNCTION(1, 1), 0))
      Call.publish(W);
  }
  for (auto It = Open.rbegin(); It != Open.rend(); ++It) {
    // Ends of the largest size that is promised.
    FieldWriter W = It->end(1, HostStream::MostEndBytes - 32);
    if (!W)
      continue;
    for (unsigned I = 0; I < (HostStream::MostEndBytes - 32) / 8; ++I)
      W.put(uint64_t(I));
    It->publish(W);
  }
  Seen Out = drain();
  uint64_t Begins = 0, Ends = 0;
  for (const KprobeHostEvent &E : Out.Events) {
    Begins += E.Kind == KPROBE_HOST_CALL_BEGIN;
    Ends += E.Kind == KPROBE_HOST_CALL_END;
  }
  EXPECT_GT(Begins, 50u);
  EXPECT_LT(Begins, 1000u);
  EXPECT_EQ(Begins, Ends);
  EXPECT_EQ(Begins + Out.Lost, 1000u);
}

TEST_F(Calls, ThreadsHaveStreamsOfTheirOwnAndLeaveNothingBehind) {
  std::vector<std::thread> Threads;
  for (unsigned I = 0; I < 8; ++I)
    Threads.emplace_back([] {
      for (unsigned Round = 0; Round < 10; ++Round) {
        ApiCall Call;
        Call.publish(Call.begin(KPROBE_FUNCTION(1, 1), 0));
        Call.end(0);
      }
    });
  for (std::thread &T : Threads)
    T.join();
  Seen Out = drain();
  EXPECT_EQ(Out.Threads.size(), 8u);
  EXPECT_EQ(Out.Events.size(), 8u * 20);
  EXPECT_EQ(drain().Events.size(), 0u);
}

} // namespace
