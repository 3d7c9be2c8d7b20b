// What one sample costs, apart from what the machine makes of it: the handler's
// own time at a stack of some depth, and the floor below it. A library, so that
// Python can call it from a stack of its own (handler.py).
//
// Both are measured in batches that take turns in one process; the least of each
// counts, since whatever else runs only adds.
#include "HostRecorder.h"
#include "profile/Sampler.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <unistd.h>

using namespace kprobe;

namespace {

// Opens real counters, but for this they never overflow.
constexpr ProfileWish Never = {ProfileWish::CpuClock, 1000000000000000, 0};
constexpr int Batch = 50;

ProfiledThread T;
int Signal;

void emptyHandler(int, siginfo_t *, void *) {}

void sampleHandler(int, siginfo_t *, void *Context) {
  siginfo_t Info = {};
  Info.si_code = POLL_IN;
  Info.si_fd = T.SampleEvent;
  onOverflow(Signal, &Info, Context);
}

double batch(void (*Handler)(int, siginfo_t *, void *)) {
  struct sigaction Action = {};
  Action.sa_sigaction = Handler;
  Action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&Action.sa_mask);
  sigaction(Signal, &Action, nullptr);
  uint64_t Begin = hostNowNs();
  for (int I = 0; I < Batch; ++I)
    raise(Signal);
  return double(hostNowNs() - Begin) / Batch;
}

void start() {
  if (T.Stream)
    return;
  Config Settings;
  Settings.ApiRingBytes = 4u << 20;
  HostRecorder::get().start(Settings);
  Signal = SIGRTMAX - 2;
  T.Stream = hostStream();
  T.ThreadId = gettid();
  T.WaitEvent = -1;
  T.SampleEvent = openSampleEvent(Never, Signal);
  pthread_attr_t Attributes;
  pthread_getattr_np(pthread_self(), &Attributes);
  void *Low;
  size_t Bytes;
  pthread_attr_getstack(&Attributes, &Low, &Bytes);
  pthread_attr_destroy(&Attributes);
  T.StackLow = reinterpret_cast<uint64_t>(Low);
  T.StackHigh = T.StackLow + Bytes;
  setProfiledThread(&T);
  Sampling.Weight = 1;
  findPython();
}

struct Cost {
  double HandlerNs, FloorNs, Frames;
};

} // namespace

// From a stack of Depth native frames more than the caller's.
extern "C" [[gnu::noinline, gnu::visibility("default")]] void
kprobe_handler_cost(int Depth, int Rounds, Cost *Out) {
  if (Depth > 0) {
    kprobe_handler_cost(Depth - 1, Rounds, Out);
    asm volatile("");
    return;
  }
  start();
  double Floor = 1e18, Whole = 1e18;
  for (int I = 0; I < Rounds; ++I) {
    Floor = std::min(Floor, batch(emptyHandler));
    Whole = std::min(Whole, batch(sampleHandler));
    HostRecorder::get().drain([Out](uint32_t Kind, const void *, size_t,
                                    std::string_view Rest) {
      KprobeHostStack Event = {};
      if (Kind != KPROBE_CHUNK_HOST_EVENTS)
        return;
      for (size_t At = 0; At + sizeof(Event) <= Rest.size();
           At += Event.Head.Bytes) {
        std::memcpy(&Event, Rest.data() + At, sizeof(Event));
        if (Event.Head.Kind == KPROBE_HOST_STACK_SAMPLE)
          Out->Frames = Event.Native + Event.Python;
      }
    });
  }
  Out->HandlerNs = Whole - Floor;
  Out->FloorNs = Floor;
}
