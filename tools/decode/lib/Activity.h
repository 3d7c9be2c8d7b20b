// What each thread and each device did over time, gathered from dumps of one
// machine for the critical path: when a thread waited and who ended it, when
// kernels and copies ran and who submitted them.
//
// Waits come from Linux's switches where they were recorded (--sched), else
// from the stacks at their ends (--profile). Calls that wait for a device are
// kept besides (--api): a thread that spins in one waits all the same.
#ifndef KPROBE_DECODE_ACTIVITY_H
#define KPROBE_DECODE_ACTIVITY_H

#include "Stacks.h"
#include "Timeline.h"

#include <map>
#include <string>
#include <vector>

namespace kprobe {

struct ThreadWait {
  int64_t Begin = 0, End = 0;
  bool Preempted = false;
  bool ForDevice = false;      ///< its stack says so
  uint32_t Waker = 0;          ///< thread id; 0: unknown, or not of the program
  int64_t WokenNs = 0;         ///< 0: not known
  int64_t Syscall = -1;        ///< that it waited in; -1: not known
  std::vector<uint32_t> Stack; ///< outermost first; empty: not known
};

struct CallSpan {
  int64_t Begin, End;
  std::string Name;
};

struct StackAt {
  int64_t Ns;
  uint64_t Weight;
  std::vector<uint32_t> Stack;
};

struct ThreadActivity {
  uint32_t Id = 0;
  uint32_t Process = 0, Parent = 0; ///< ids; 0: not known
  std::string Name;
  int64_t First = INT64_MAX, Last = INT64_MIN; ///< of its events
  bool Emulation = false;           ///< it is the virtual GPU's
  std::vector<ThreadWait> Waits;    ///< by time, apart from each other
  std::vector<CallSpan> DeviceCalls; ///< outermost ones that wait for a device
  std::vector<StackAt> Ran;         ///< samples
};

/// A kernel or a copy.
struct DeviceRun {
  const Dispatch *Kernel = nullptr; ///< null: a copy
  std::string Name;
  uint32_t Thread = 0; ///< id of the thread that submitted it; 0: unknown
  uint32_t Process = 0; ///< id of the process
  uint64_t Queue = 0;   ///< of that process
  int64_t Submit = 0, Begin = 0, End = 0;
  std::vector<uint32_t> Stack; ///< where it was submitted; empty: not known
  struct Wave {
    int64_t Begin, End;
    std::vector<std::pair<uint32_t, int64_t>> Blocks; ///< site or UnknownSite, ns
  };
  std::vector<Wave> Waves;
};

/// A call of an API function that was asked for.
struct ApiCallSpan {
  int64_t Begin, End; ///< End: INT64_MAX while it has not returned
  uint32_t Thread;    ///< id
};

struct Activity {
  std::map<uint32_t, ThreadActivity> Threads; ///< by id
  /// By function, of those that were there before gathering; by begin.
  std::map<std::string, std::vector<ApiCallSpan>> Calls;
  std::vector<DeviceRun> Runs;                ///< by end
  bool Switches = false;                      ///< --sched was on
};

/// Whether a function of HIP or HSA returns only when a device has come so far.
bool waitsForDevice(const std::string &Function);

/// What Linux did at a time, on one processor.
struct KernelRecord {
  enum class Kind {
    SwitchIn,
    SwitchOut,
    Wakeup,
    SyscallBegin,
    SyscallEnd,
    InterruptBegin, ///< of any kind: not the thread's own work
    InterruptEnd,
  };
  Kind What = Kind::SwitchIn;
  int64_t Ns = 0; ///< CLOCK_MONOTONIC
  uint32_t Processor = 0;
  uint32_t Thread = 0;  ///< id of who had the processor
  uint32_t Process = 0; ///< its; of switches
  bool Own = true;      ///< the switch is of a thread that is looked at
  bool Preempted = false;
  uint32_t Woken = 0;   ///< id
  int64_t Number = -1;  ///< of the system call
};

struct ActivityInput {
  Timeline &Input;
  StackReader &Reader; ///< of stacks in it
  Error Fault = Error::success(); ///< after gathering
};

/// Walks all of \p Inputs by time. Frames of stacks are numbers of the readers'
/// common FrameNames. \p Kernel: records that stand in place of the dumps' own.
void gatherActivity(std::vector<ActivityInput> &Inputs, const FrameNames &Names,
                    const std::vector<KernelRecord> *Kernel, Activity &Out);

} // namespace kprobe

#endif
