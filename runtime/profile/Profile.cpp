// Begin and end of profiling in threads; the signals that it uses.
#include "profile/Profile.h"
#include "HostDump.h"
#include "HostRecorder.h"
#include "Log.h"
#include "profile/Modules.h"
#include "profile/PythonStack.h"
#include "profile/Sampler.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kprobe {
namespace {

struct Profile {
  SigactionFunction *Sigaction = nullptr;
  ProfileWish Wish;
  bool Gone = false; // in the child of a fork: only signals are looked after
  std::atomic<int> Signal{0}; // of samples; 0: none are taken
  std::mutex Lock;            // of what follows; never in a handler
  std::vector<ProfiledThread *> Threads;
  std::vector<std::string> Messages;
  struct sigaction OthersTrap = {};
};

// Never destroyed: threads outlive main's destructors.
std::atomic<Profile *> Only{nullptr};

void say(Profile &P, const std::string &Text) {
  logWarning(Text);
  std::lock_guard<std::mutex> Guard(P.Lock);
  P.Messages.push_back(Text);
}

void writeSources(Profile &P, const HostRecorder::ChunkSink &Append) {
  writeModules(Append);
  std::string Text = findPython();
  if (!Text.empty())
    say(P, Text);
  std::vector<std::string> Pending;
  {
    std::lock_guard<std::mutex> Guard(P.Lock);
    Pending.swap(P.Messages);
  }
  for (const std::string &Message : Pending)
    Append(KPROBE_CHUNK_MESSAGE, nullptr, 0, Message);
}

void install(const Profile &P, int Signal,
             void (*Handler)(int, siginfo_t *, void *), struct sigaction *Old) {
  struct sigaction Action = {};
  Action.sa_sigaction = Handler;
  // On the thread's alternate stack, since its own may be near its end; no
  // other handler in between.
  Action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&Action.sa_mask);
  P.Sigaction(Signal, &Action, Old);
}

void trapHandler(int Signal, siginfo_t *Info, void *Context) {
  if (onTrap(Info, Context))
    return;
  const Profile &P = *Only.load(std::memory_order_acquire);
  const struct sigaction &Others = P.OthersTrap;
  if (Others.sa_flags & SA_SIGINFO) {
    Others.sa_sigaction(Signal, Info, Context);
  } else if (Others.sa_handler == SIG_DFL) {
    P.Sigaction(Signal, &Others, nullptr);
    raise(Signal);
  } else if (Others.sa_handler != SIG_IGN) {
    Others.sa_handler(Signal);
  }
}

// A real-time signal that nobody handles, from the last one down: programs
// count from the first.
int chooseSignal(const Profile &P, int Not) {
  for (int Signal = SIGRTMAX - 1; Signal > SIGRTMIN; --Signal) {
    struct sigaction Present;
    if (Signal != Not && P.Sigaction(Signal, nullptr, &Present) == 0 &&
        !(Present.sa_flags & SA_SIGINFO) && Present.sa_handler == SIG_DFL)
      return Signal;
  }
  return 0;
}

// The event of this thread, by the wish or by what there is instead.
int openSamples(Profile &P) {
  int Event = openSampleEvent(P.Wish, P.Signal);
  if (Event >= 0 || P.Wish.What == ProfileWish::CpuClock ||
      (Event != -ENOENT && Event != -EOPNOTSUPP && Event != -ENODEV))
    return Event;
  P.Wish = {ProfileWish::CpuClock, ProfileWish::DefaultClockNs,
            P.Wish.LeastWaitNs};
  say(P, "profile: there is no hardware counter here: threads are sampled each "
         "millisecond of processor time instead");
  setenv("KPROBE_PROFILE", "cpu-clock", 1);
  return openSampleEvent(P.Wish, P.Signal);
}

std::string whyNot(int Error) {
  std::string Text = std::strerror(-Error);
  if (Error == -EACCES || Error == -EPERM)
    Text += " (/proc/sys/kernel/perf_event_paranoid is " + perfEventParanoid() +
            ")";
  return Text;
}

void endThread() {
  ProfiledThread *T = profiledThread();
  Profile *P = Only.load(std::memory_order_acquire);
  if (!T || !P)
    return;
  {
    std::lock_guard<std::mutex> Guard(P->Lock);
    P->Threads.erase(std::remove(P->Threads.begin(), P->Threads.end(), T),
                     P->Threads.end());
  }
  for (int Event : {T->SampleEvent, T->WaitEvent})
    if (Event >= 0) {
      disable(Event);
      close(Event);
    }
  // A signal that is still on its way finds nothing.
  setProfiledThread(nullptr);
  stack_t Present;
  if (T->OwnsAlternate && sigaltstack(nullptr, &Present) == 0 &&
      Present.ss_sp == T->Alternate) {
    if (Present.ss_flags & SS_ONSTACK)
      return; // the thread ends in a handler: its stack stays
    Present.ss_flags = SS_DISABLE;
    sigaltstack(&Present, nullptr);
    munmap(T, sizeof(*T));
  }
}

// The events are the parent's; the descriptors are copies. One thread is left,
// and the lock may be held by another.
void letGoInChild() {
  Profile *P = Only.load(std::memory_order_relaxed);
  if (!P || P->Gone)
    return;
  P->Gone = true;
  P->Signal = 0;
  for (ProfiledThread *T : P->Threads)
    for (int Event : {T->SampleEvent, T->WaitEvent})
      if (Event >= 0)
        close(Event);
  new (&P->Lock) std::mutex;
  P->Threads.clear();
  setProfiledThread(nullptr);
}

ProfiledThread *newThread() {
  void *Memory = mmap(nullptr, sizeof(ProfiledThread), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (Memory == MAP_FAILED)
    return nullptr;
  auto *T = static_cast<ProfiledThread *>(Memory);
  T->SampleEvent = T->WaitEvent = -1;
  // Each space numbers the code that it has described; the stream is one.
  T->Spaces[1].Reading.Codes.Count = 1u << 31;
  T->ThreadId = pid_t(syscall(SYS_gettid));
  pthread_attr_t Attributes;
  if (pthread_getattr_np(pthread_self(), &Attributes) == 0) {
    void *Low = nullptr;
    size_t Bytes = 0;
    pthread_attr_getstack(&Attributes, &Low, &Bytes);
    T->StackLow = reinterpret_cast<uint64_t>(Low);
    T->StackHigh = T->StackLow + Bytes;
    pthread_attr_destroy(&Attributes);
  }
  stack_t Present;
  if (sigaltstack(nullptr, &Present) == 0 && (Present.ss_flags & SS_DISABLE)) {
    stack_t Ours = {T->Alternate, 0, sizeof(T->Alternate)};
    T->OwnsAlternate = sigaltstack(&Ours, nullptr) == 0;
  }
  return T;
}

} // namespace

void profileThread() {
  Profile *P = Only.load(std::memory_order_acquire);
  if (!P || P->Gone || profiledThread())
    return;
  int Saved = errno;
  HostStream *Stream = hostStream();
  ProfiledThread *T = Stream ? newThread() : nullptr;
  if (T) {
    T->Stream = Stream;
    if (P->Signal)
      T->SampleEvent = openSamples(*P);
    if (Sampling.LeastWaitNs)
      T->WaitEvent = openWaitEvent();
    {
      std::lock_guard<std::mutex> Guard(P->Lock);
      P->Threads.push_back(T);
    }
    setProfiledThread(T);
    resetWait(*T);
    if (T->SampleEvent >= 0)
      rearm(T->SampleEvent);
    if (T->WaitEvent >= 0)
      enable(T->WaitEvent);
  }
  errno = Saved;
}

void pauseProfile() {
  ProfiledThread *T = profiledThread();
  // The child of a vfork has its parent's memory.
  if (!T || T->ThreadId != pid_t(syscall(SYS_gettid)))
    return;
  for (int Event : {T->SampleEvent, T->WaitEvent})
    if (Event >= 0)
      disable(Event);
}

void profileSubmit(uint64_t Dispatch) {
  if (ProfiledThread *T = profiledThread())
    recordSubmit(*T, Dispatch);
}

void startProfile(SigactionFunction *Next) {
  Config Settings;
  std::string Why;
  // A wrong setting is told by the runtime when it loads, and by kprobe-run.
  if (!readConfig([](const char *Name) { return getenv(Name); }, Settings,
                  Why) ||
      Settings.Disabled || Settings.Profile.What == ProfileWish::Off ||
      !Next)
    return;
  auto *P = new Profile;
  P->Sigaction = Next;
  P->Wish = Settings.Profile;
  P->Signal = chooseSignal(*P, 0);
  HostRecorder &Recorder = HostRecorder::get();
  Recorder.start(Settings);
  Recorder.addSource(
      [P](const HostRecorder::ChunkSink &Append) { writeSources(*P, Append); });
  Recorder.setThreadEnd(endThread);
  startHostDump(Settings);
  pthread_atfork(nullptr, nullptr, letGoInChild);

  // What this thread may do, all may.
  int Event = P->Signal ? openSamples(*P) : -EBUSY;
  if (Event < 0) {
    say(*P, "profile: no samples: " + whyNot(Event));
    P->Signal = 0;
  } else {
    close(Event);
    install(*P, P->Signal, onOverflow, nullptr);
  }
  Sampling.Weight = P->Wish.Period;
  Sampling.Unit = P->Wish.What == ProfileWish::CpuClock ? KPROBE_UNIT_NS
                  : P->Wish.What == ProfileWish::Cycles
                      ? KPROBE_UNIT_CYCLES
                      : KPROBE_UNIT_INSTRUCTIONS;
  Sampling.LeastWaitNs = P->Wish.LeastWaitNs;
  Event = Sampling.LeastWaitNs ? openWaitEvent() : -1;
  if (Event >= 0) {
    close(Event);
    install(*P, SIGTRAP, trapHandler, &P->OthersTrap);
  } else if (Sampling.LeastWaitNs) {
    say(*P, "profile: waits are not recorded: " + whyNot(Event));
    Sampling.LeastWaitNs = 0;
    // What it starts need not find out again, nor say so.
    setenv("KPROBE_PROFILE_WAITS", "0", 1);
  }
  std::string Text = findPython();
  if (!Text.empty())
    say(*P, Text);
  Only.store(P, std::memory_order_release);
  profileThread();
}

bool profiles(const void *Caller) {
  Profile *P = Only.load(std::memory_order_acquire);
  if (!P || P->Gone)
    return false;
  struct dl_find_object Theirs, Ours;
  return _dl_find_object(const_cast<void *>(Caller), &Theirs) != 0 ||
         _dl_find_object(reinterpret_cast<void *>(&profileThread), &Ours) != 0 ||
         Theirs.dlfo_link_map != Ours.dlfo_link_map;
}

// From here on the program's handler may stand there.
static void leaveSignal(Profile &P, int Signal) {
  int Other = chooseSignal(P, Signal);
  if (Other)
    install(P, Other, onOverflow, nullptr);
  {
    std::lock_guard<std::mutex> Guard(P.Lock);
    P.Signal = Other;
    for (ProfiledThread *T : P.Threads) {
      if (T->SampleEvent < 0)
        continue;
      if (Other)
        sendOverflowAs(T->SampleEvent, Other);
      else
        disable(T->SampleEvent);
    }
  }
  say(P, "profile: the program uses signal " + std::to_string(Signal) +
             " itself; " +
             (Other ? "samples now come by signal " + std::to_string(Other)
                    : std::string("there is no other: no more samples")));
}

int programSigaction(SigactionFunction *Next, int Signal,
                     const struct sigaction *New, struct sigaction *Old) {
  Profile *P = Only.load(std::memory_order_acquire);
  if (P && Signal == SIGTRAP && Sampling.LeastWaitNs) {
    std::lock_guard<std::mutex> Guard(P->Lock);
    struct sigaction Present = P->OthersTrap;
    if (New)
      P->OthersTrap = *New;
    if (Old)
      *Old = Present;
    return 0;
  }
  bool Ours = P && Signal != 0 && Signal == P->Signal;
  if (Ours && New)
    leaveSignal(*P, Signal);
  int Status = Next(Signal, New, Old);
  if (Ours && Old && Status == 0)
    *Old = {};
  return Status;
}

void withoutOurs(sigset_t &Set) {
  Profile *P = Only.load(std::memory_order_acquire);
  if (!P)
    return;
  if (P->Signal)
    sigdelset(&Set, P->Signal);
  if (Sampling.LeastWaitNs)
    sigdelset(&Set, SIGTRAP);
}

} // namespace kprobe
