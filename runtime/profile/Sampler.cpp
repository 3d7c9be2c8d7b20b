// From a signal to a stack in the thread's stream. Everything in this file may
// run at any instruction of the program.
#include "Sampler.h"
#include "HostRecorder.h"
#include "Unwind.h"

#include <cerrno>
#include <pthread.h>
#include <sys/resource.h>

namespace kprobe {

SamplerSettings Sampling;

// In the static TLS block: reading it cannot allocate.
static thread_local ProfiledThread *Mine
    __attribute__((tls_model("initial-exec"))) = nullptr;

ProfiledThread *profiledThread() { return Mine; }
void setProfiledThread(ProfiledThread *Thread) { Mine = Thread; }

static uint64_t clockNs(clockid_t Clock) {
  struct timespec Now;
  clock_gettime(Clock, &Now);
  return uint64_t(Now.tv_sec) * 1000000000ull + uint64_t(Now.tv_nsec);
}

static int64_t sleeps() {
  struct rusage Usage;
  return getrusage(RUSAGE_THREAD, &Usage) == 0 ? Usage.ru_nvcsw : 0;
}

void resetWait(ProfiledThread &T) {
  T.LastNs = clockNs(CLOCK_MONOTONIC);
  T.LastProcessorNs = clockNs(CLOCK_THREAD_CPUTIME_ID);
  T.LastSleeps = sleeps();
}

static void recordStack(ProfiledThread &T, ProfiledThread::Space &Space,
                        KprobeHostStack Event, uint16_t Kind,
                        const ucontext_t &Context) {
  FrameRegisters Registers = FrameRegisters::of(Context);
  StackMemory Memory;
  uint64_t Rsp = Registers.Value[FrameRegisters::Rsp];
  if (Rsp >= T.StackLow && Rsp < T.StackHigh) {
    Memory.Low = Rsp;
    Memory.High = T.StackHigh;
  }
  Memory.Process = T.ThreadId; // any thread's id names its process
  NativeStack Native = {Space.Frames, ProfiledThread::MostFrames, 0, false, false};
  unwind(Registers, Memory, Native);

  PythonStack Python = {Space.Python, PythonScratch::MostFrames, 0, false,
                        false};
  if (const PythonInterpreter *I = foundPython())
    readPythonStack(*I, Memory, uint64_t(pthread_self()), *T.Stream,
                    Space.Reading, Python);

  const size_t NativeBytes = Native.Count * sizeof(uint64_t);
  const size_t PythonBytes = Python.Count * sizeof(KprobePythonFrame);
  const size_t Bytes = sizeof(Event) + NativeBytes + PythonBytes;
  uint8_t *Place = T.Stream->open(Bytes, T.Stream->Reserved);
  if (!Place)
    return;
  Event.Head.Bytes = uint16_t(Bytes);
  Event.Head.Kind = Kind;
  Event.Head.Call = T.Stream->Current;
  Event.Native = uint16_t(Native.Count);
  Event.Python = uint16_t(Python.Count);
  auto flag = [&](bool Set, uint16_t Flag) {
    Event.Flags = uint16_t(Event.Flags | (Set ? Flag : 0));
  };
  flag(Native.Broken, KPROBE_STACK_NATIVE_BROKEN);
  flag(Native.Cut, KPROBE_STACK_NATIVE_CUT);
  flag(Python.Broken, KPROBE_STACK_PYTHON_BROKEN);
  flag(Python.Cut, KPROBE_STACK_PYTHON_CUT);
  std::memcpy(Place, &Event, sizeof(Event));
  std::memcpy(Place + sizeof(Event), Space.Frames, NativeBytes);
  std::memcpy(Place + sizeof(Event) + NativeBytes, Space.Python, PythonBytes);
  // The drain comes round by itself: waking it needs a lock.
  T.Stream->publish();
}

static void record(ProfiledThread &T, const KprobeHostStack &Event,
                   uint16_t Kind, const ucontext_t &Context) {
  if (!HostRecorder::get().recording())
    return;
  ProfiledThread::Space *Space = &T.Spaces[0];
  if (Space->Busy)
    ++Space;
  // Our handlers do not interrupt each other; but the program's may have left a
  // submission for good (longjmp).
  if (Space->Busy) {
    T.Stream->lose();
    return;
  }
  Space->Busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  recordStack(T, *Space, Event, Kind, Context);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  Space->Busy = false;
}

void recordSubmit(ProfiledThread &T, uint64_t Dispatch) {
  ucontext_t Here;
  if (getcontext(&Here) != 0)
    return;
  KprobeHostStack Event = {};
  Event.Head.Ns = clockNs(CLOCK_MONOTONIC);
  Event.Weight = Dispatch;
  record(T, Event, KPROBE_HOST_STACK_SUBMIT, Here);
}

void onOverflow(int, siginfo_t *Info, void *Context) {
  ProfiledThread *T = Mine;
  // Anyone may send a signal; ours name their event.
  if (!T || Info->si_fd != T->SampleEvent || Info->si_code < POLL_IN ||
      Info->si_code > POLL_HUP)
    return;
  int Saved = errno;
  KprobeHostStack Event = {};
  Event.Head.Ns = clockNs(CLOCK_MONOTONIC);
  Event.Weight = Sampling.Weight;
  Event.Unit = Sampling.Unit;
  record(*T, Event, KPROBE_HOST_STACK_SAMPLE,
         *static_cast<const ucontext_t *>(Context));
  rearm(T->SampleEvent);
  errno = Saved;
}

bool onTrap(siginfo_t *Info, void *Context) {
  // TRAP_PERF; the field's name is younger than some headers.
  constexpr int TrapPerf = 6;
  if (Info->si_code != TrapPerf)
    return false;
  uint64_t Mark;
  // Behind si_addr in the kernel's siginfo: _sigfault._perf._data.
  std::memcpy(&Mark, reinterpret_cast<const char *>(&Info->si_addr) + 8,
              sizeof(Mark));
  if (Mark != WaitEventMark)
    return false;
  ProfiledThread *T = Mine;
  if (!T)
    return true;
  int Saved = errno;
  uint64_t Ns = clockNs(CLOCK_MONOTONIC);
  uint64_t ProcessorNs = clockNs(CLOCK_THREAD_CPUTIME_ID);
  int64_t Waited =
      int64_t((Ns - T->LastNs) - (ProcessorNs - T->LastProcessorNs));
  T->LastNs = Ns;
  T->LastProcessorNs = ProcessorNs;
  // One trap may stand for several switches in one system call. A thread that
  // slept in between waited, even if it had to wait for a processor besides.
  int64_t Sleeps = sleeps();
  bool Preempted = Sleeps == T->LastSleeps;
  T->LastSleeps = Sleeps;
  if (Waited >= int64_t(Sampling.LeastWaitNs)) {
    KprobeHostStack Event = {};
    Event.Head.Ns = Ns;
    Event.Weight = uint64_t(Waited);
    Event.Unit = KPROBE_UNIT_NS;
    Event.Flags = Preempted ? KPROBE_STACK_PREEMPTED : 0;
    record(*T, Event, KPROBE_HOST_STACK_WAIT,
           *static_cast<const ucontext_t *>(Context));
  }
  errno = Saved;
  return true;
}

} // namespace kprobe
