// The native unwinder against glibc's backtrace(3), which walks by libgcc's: at
// every single instruction of code with prologues, epilogues, procedure linkage
// tables, realigned and variable stacks, exceptions and signal handlers.
//
// The processor's trap flag makes a SIGTRAP after each instruction; its handler
// has the same stack in front of it that a sample would have.
#include "profile/Unwind.h"

#include <gtest/gtest.h>

#include <alloca.h>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <execinfo.h>
#include <stdexcept>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

using namespace kprobe;

namespace {

constexpr uint32_t MostFrames = 200;
constexpr long TrapFlag = 0x100;

struct Stepping {
  StackMemory Memory;
  std::vector<uint64_t> Outer; // set: all that is compared
  volatile bool Stop = false;
  uint64_t Steps = 0, Different = 0, Broken = 0;
  std::string First; // difference
};
Stepping *Now = nullptr;

void *Expected[MostFrames];
uint64_t Seen[MostFrames];

void onTrap(int, siginfo_t *, void *Data) {
  auto &Context = *static_cast<ucontext_t *>(Data);
  if (Now->Stop) {
    Context.uc_mcontext.gregs[REG_EFL] &= ~TrapFlag;
    return;
  }
  ++Now->Steps;
  NativeStack Stack = {Seen, MostFrames, 0, false, false};
  Now->Memory.Low = uint64_t(Context.uc_mcontext.gregs[REG_RSP]);
  unwind(FrameRegisters::of(Context), Now->Memory, Stack);
  if (!Now->Outer.empty()) {
    const std::vector<uint64_t> &Outer = Now->Outer;
    bool Right = Stack.Count >= Outer.size() &&
                 std::equal(Outer.begin(), Outer.end(),
                            Seen + Stack.Count - Outer.size());
    Now->Broken += Stack.Broken;
    Now->Different += !Right && !Stack.Broken;
    return;
  }
  // This handler and the way back to the interrupted code come first there.
  int Count = backtrace(Expected, MostFrames);
  auto Pc = uint64_t(Context.uc_mcontext.gregs[REG_RIP]);
  int Skip = 0;
  while (Skip < Count && uint64_t(Expected[Skip]) != Pc)
    ++Skip;
  Now->Broken += Stack.Broken;
  bool Same = Stack.Count == uint32_t(Count - Skip);
  for (uint32_t I = 0; Same && I < Stack.Count; ++I)
    Same = Seen[I] == uint64_t(Expected[Skip + int(I)]);
  if (!Same && Now->Different++ == 0)
    Now->First = "at step " + std::to_string(Now->Steps) + ": " +
                 std::to_string(Stack.Count) + " frames, not " +
                 std::to_string(Count - Skip);
}

// The frames around the caller. (AddressSanitizer's backtrace is a frame, too.)
[[gnu::noinline]] std::vector<uint64_t> outerFrames() {
  void **End = Expected + backtrace(Expected, MostFrames);
  void **Caller = std::find(Expected, End, __builtin_return_address(0));
  std::vector<uint64_t> Frames;
  for (void **Frame = Caller == End ? End : Caller + 1; Frame != End; ++Frame)
    Frames.push_back(uint64_t(*Frame));
  return Frames;
}

template <typename Function>
Stepping stepThrough(Function Code, bool OnlyOuter = false) {
  Stepping Result;
  if (OnlyOuter) { // ours moves on while we step
    Result.Outer = outerFrames();
    EXPECT_FALSE(Result.Outer.empty());
  }
  pthread_attr_t Attributes;
  pthread_getattr_np(pthread_self(), &Attributes);
  void *Low;
  size_t Bytes;
  pthread_attr_getstack(&Attributes, &Low, &Bytes);
  pthread_attr_destroy(&Attributes);
  Result.Memory.High = uint64_t(Low) + Bytes;
  Result.Memory.Process = getpid();
  backtrace(Expected, 1); // loads libgcc
  Now = &Result;
  struct sigaction Action = {}, Old;
  Action.sa_sigaction = onTrap;
  Action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &Action, &Old);
  asm volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq" : : "i"(TrapFlag) : "memory", "cc");
  Code();
  Result.Stop = true;
  asm volatile("nop\n\tnop" ::: "memory");
  sigaction(SIGTRAP, &Old, nullptr);
  return Result;
}

#define EXPECT_ALL_RIGHT(Result, LeastSteps)                                   \
  do {                                                                         \
    Stepping R = Result;                                                       \
    EXPECT_GE(R.Steps, uint64_t(LeastSteps));                                  \
    EXPECT_EQ(R.Different, 0u) << R.First;                                     \
    EXPECT_EQ(R.Broken, 0u);                                                   \
  } while (0)

[[gnu::noinline]] int compare(const void *A, const void *B) {
  return *static_cast<const int *>(A) - *static_cast<const int *>(B);
}

[[gnu::noinline]] int realigned(int Depth) {
  alignas(64) volatile int Locals[16] = {Depth};
  auto *Variable = static_cast<volatile char *>(alloca(size_t(Depth) * 40 + 8));
  Variable[0] = 1;
  return Depth == 0 ? Locals[0] : realigned(Depth - 1) + Variable[0];
}

[[gnu::noinline]] void throwing(int Depth) {
  std::string Held(40, 'x'); // to be destroyed on the way
  if (Depth == 0)
    throw std::runtime_error(Held);
  throwing(Depth - 1);
}

[[gnu::noinline]] int deep(int Depth) {
  int Below = Depth == 0 ? 0 : deep(Depth - 1);
  asm volatile("" : "+r"(Below));
  return Below + 1;
}

} // namespace

TEST(Unwind, LibraryCodeThatCallsBack) {
  std::vector<int> Numbers = {5, 3, 9, 1, 7, 2, 8};
  EXPECT_ALL_RIGHT(
      stepThrough([&] {
        qsort(Numbers.data(), Numbers.size(), sizeof(int), compare);
      }),
      500);
  EXPECT_TRUE(std::is_sorted(Numbers.begin(), Numbers.end()));
}

TEST(Unwind, LinkageTablesAndFormatting) {
  char Text[64];
  EXPECT_ALL_RIGHT(
      stepThrough([&] { snprintf(Text, sizeof(Text), "%.3f %s", 1.5, "a"); }),
      500);
  EXPECT_STREQ(Text, "1.500 a");
}

// GCC 12 describes the last two instructions of such functions wrongly: it has
// %rbp on the stack still (libgcc's own walk crashes there). A stack may break,
// it may not be wrong.
TEST(Unwind, RealignedAndVariableStacks) {
  int Result = 0;
  Stepping Steps = stepThrough([&] { Result = realigned(5); }, true);
  EXPECT_EQ(Result, 5);
  EXPECT_GE(Steps.Steps, 150u);
  EXPECT_EQ(Steps.Different, 0u);
  EXPECT_LE(Steps.Broken, 2u * 6);
}

TEST(Unwind, DeepRecursion) {
  int Result = 0;
  EXPECT_ALL_RIGHT(stepThrough([&] { Result = deep(100); }), 500);
  EXPECT_EQ(Result, 101);
}

// libgcc cannot walk its own end of a throw, where it moves the stack.
TEST(Unwind, Exceptions) {
  bool Caught = false;
  Stepping Steps = stepThrough(
      [&] {
        try {
          throwing(1);
        } catch (const std::runtime_error &) {
          Caught = true;
        }
      },
      true);
  EXPECT_TRUE(Caught);
  EXPECT_GE(Steps.Steps, 2000u);
  EXPECT_EQ(Steps.Different, 0u);
  EXPECT_LE(Steps.Broken, Steps.Steps / 100);
}

static volatile int Handled = 0;

TEST(Unwind, InsideASignalHandler) {
  struct sigaction Action = {};
  Action.sa_handler = [](int) { Handled = deep(5); };
  sigaction(SIGUSR1, &Action, nullptr);
  EXPECT_ALL_RIGHT(stepThrough([] { raise(SIGUSR1); }), 50);
  EXPECT_EQ(Handled, 6);
}

// A return address that leads nowhere: what is right stays, the rest is marked.
TEST(Unwind, BrokenStackIsMarked) {
  uint64_t Fake[64] = {};
  Fake[0] = 0x10; // in no object
  FrameRegisters Registers = {};
  // The first instruction of a function: its return address is at the top.
  Registers.Value[FrameRegisters::Pc] = reinterpret_cast<uint64_t>(&compare);
  Registers.Value[FrameRegisters::Rsp] = reinterpret_cast<uint64_t>(Fake);
  StackMemory Memory;
  Memory.Process = getpid();
  NativeStack Stack = {Seen, MostFrames, 0, false, false};
  unwind(Registers, Memory, Stack);
  EXPECT_TRUE(Stack.Broken);
  ASSERT_EQ(Stack.Count, 2u);
  EXPECT_EQ(Seen[0], reinterpret_cast<uint64_t>(&compare));
  EXPECT_EQ(Seen[1], 0x10u);
  // No stack at all.
  Registers.Value[FrameRegisters::Rsp] = 0x10;
  unwind(Registers, Memory, Stack);
  EXPECT_TRUE(Stack.Broken);
  EXPECT_EQ(Stack.Count, 1u);
}

TEST(Unwind, TooManyFramesAreCut) {
  struct Inner {
    [[gnu::noinline]] static void at(int Depth, NativeStack &Stack) {
      if (Depth > 0) {
        at(Depth - 1, Stack);
        asm volatile("");
        return;
      }
      ucontext_t Here;
      getcontext(&Here);
      StackMemory Memory;
      Memory.Process = getpid();
      unwind(FrameRegisters::of(Here), Memory, Stack);
    }
  };
  NativeStack Stack = {Seen, 10, 0, false, false};
  Inner::at(20, Stack);
  EXPECT_TRUE(Stack.Cut);
  EXPECT_FALSE(Stack.Broken);
  EXPECT_EQ(Stack.Count, 10u);
}
