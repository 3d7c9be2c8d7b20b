// The walk backwards.
#include "CriticalPath.h"

#include "Names.h"

#include <algorithm>

namespace kprobe {
namespace {

/// What kind of wait a function or a system call is known for.
const char *causeOf(std::string_view Name) {
  struct Known {
    const char *Part, *Cause;
  };
  // The first that fits stands.
  static const Known List[] = {
      {"nanosleep", "timer"},       {"usleep", "timer"},
      {"futex", "lock"},            {"pthread_cond", "lock"},
      {"pthread_mutex", "lock"},    {"pthread_rwlock", "lock"},
      {"sem_wait", "lock"},         {"sem_timedwait", "lock"},
      {"sem_clockwait", "lock"},    {"lll_lock", "lock"},
      {"pthread_join", "thread"},   {"clockjoin", "thread"},
      {"timedjoin", "thread"},      {"wait4", "child"},
      {"waitpid", "child"},         {"waitid", "child"},
      {"recv", "network"},          {"send", "network"},
      {"accept", "network"},        {"connect", "network"},
      {"epoll", "poll"},            {"poll", "poll"},
      {"select", "poll"},           {"fsync", "disk"},
      {"fdatasync", "disk"},        {"read", "file"},
      {"write", "file"},            {"open", "file"},
      {"ioctl", "driver"},
  };
  for (const Known &K : List)
    if (Name.find(K.Part) != std::string_view::npos)
      return K.Cause;
  return nullptr;
}

bool isTimer(std::string_view Syscall) {
  const char *Cause = causeOf(Syscall);
  return Cause && std::string_view(Cause) == "timer";
}

class Walk {
public:
  Walk(const Activity &A, const Trace &T, const FrameNames &Names, int64_t From)
      : A(A), T(T), Names(Names), From(From) {}

  void from(uint32_t Start, int64_t End) {
    Thread = Start;
    Now = End;
    // Each step goes back in time or to another thread; damaged records could
    // send it round in circles.
    size_t Idle = 0;
    while (Now > From && Idle <= A.Threads.size()) {
      int64_t Before = Now;
      if (!step())
        break;
      Idle = Now < Before ? 0 : Idle + 1;
    }
    add(PathSegment::Kind::Blocked, From, nullptr, nullptr, "unknown");
    std::reverse(Path.begin(), Path.end());
  }
  std::vector<PathSegment> Path;

private:
  void add(PathSegment::Kind What, int64_t Begin,
           const DeviceRun *Run = nullptr, const ThreadWait *Wait = nullptr,
           std::string Cause = "") {
    Begin = std::max(Begin, From);
    if (Begin < Now)
      Path.push_back({What, Begin, Now, Thread, Run, std::move(Cause), Wait});
    Now = std::min(Now, Begin);
  }

  const ThreadActivity *threadOf(uint32_t Id) const {
    auto Found = A.Threads.find(Id);
    return Found == A.Threads.end() ? nullptr : &Found->second;
  }

  /// The run of this thread's process that ended last in (After, Now] and was
  /// submitted before Now.
  const DeviceRun *lastRun(int64_t After) const {
    const ThreadActivity *Own = threadOf(Thread);
    uint32_t Process = Own ? Own->Process : 0;
    auto Place = std::upper_bound(
        A.Runs.begin(), A.Runs.end(), Now,
        [](int64_t Ns, const DeviceRun &R) { return Ns < R.End; });
    while (Place != A.Runs.begin() && (--Place)->End > After)
      if (Place->Submit < Now && Place->Process == Process)
        return &*Place;
    return nullptr;
  }

  /// The main thread of a child of this thread's process, of those that ended in
  /// (After, Now] the last one.
  const ThreadActivity *lastChild(int64_t After) const {
    const ThreadActivity *Best = nullptr, *Own = threadOf(Thread);
    for (const auto &[Id, Each] : A.Threads)
      if (Own->Process != 0 && Each.Parent == Own->Process &&
          Each.Process == Id && Each.Last > After && Each.Last <= Now &&
          (!Best || Each.Last > Best->Last))
        Best = &Each;
    return Best;
  }

  /// What held the queue when \p R was submitted.
  const DeviceRun *before(const DeviceRun &R) const {
    const DeviceRun *Best = nullptr;
    for (const DeviceRun &P : A.Runs)
      if (&P != &R && P.Process == R.Process && P.Queue == R.Queue &&
          P.Submit < R.Submit &&
          P.End > R.Submit && P.Begin < R.Begin &&
          (!Best || P.End > Best->End))
        Best = &P;
    return Best;
  }

  void device(const DeviceRun *R) {
    add(PathSegment::Kind::Return, R->End, R);
    for (;;) {
      add(PathSegment::Kind::Device, R->Begin, R);
      const DeviceRun *P = before(*R);
      if (!P)
        break;
      add(PathSegment::Kind::Queue, P->End, R);
      R = P;
    }
    add(PathSegment::Kind::Launch, R->Submit, R);
    if (A.Threads.count(R->Thread))
      Thread = R->Thread;
  }

  std::string blockedOn(const ThreadWait &W) const {
    if (W.Syscall >= 0) {
      std::string Name = syscallName(T, W.Syscall);
      const char *Cause = causeOf(Name);
      return Cause ? std::string(Cause) + " (" + Name + ")" : Name;
    }
    // Wrappers lie around what really waits.
    constexpr size_t Deepest = 8;
    for (size_t I = 0; I < W.Stack.size() && I < Deepest; ++I) {
      const Frame &F = Names[W.Stack[W.Stack.size() - 1 - I]];
      if (F.Python)
        break;
      if (const char *Cause = causeOf(F.Name))
        return std::string(Cause) + " (" + F.Name + ")";
    }
    return "unknown";
  }

  /// \p W ends at or after Now and began before.
  void wait(const ThreadWait &W) {
    if (W.Preempted)
      return add(PathSegment::Kind::Preempted, W.Begin, nullptr, &W);
    auto Waker = A.Threads.find(W.Waker);
    bool Known = W.WokenNs > W.Begin && W.WokenNs <= Now && W.Waker != 0 &&
                 W.Waker != Thread && Waker != A.Threads.end();
    // Nobody ends a sleep but the clock, whatever ran when it struck.
    if (W.Syscall >= 0 && isTimer(syscallName(T, W.Syscall)))
      Known = false;
    if (W.ForDevice || (Known && Waker->second.Emulation))
      if (const DeviceRun *R = lastRun(W.Begin))
        return device(R);
    if (Known) {
      add(PathSegment::Kind::Ready, W.WokenNs, nullptr, &W);
      Thread = W.Waker;
      return;
    }
    std::string Cause = blockedOn(W);
    // Nobody records a process's very end: what it did last stands for it.
    if (Cause.rfind("child", 0) == 0)
      if (const ThreadActivity *Child = lastChild(W.Begin)) {
        add(PathSegment::Kind::Blocked, Child->Last, nullptr, &W,
            std::move(Cause));
        Thread = Child->Id;
        return;
      }
    if (W.WokenNs > W.Begin && W.WokenNs < Now)
      add(PathSegment::Kind::Ready, W.WokenNs, nullptr, &W);
    add(PathSegment::Kind::Blocked, W.Begin, nullptr, &W, std::move(Cause));
  }

  bool step() {
    auto Found = A.Threads.find(Thread);
    if (Found == A.Threads.end())
      return false;
    const ThreadActivity &Own = Found->second;
    // The last of each that begins before now.
    auto lastBefore = [this](const auto &List) {
      auto Place = std::lower_bound(
          List.begin(), List.end(), Now,
          [](const auto &Span, int64_t Ns) { return Span.Begin < Ns; });
      return Place == List.begin() ? nullptr : &*(Place - 1);
    };
    const CallSpan *Call = lastBefore(Own.DeviceCalls);
    if (Call && Call->End >= Now)
      if (const DeviceRun *R = lastRun(Call->Begin)) {
        device(R);
        return true;
      }
    const ThreadWait *Wait = lastBefore(Own.Waits);
    if (Wait && Wait->End >= Now) {
      wait(*Wait);
      return true;
    }
    int64_t Begin = From;
    const ThreadActivity *Parent =
        Own.Process == Own.Id ? threadOf(Own.Parent) : nullptr;
    // Where Linux tells all, a thread was nothing before it first ran; and a
    // process was nothing before its parent began it.
    if (Own.First >= Now) {
      if (Parent)
        Thread = Parent->Id;
      if (Parent || A.Switches)
        return Parent;
    }
    if (A.Switches || Parent)
      Begin = std::max(Begin, Own.First);
    if (Wait)
      Begin = std::max(Begin, Wait->End);
    if (Call && Call->End < Now)
      Begin = std::max(Begin, Call->End);
    add(PathSegment::Kind::Running, Begin);
    return true;
  }

  const Activity &A;
  const Trace &T;
  const FrameNames &Names;
  const int64_t From;
  uint32_t Thread = 0;
  int64_t Now = 0;
};

} // namespace

std::vector<PathSegment> criticalPath(const Activity &A, const Trace &T,
                                      const FrameNames &Names, uint32_t Thread,
                                      int64_t From, int64_t To) {
  Walk W(A, T, Names, From);
  W.from(Thread, To);
  return std::move(W.Path);
}

std::vector<const DeviceRun::Wave *> lastWaves(const DeviceRun &Run) {
  std::vector<const DeviceRun::Wave *> Order;
  for (const DeviceRun::Wave &W : Run.Waves)
    Order.push_back(&W);
  std::sort(Order.begin(), Order.end(),
            [](const auto *X, const auto *Y) { return X->End < Y->End; });
  std::vector<const DeviceRun::Wave *> Chain;
  while (!Order.empty()) {
    const DeviceRun::Wave *Last = Order.back();
    Chain.push_back(Last);
    while (!Order.empty() &&
           (Order.back() == Last || Order.back()->End > Last->Begin))
      Order.pop_back();
  }
  return Chain;
}

} // namespace kprobe
