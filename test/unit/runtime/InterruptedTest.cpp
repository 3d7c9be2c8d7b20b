// A signal handler records while its own thread is recording: at every single
// instruction of that, nothing is lost, torn or left unpublished.
//
// The processor's trap flag makes a SIGTRAP after each instruction, whose
// handler stands for a sample's.
#include "HostRecorder.h"
#include "StreamEvents.h"
#include "profile/Sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <functional>
#include <map>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace kprobe;

namespace {

constexpr long TrapFlag = 0x100;

struct Stepping {
  std::function<void(ucontext_t &)> Interrupt;
  uint64_t Steps = 0;
  volatile bool Stop = false;
} *Now = nullptr;

void onTrapFlag(int, siginfo_t *, void *Data) {
  auto &Context = *static_cast<ucontext_t *>(Data);
  if (Now->Stop) {
    Context.uc_mcontext.gregs[REG_EFL] &= ~TrapFlag;
    return;
  }
  ++Now->Steps;
  Now->Interrupt(Context);
}

// Interrupt is called behind each instruction of Code; how many there were.
template <typename Function>
uint64_t interrupted(Function Code,
                     std::function<void(ucontext_t &)> Interrupt) {
  Stepping Own;
  Own.Interrupt = std::move(Interrupt);
  Now = &Own;
  struct sigaction Action = {}, Old;
  Action.sa_sigaction = onTrapFlag;
  Action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &Action, &Old);
  asm volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq"
               :
               : "i"(TrapFlag)
               : "memory", "cc");
  Code();
  Own.Stop = true;
  asm volatile("nop\n\tnop" ::: "memory");
  sigaction(SIGTRAP, &Old, nullptr);
  return Own.Steps;
}

std::vector<uint64_t> take(HostStream &Stream) {
  std::vector<uint64_t> Values;
  for (;;) {
    HostStream::Span Span = Stream.readable(1 << 20);
    if (Span.Bytes == 0)
      return Values;
    for (size_t At = 0; At < Span.Bytes;) {
      KprobeHostSubmit Event = {};
      std::memcpy(&Event, Span.Data + At,
                  std::min(sizeof(Event), Span.Bytes - At));
      if (Event.Head.Bytes < 8 || Event.Head.Bytes % 8 != 0) {
        ADD_FAILURE() << "an event of " << Event.Head.Bytes << " bytes";
        return Values;
      }
      if (Event.Head.Kind == KPROBE_HOST_SUBMIT)
        Values.push_back(Event.Dispatch);
      At += Event.Head.Bytes;
    }
    Stream.consume(Span.Bytes);
  }
}

constexpr uint64_t OfThread = 1u << 20; // values of handlers are below

// Steps from one handler to the next, where there are many: so that what tries again
// comes through in between. A sanitizer makes many steps of one.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t StepsBetween = 701;
#else
constexpr uint64_t StepsBetween = 41;
#endif

TEST(Interrupted, OnceAtEachInstruction) {
  std::vector<uint64_t> Memory(1024 / 8);
  HostStream Stream(reinterpret_cast<uint8_t *>(Memory.data()), 1024, 1, 1);
  uint64_t Most = 1, Round = 0;
  bool Taken = true, HandlersTaken = true;
  // 40 + 48 do not divide the ring: its end is met in both.
  for (uint64_t At = 1; At <= Most; ++At)
    for (unsigned Times = 0; Times < 4; ++Times, ++Round) {
      uint64_t Step = 0;
      std::vector<uint64_t> Expected = {OfThread + Round};
      uint64_t Steps = interrupted(
          [&] { Taken = put(Stream, 40, OfThread + Round); },
          [&](ucontext_t &) {
            if (++Step == At)
              HandlersTaken = put(Stream, 48, Round);
          });
      // The way over the ring's end is longer.
      if (At <= Steps)
        Expected.insert(Expected.begin(), Round);
      Most = std::max(Most, Steps);
      ASSERT_TRUE(Taken && HandlersTaken) << At;
      // Both are there without a further event.
      std::vector<uint64_t> Values = take(Stream);
      std::sort(Values.begin(), Values.end());
      ASSERT_EQ(Values, Expected) << At << " of " << Steps;
    }
  EXPECT_GT(Most, 30u);
  EXPECT_EQ(Stream.lost(), 0u);
}

TEST(Interrupted, AgainAndAgain) {
  std::vector<uint64_t> Memory((1u << 20) / 8);
  HostStream Stream(reinterpret_cast<uint8_t *>(Memory.data()), 1u << 20, 1, 1);
  uint64_t FromHandlers = 0;
  constexpr uint64_t Rounds = 300;
  // Room is taken by trying again where a handler came between: not at each
  // instruction, then, but at each in some round.
  interrupted(
      [&] {
        for (uint64_t I = 0; I < Rounds; ++I)
          put(Stream, uint16_t(32 + I % 5 * 8), OfThread + I);
      },
      [&](ucontext_t &) {
        if (Now->Steps % StepsBetween == 0)
          put(Stream, 48, FromHandlers++);
      });
  uint64_t NextOfThread = OfThread, NextOfHandlers = 0;
  for (uint64_t Value : take(Stream))
    ASSERT_EQ(Value, Value < OfThread ? NextOfHandlers++ : NextOfThread++);
  EXPECT_EQ(NextOfThread, OfThread + Rounds);
  EXPECT_EQ(NextOfHandlers, FromHandlers);
  EXPECT_GT(FromHandlers * StepsBetween, 41 * Rounds);
  EXPECT_EQ(Stream.lost(), 0u);
}

// A full ring says so to both, and each loss is counted once.
TEST(Interrupted, WithoutRoom) {
  std::vector<uint64_t> Memory(1024 / 8);
  HostStream Stream(reinterpret_cast<uint8_t *>(Memory.data()), 1024, 1, 1);
  uint64_t Taken = 0, Tried = 0;
  interrupted(
      [&] {
        for (uint64_t I = 0; I < 20; ++I, ++Tried)
          Taken += put(Stream, 40, OfThread + I);
      },
      [&](ucontext_t &) {
        if (Now->Steps % 7 == 0) {
          uint64_t Before = Stream.lost();
          bool Done = put(Stream, 48, 1);
          EXPECT_EQ(Stream.lost() - Before, Done ? 0u : 1u);
        }
      });
  EXPECT_EQ(Tried, 20u);
  std::vector<uint64_t> Values = take(Stream);
  EXPECT_EQ(uint64_t(std::count_if(Values.begin(), Values.end(),
                                   [](uint64_t V) { return V >= OfThread; })),
            Taken);
  EXPECT_TRUE(put(Stream, 40, 1));
}

// What a thread has in its stream when it is sampled while it records the stack
// of a submission itself.
// On a thread of its own: a ring is as large as was wished when it was made.
void submitUnderSamples(uint64_t &Samples) {
  static ProfiledThread T;
  T.Stream = hostStream();
  ASSERT_NE(T.Stream, nullptr);
  T.ThreadId = gettid();
  T.SampleEvent = T.WaitEvent = -1;
  setProfiledThread(&T);
  Sampling.Weight = 5;
  siginfo_t Info = {};
  Info.si_code = POLL_IN;
  Info.si_fd = -1;
  interrupted([&] { recordSubmit(T, 7); },
              [&](ucontext_t &Context) {
                if (Now->Steps % StepsBetween == 0) {
                  ++Samples;
                  onOverflow(SIGTRAP, &Info, &Context);
                }
              });
  setProfiledThread(nullptr);
}

TEST(Interrupted, SampleInsideASubmissionsStack) {
  Config Settings;
  Settings.ApiRingBytes = 4u << 20;
  HostRecorder &Recorder = HostRecorder::get();
  Recorder.start(Settings);
  uint64_t Samples = 0;
  std::thread([&] { submitUnderSamples(Samples); }).join();
  Recorder.stop();
  std::map<uint16_t, uint64_t> Kinds;
  uint64_t Lost = 0;
  Recorder.drain([&](uint32_t Kind, const void *Record, size_t Bytes,
                     std::string_view Rest) {
    if (Kind != KPROBE_CHUNK_HOST_EVENTS)
      return;
    KprobeHostEventsRecord Head;
    std::memcpy(&Head, Record, Bytes);
    Lost += Head.Lost;
    for (size_t At = 0; At + sizeof(KprobeHostEvent) <= Rest.size();) {
      KprobeHostStack Event = {};
      std::memcpy(&Event, Rest.data() + At,
                  std::min(sizeof(Event), Rest.size() - At));
      ++Kinds[Event.Head.Kind];
      if (Event.Head.Kind == KPROBE_HOST_STACK_SAMPLE) {
        EXPECT_EQ(Event.Weight, 5u);
      }
      if (Event.Head.Kind == KPROBE_HOST_STACK_SUBMIT) {
        EXPECT_EQ(Event.Weight, 7u);
        EXPECT_GT(Event.Native, 3u);
      }
      At += Event.Head.Bytes;
    }
  });
  EXPECT_GT(Samples * StepsBetween, 4100u);
  EXPECT_EQ(Kinds[KPROBE_HOST_STACK_SAMPLE], Samples);
  EXPECT_EQ(Kinds[KPROBE_HOST_STACK_SUBMIT], 1u);
  EXPECT_EQ(Lost, 0u);
}

} // namespace
