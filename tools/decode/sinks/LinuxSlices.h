// Linux's events as slices of tracks: when a thread had a processor, its system
// calls, and the interrupts of a processor.
//
// Both ends of a slice may be missing in a dump; what comes out is whole and
// nested: an end without a begin is left out, a second begin ends the first.
#ifndef KPROBE_DECODE_LINUXSLICES_H
#define KPROBE_DECODE_LINUXSLICES_H

#include "Names.h"
#include "Timeline.h"

#include <map>
#include <string>

namespace kprobe {

/// One end of a slice.
struct LinuxSlice {
  enum class Kind { Runs, SystemCall, Interrupt };
  Kind What;
  uint32_t Id; ///< of the thread, or of the processor for interrupts
  bool Begin;
  std::string Name; ///< of a begin

  const char *group() const {
    return What == Kind::Runs         ? "Linux: threads"
           : What == Kind::SystemCall ? "Linux: system calls"
                                      : "Linux: interrupts";
  }
  const char *category() const {
    return What == Kind::Runs         ? "runs"
           : What == Kind::SystemCall ? "system call"
                                      : "interrupt";
  }
  std::string track() const {
    return (What == Kind::Interrupt ? "processor " : "thread ") +
           std::to_string(Id);
  }
};

class LinuxSlices {
public:
  /// Calls \p Each with the ends that \p Item, a host event, brings.
  template <typename Visitor>
  void item(const Trace &T, const TimelineItem &Item, Visitor Each) {
    const HostEvent &E = Item.Host->Event;
    uint32_t Processor = Item.Host->Thread->Record.ThreadId;
    using Kind = LinuxSlice::Kind;
    switch (E.Head.Kind) {
    case KPROBE_HOST_SWITCH_IN:
      begin({Kind::Runs, E.as<KprobeHostSwitch>().ThreadId, true,
             "processor " + std::to_string(Processor)},
            Each);
      break;
    case KPROBE_HOST_SWITCH_OUT:
      end({Kind::Runs, E.as<KprobeHostSwitch>().ThreadId, false, ""}, Each);
      break;
    case KPROBE_HOST_SYSCALL_BEGIN: {
      auto R = E.as<KprobeHostSyscall>();
      begin({Kind::SystemCall, R.ThreadId, true, syscallName(T, R.Number)},
            Each);
      break;
    }
    case KPROBE_HOST_SYSCALL_END:
      end({Kind::SystemCall, E.as<KprobeHostSyscall>().ThreadId, false, ""},
          Each);
      break;
    case KPROBE_HOST_INTERRUPT_BEGIN: {
      auto R = E.as<KprobeHostInterrupt>();
      // A softirq may be interrupted, and that in turn brings no softirq.
      ++Depth[{Kind::Interrupt, Processor}];
      Each(LinuxSlice{Kind::Interrupt, Processor, true,
                      (R.Soft != 0 ? "softirq " : "interrupt ") +
                          std::to_string(R.Number)});
      break;
    }
    case KPROBE_HOST_INTERRUPT_END:
      end({Kind::Interrupt, Processor, false, ""}, Each);
      break;
    default:
      break;
    }
  }

private:
  template <typename Visitor> void begin(LinuxSlice S, Visitor Each) {
    uint32_t &Open = Depth[{S.What, S.Id}];
    if (Open != 0)
      Each(LinuxSlice{S.What, S.Id, false, ""});
    Open = 1;
    Each(S);
  }
  template <typename Visitor> void end(LinuxSlice S, Visitor Each) {
    uint32_t &Open = Depth[{S.What, S.Id}];
    if (Open == 0)
      return;
    --Open;
    Each(S);
  }
  std::map<std::pair<LinuxSlice::Kind, uint32_t>, uint32_t> Depth;
};

} // namespace kprobe

#endif
