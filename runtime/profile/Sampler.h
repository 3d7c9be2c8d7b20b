// What a profiled thread owns, and the handlers that run on it.
#ifndef KPROBE_RUNTIME_PROFILE_SAMPLER_H
#define KPROBE_RUNTIME_PROFILE_SAMPLER_H

#include "HostStream.h"
#include "PerfEvents.h"
#include "PythonStack.h"
#include "StackMemory.h"

#include <csignal>

namespace kprobe {

struct ProfiledThread {
  static constexpr uint32_t MostFrames = 512;
  static constexpr size_t AlternateBytes = 64 << 10;

  HostStream *Stream;
  uint64_t StackLow, StackHigh; // of the stack that it was started with
  pid_t ThreadId;
  int SampleEvent; // -1: none
  int WaitEvent;
  // When the last look at the clocks was: what of the time since then is no
  // processor time was a wait.
  uint64_t LastNs, LastProcessorNs;
  int64_t LastSleeps; // switches that this thread asked for
  bool OwnsAlternate;
  // What a stack is collected in: a program's signal stack may be small. The
  // second is a handler's that interrupts the thread at its submission's stack.
  struct Space {
    bool Busy;
    uint64_t Frames[MostFrames];
    KprobePythonFrame Python[PythonScratch::MostFrames];
    PythonScratch Reading;
  } Spaces[2];
  alignas(64) uint8_t Alternate[AlternateBytes];
};

// How samples are weighed; fixed before the first thread is profiled.
struct SamplerSettings {
  uint64_t Weight;
  uint16_t Unit;
  uint64_t LeastWaitNs; // 0: waits are not recorded
};
extern SamplerSettings Sampling;

// This thread's, or null. A plain word: handlers read it.
ProfiledThread *profiledThread();
void setProfiledThread(ProfiledThread *Thread);

// Begins to watch the clocks of T, on its own thread.
void resetWait(ProfiledThread &T);

// The stack at which T, the calling thread, submits Dispatch.
void recordSubmit(ProfiledThread &T, uint64_t Dispatch);

// The handlers, with SA_SIGINFO.
void onOverflow(int Signal, siginfo_t *Info, void *Context);
// True when the trap was of our wait event.
bool onTrap(siginfo_t *Info, void *Context);

} // namespace kprobe

#endif
