// One walk over the time lines.
#include "Activity.h"

#include "Names.h"
#include "Scheduling.h"

#include <algorithm>
#include <unordered_map>

namespace kprobe {
namespace {

bool contains(const std::string &Text, const char *Part) {
  return Text.find(Part) != std::string::npos;
}

/// What all dumps tell of together: one may have a thread's sleep, another who
/// woke it.
struct Common {
  Activity &Out;
  const FrameNames &Names;
  Scheduling Linux;
  bool OwnRecords; ///< dumps' records of Linux count
  std::map<uint32_t, std::vector<ThreadWait>> StackWaits; ///< by thread id
};

/// Of one dump.
class Gatherer {
public:
  Gatherer(const ActivityInput &From, Common &All)
      : Input(From.Input), T(From.Input.trace()), Reader(From.Reader), All(All),
        Out(All.Out) {
    Process = T.Owner ? uint32_t(T.Owner->Record.Pid) : 0;
    Parent = T.Owner ? uint32_t(T.Owner->Record.ParentPid) : 0;
  }

  void item(const TimelineItem &I);
  void finish();

private:
  struct OpenCall {
    uint32_t Depth = 0; ///< of calls that wait, nested
    int64_t Begin = 0;
    std::string Name;
  };

  ThreadActivity &threadOf(uint32_t Id) {
    ThreadActivity &A = Out.Threads[Id];
    A.Id = Id;
    A.Process = Process;
    A.Parent = Parent;
    return A;
  }
  ThreadActivity &threadOf(const HostThread &H) {
    ThreadActivity &A = threadOf(H.Record.ThreadId);
    if (!H.Name.empty())
      A.Name = H.Name;
    return A;
  }
  void see(ThreadActivity &A, int64_t Ns) {
    A.First = std::min(A.First, Ns);
    A.Last = std::max(A.Last, Ns);
  }
  void processorEvent(const HostItem &I, int64_t Ns);
  void threadEvent(const HostItem &I, int64_t Ns);
  void call(const TimelineItem &I, bool Begin);
  void stack(ThreadActivity &A, const HostStack &S);

  Timeline &Input;
  const Trace &T;
  StackReader &Reader;
  Common &All;
  Activity &Out;
  uint32_t Process, Parent;
  std::unordered_map<uint32_t, OpenCall> Calls;   ///< by thread id
  std::unordered_map<const Dispatch *, DeviceRun> Kernels;
  std::unordered_map<const TimelineWave *, std::map<uint32_t, int64_t>> Blocks;
  std::unordered_map<uint64_t, DeviceRun> Copies; ///< by number
  std::unordered_map<uint64_t, std::vector<uint32_t>> Submits; ///< by dispatch
  /// By number; index in Out.Calls of its function.
  std::unordered_map<uint64_t, size_t> Wanted;
};

void Gatherer::processorEvent(const HostItem &I, int64_t Ns) {
  using Kind = KernelRecord::Kind;
  // All records begin with who ran.
  auto Switch = I.Event.as<KprobeHostSwitch>();
  KernelRecord R;
  R.Ns = Ns;
  R.Processor = I.Thread->Record.ThreadId;
  R.Thread = Switch.ThreadId;
  R.Process = Process;
  R.Own = Process == 0 || Switch.ProcessId == Process;
  switch (I.Event.Head.Kind) {
  case KPROBE_HOST_SWITCH_OUT:
    R.What = Kind::SwitchOut;
    R.Preempted = Switch.Preempted != 0;
    break;
  case KPROBE_HOST_SWITCH_IN:
    R.What = Kind::SwitchIn;
    break;
  case KPROBE_HOST_WAKEUP:
    R.What = Kind::Wakeup;
    R.Woken = I.Event.as<KprobeHostWakeup>().Woken;
    break;
  case KPROBE_HOST_SYSCALL_BEGIN:
    R.What = Kind::SyscallBegin;
    R.Number = I.Event.as<KprobeHostSyscall>().Number;
    break;
  case KPROBE_HOST_SYSCALL_END:
    R.What = Kind::SyscallEnd;
    break;
  case KPROBE_HOST_INTERRUPT_BEGIN:
    R.What = Kind::InterruptBegin;
    break;
  case KPROBE_HOST_INTERRUPT_END:
    R.What = Kind::InterruptEnd;
    break;
  default:
    return;
  }
  All.Linux.add(R);
  if (R.Own && (R.What == Kind::SwitchIn || R.What == Kind::SwitchOut))
    threadOf(R.Thread);
}

void Gatherer::stack(ThreadActivity &A, const HostStack &S) {
  A.Emulation = A.Emulation || S.Emulation;
  if (S.Kind == KPROBE_HOST_STACK_SAMPLE) {
    A.Ran.push_back({S.Ns, S.Weight, S.Frames});
  } else if (S.Kind == KPROBE_HOST_STACK_SUBMIT) {
    Submits[S.Weight] = S.Frames;
  } else if (S.Kind == KPROBE_HOST_STACK_WAIT) {
    ThreadWait W;
    W.End = S.Ns;
    W.Begin = S.Ns - static_cast<int64_t>(S.Weight);
    W.Preempted = S.Preempted;
    W.Stack = S.Frames;
    for (uint32_t F : S.Frames)
      W.ForDevice = W.ForDevice || waitsForDevice(All.Names[F].Name);
    All.StackWaits[A.Id].push_back(std::move(W));
  }
}

void Gatherer::threadEvent(const HostItem &I, int64_t Ns) {
  ThreadActivity &A = threadOf(*I.Thread);
  see(A, Ns);
  HostStack S;
  if (Reader.read(*I.Thread, I.Event, S))
    stack(A, S);
  if (I.Event.Head.Kind == KPROBE_HOST_COPY) {
    auto C = I.Event.as<KprobeHostCopy>();
    DeviceRun &R = Copies[C.Copy];
    R.Name = "copy of " + std::to_string(C.Bytes) + " bytes";
    R.Thread = A.Id;
    R.Submit = Ns;
    R.Queue = UINT64_MAX - C.Copy; // copies wait for no queue that we know
  } else if (I.Event.Head.Kind == KPROBE_HOST_COPY_DONE) {
    auto C = I.Event.as<KprobeHostCopyDone>();
    auto Where = T.Agents.find(C.Agent);
    if (C.BeginSystem == 0 || Where == T.Agents.end())
      return;
    const ClockFit &Clock = Input.clockOf(Where->second).System;
    if (Clock.quality() == ClockFit::Quality::None)
      return;
    DeviceRun &R = Copies[C.Copy];
    R.Begin = Clock.toMonotonicNs(C.BeginSystem);
    R.End = Clock.toMonotonicNs(C.EndSystem);
  }
}

void Gatherer::call(const TimelineItem &I, bool Begin) {
  ThreadActivity &A = threadOf(*I.Host->Thread);
  see(A, I.Ns);
  const ApiFunction *F = T.functionOf(I.Host->Event.Head);
  if (!F)
    return;
  auto List = Out.Calls.find(F->Name);
  if (List != Out.Calls.end()) {
    uint64_t Number = I.Host->Event.Head.Call;
    if (Begin) {
      Wanted[Number] = List->second.size();
      List->second.push_back({I.Ns, INT64_MAX, A.Id});
    } else if (auto Place = Wanted.find(Number); Place != Wanted.end()) {
      List->second[Place->second].End = I.Ns;
    }
  }
  if (!waitsForDevice(F->Name))
    return;
  OpenCall &C = Calls[A.Id];
  if (Begin) {
    if (C.Depth++ == 0) {
      C.Begin = I.Ns;
      C.Name = F->Name;
    }
  } else if (C.Depth != 0 && --C.Depth == 0) {
    A.DeviceCalls.push_back({C.Begin, I.Ns, C.Name});
  }
}

void Gatherer::item(const TimelineItem &I) {
  switch (I.What) {
  case TimelineItem::Kind::CallBegin:
  case TimelineItem::Kind::CallEnd:
    return call(I, I.What == TimelineItem::Kind::CallBegin);
  case TimelineItem::Kind::Host:
    if (I.Host->Thread->isProcessor())
      return All.OwnRecords ? processorEvent(*I.Host, I.Ns) : void();
    return threadEvent(*I.Host, I.Ns);
  case TimelineItem::Kind::Submit: {
    DeviceRun &R = Kernels[I.Owner];
    R.Submit = I.Ns;
    return;
  }
  case TimelineItem::Kind::KernelBegin: {
    DeviceRun &R = Kernels[I.Owner];
    R.Begin = I.Ns;
    R.End = I.EndNs;
    return;
  }
  case TimelineItem::Kind::Block:
    Blocks[I.Wave][siteOfTime(I)] += I.Block->EndNs - I.Block->BeginNs;
    return;
  case TimelineItem::Kind::WaveEnd: {
    DeviceRun::Wave W = {I.Wave->BeginNs, I.Wave->EndNs, {}};
    auto Found = Blocks.find(I.Wave);
    if (Found != Blocks.end()) {
      W.Blocks.assign(Found->second.begin(), Found->second.end());
      Blocks.erase(Found);
    }
    Kernels[I.Owner].Waves.push_back(std::move(W));
    return;
  }
  default:
    return;
  }
}

void Gatherer::finish() {
  // Of threads that Linux alone has told of.
  for (const auto &[Number, H] : T.Threads)
    if (auto Known = Out.Threads.find(H.Record.ThreadId);
        Known != Out.Threads.end() && !H.isProcessor() &&
        Known->second.Name.empty())
      Known->second.Name = H.Name;
  for (auto &[D, R] : Kernels) {
    R.Kernel = D;
    R.Process = Process;
    R.Name = kernelName(*D);
    R.Thread = D->Record.ThreadId;
    R.Queue = D->Record.Queue;
    auto Submit = Submits.find(D->Record.Dispatch);
    if (Submit != Submits.end())
      R.Stack = Submit->second;
    // Without times of its own, those of its waves.
    if (R.End == 0)
      for (const DeviceRun::Wave &W : R.Waves) {
        R.Begin = R.Begin == 0 ? W.Begin : std::min(R.Begin, W.Begin);
        R.End = std::max(R.End, W.End);
      }
    if (R.End != 0)
      Out.Runs.push_back(std::move(R));
  }
  for (auto &[Number, R] : Copies)
    if (R.End != 0) {
      R.Process = Process;
      Out.Runs.push_back(std::move(R));
    }
}

/// Puts the stacks at the ends of waits to what Linux told of these, or in their
/// place.
void joinStacks(Common &All) {
  for (auto &[Id, A] : All.Out.Threads) {
    std::vector<ThreadWait> &Stacks = All.StackWaits[Id];
    if (A.Waits.empty()) {
      A.Waits = std::move(Stacks);
    } else {
      // A stack belongs to the last wait that ended before it was taken.
      size_t Next = 0;
      for (ThreadWait &S : Stacks) {
        while (Next < A.Waits.size() && A.Waits[Next].End <= S.End)
          ++Next;
        if (Next != 0 && A.Waits[Next - 1].End > S.Begin) {
          A.Waits[Next - 1].Stack = std::move(S.Stack);
          A.Waits[Next - 1].ForDevice = S.ForDevice;
        }
      }
    }
    // Two records of one wait may overlap by what it takes to write them.
    for (size_t I = 1; I < A.Waits.size(); ++I)
      A.Waits[I].Begin = std::max(A.Waits[I].Begin, A.Waits[I - 1].End);
  }
}

} // namespace

bool waitsForDevice(const std::string &Function) {
  if (Function.rfind("hsa_signal_wait", 0) == 0 ||
      Function.rfind("hsa_amd_signal_wait", 0) == 0)
    return true;
  if (Function.rfind("hip", 0) != 0)
    return false;
  return contains(Function, "Synchronize") ||
         (contains(Function, "Memcpy") && !contains(Function, "Async"));
}

void gatherActivity(std::vector<ActivityInput> &Inputs, const FrameNames &Names,
                    const std::vector<KernelRecord> *Kernel, Activity &Out) {
  int64_t BeginNs = INT64_MAX;
  for (const ActivityInput &From : Inputs)
    BeginNs = std::min(BeginNs, From.Input.beginNs());
  Common All = {Out, Names, Scheduling(Out, BeginNs), !Kernel, {}};
  struct Walk {
    Gatherer Own;
    TimelineItem Item;
    bool Done;
  };
  std::vector<Walk> Walks;
  auto step = [&](size_t I) {
    Walk &W = Walks[I];
    Inputs[I].Fault = Inputs[I].Input.next(W.Item, W.Done);
    W.Done = W.Done || Inputs[I].Fault;
  };
  for (const ActivityInput &From : Inputs) {
    Walks.push_back({Gatherer(From, All), {}, false});
    step(Walks.size() - 1);
  }
  // The kernel's records are of no dump: their order among themselves counts.
  if (Kernel)
    for (const KernelRecord &R : *Kernel)
      All.Linux.add(R);
  for (;;) {
    size_t First = Walks.size();
    for (size_t I = 0; I < Walks.size(); ++I)
      if (!Walks[I].Done &&
          (First == Walks.size() || Walks[I].Item.Ns < Walks[First].Item.Ns))
        First = I;
    if (First == Walks.size())
      break;
    Walks[First].Own.item(Walks[First].Item);
    step(First);
  }
  for (Walk &W : Walks)
    W.Own.finish();
  std::sort(Out.Runs.begin(), Out.Runs.end(),
            [](const DeviceRun &A, const DeviceRun &B) {
              return A.End != B.End ? A.End < B.End : A.Submit < B.Submit;
            });
  joinStacks(All);
}

} // namespace kprobe
