// Layouts are perf_event_open(2)'s for our sample_type.
#include "PerfRecords.h"
#include "ThreadId.h"
#include "WholeFile.h"

#include <cstdlib>
#include <cstring>
#include <linux/perf_event.h>

namespace kprobe {

// Wakeups of one thread by another within this time are one.
static constexpr uint64_t SameWakeupNs = 20000;

uint64_t perfSampleType() {
  return PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
}

// The line "field:TYPE NAME; offset:N; size:N; signed:N;" of Name.
static bool findField(const std::string &Text, const char *Name, size_t &Offset,
                      size_t &Bytes) {
  if (!Name)
    return true;
  std::string End = std::string(" ") + Name + ";";
  size_t At = Text.find(End);
  if (At == std::string::npos)
    return false;
  size_t OffsetAt = Text.find("offset:", At);
  size_t BytesAt = Text.find("size:", At);
  if (OffsetAt == std::string::npos || BytesAt == std::string::npos)
    return false;
  Offset = std::strtoul(Text.c_str() + OffsetAt + 7, nullptr, 10);
  Bytes = std::strtoul(Text.c_str() + BytesAt + 5, nullptr, 10);
  return Bytes == 4 || Bytes == 8;
}

bool parseFormat(const std::string &Text, const char *First, const char *Second,
                 Tracepoint &Point) {
  size_t At = Text.find("ID:");
  if (At == std::string::npos)
    return false;
  Point.Id = uint32_t(std::strtoul(Text.c_str() + At + 3, nullptr, 10));
  return Point.Id != 0 &&
         findField(Text, First, Point.First, Point.FirstBytes) &&
         findField(Text, Second, Point.Second, Point.SecondBytes);
}

bool Tracepoints::load(const std::string &Root, std::string &Why) {
  static const struct {
    const char *Name;
    uint16_t Kind;
    bool Soft;
    const char *First, *Second;
  } Wanted[] = {
      {"sched/sched_waking", KPROBE_HOST_WAKEUP, false, "pid", "target_cpu"},
      {"raw_syscalls/sys_enter", KPROBE_HOST_SYSCALL_BEGIN, false, "id",
       nullptr},
      {"raw_syscalls/sys_exit", KPROBE_HOST_SYSCALL_END, false, "id", "ret"},
      {"irq/irq_handler_entry", KPROBE_HOST_INTERRUPT_BEGIN, false, "irq",
       nullptr},
      {"irq/irq_handler_exit", KPROBE_HOST_INTERRUPT_END, false, "irq",
       nullptr},
      {"irq/softirq_entry", KPROBE_HOST_INTERRUPT_BEGIN, true, "vec", nullptr},
      {"irq/softirq_exit", KPROBE_HOST_INTERRUPT_END, true, "vec", nullptr},
  };
  Why.clear();
  auto missing = [&](const std::string &Text) {
    if (Why.empty())
      Why = Text;
  };
  for (const auto &W : Wanted) {
    std::string Path = Root + "/events/" + W.Name + "/format";
    std::string Text;
    if (!readWholeFile(Path, Text)) {
      missing("cannot read '" + Path + "': " + std::strerror(errno));
      continue;
    }
    Tracepoint Point;
    Point.Kind = W.Kind;
    Point.Soft = W.Soft;
    if (parseFormat(Text, W.First, W.Second, Point))
      Known.push_back(Point);
    else
      missing("'" + Path + "' has another format");
  }
  return !Known.empty();
}

const Tracepoint *Tracepoints::find(uint32_t Id) const {
  for (const Tracepoint &Point : Known)
    if (Point.Id == Id)
      return &Point;
  return nullptr;
}

namespace {

// What every record says of itself: PERF_SAMPLE_TID, _TIME, _CPU.
struct Identity {
  uint32_t ProcessId;
  uint32_t ThreadId;
  uint64_t Ns;
  uint32_t Processor;
  uint32_t Reserved;
};
static_assert(sizeof(Identity) == 24, "three words");

template <typename T> T load(const uint8_t *Place) {
  T Value;
  std::memcpy(&Value, Place, sizeof(Value));
  return Value;
}

int64_t fieldOf(const uint8_t *Raw, size_t RawBytes, size_t Offset,
                size_t Bytes) {
  if (Offset == Tracepoint::NoField || Offset + Bytes > RawBytes)
    return 0;
  return Bytes == 8 ? load<int64_t>(Raw + Offset)
                    : int64_t(load<int32_t>(Raw + Offset));
}

} // namespace

template <typename T>
void LinuxEventWriter::add(uint16_t Kind, uint64_t Ns, T Event,
                           std::vector<uint8_t> &Events) {
  LastNs = Ns > LastNs ? Ns : LastNs;
  Event.Head.Bytes = sizeof(T);
  Event.Head.Kind = Kind;
  Event.Head.Ns = LastNs;
  const auto *First = reinterpret_cast<const uint8_t *>(&Event);
  Events.insert(Events.end(), First, First + sizeof(Event));
}

void LinuxEventWriter::sample(const uint8_t *Data, size_t Bytes,
                              const Tracepoints &Points,
                              std::vector<uint8_t> &Events) {
  // Identity, then the size of the raw data and the data.
  if (Bytes < sizeof(Identity) + sizeof(uint32_t))
    return;
  const auto Who = load<Identity>(Data);
  size_t RawBytes = load<uint32_t>(Data + sizeof(Identity));
  const uint8_t *Raw = Data + sizeof(Identity) + sizeof(uint32_t);
  if (RawBytes < sizeof(uint16_t) ||
      RawBytes > Bytes - sizeof(Identity) - sizeof(uint32_t))
    return;
  const Tracepoint *Point = Points.find(load<uint16_t>(Raw));
  if (!Point)
    return;
  int64_t First = fieldOf(Raw, RawBytes, Point->First, Point->FirstBytes);
  int64_t Second = fieldOf(Raw, RawBytes, Point->Second, Point->SecondBytes);
  // Whom we wake is the program's business again.
  const bool Wakeup = Point->Kind == KPROBE_HOST_WAKEUP;
  if (isThreadOfOurs(Wakeup ? uint32_t(First) : Who.ThreadId))
    return;
  switch (Point->Kind) {
  case KPROBE_HOST_WAKEUP: {
    KprobeHostWakeup Event = {
        {}, Who.ThreadId, Who.ProcessId, uint32_t(First), uint32_t(Second)};
    if (Event.Woken == LastWakeup.Woken &&
        Event.ThreadId == LastWakeup.ThreadId &&
        Who.Ns - LastWakeup.Head.Ns < SameWakeupNs)
      return;
    LastWakeup = Event;
    LastWakeup.Head.Ns = Who.Ns;
    return add(Point->Kind, Who.Ns, Event, Events);
  }
  case KPROBE_HOST_SYSCALL_BEGIN:
  case KPROBE_HOST_SYSCALL_END:
    return add(
        Point->Kind, Who.Ns,
        KprobeHostSyscall{{}, Who.ThreadId, Who.ProcessId, First, Second},
        Events);
  default:
    return add(
        Point->Kind, Who.Ns,
        KprobeHostInterrupt{
            {}, Who.ThreadId, Who.ProcessId, uint32_t(First), Point->Soft},
        Events);
  }
}

void LinuxEventWriter::record(const uint8_t *Record, size_t Bytes,
                              const Tracepoints &Points,
                              std::vector<uint8_t> &Events, uint64_t &Lost) {
  const auto Header = load<perf_event_header>(Record);
  const uint8_t *Data = Record + sizeof(Header);
  size_t Size = Bytes - sizeof(Header);
  switch (Header.type) {
  case PERF_RECORD_SWITCH: {
    if (Size < sizeof(Identity))
      return;
    const auto Who = load<Identity>(Record + Bytes - sizeof(Identity));
    bool Out = Header.misc & PERF_RECORD_MISC_SWITCH_OUT;
    bool Preempted = Header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    // What was woken before a switch may be woken again after it.
    LastWakeup = {};
    if (isThreadOfOurs(Who.ThreadId))
      return;
    return add(Out ? KPROBE_HOST_SWITCH_OUT : KPROBE_HOST_SWITCH_IN, Who.Ns,
               KprobeHostSwitch{{}, Who.ThreadId, Who.ProcessId, Preempted, 0},
               Events);
  }
  case PERF_RECORD_SAMPLE:
    return sample(Data, Size, Points, Events);
  case PERF_RECORD_LOST: // u64 id, u64 lost, identity
    if (Size >= 16)
      Lost += load<uint64_t>(Data + 8);
    return;
  default: // forks, exits
    return;
  }
}

} // namespace kprobe
