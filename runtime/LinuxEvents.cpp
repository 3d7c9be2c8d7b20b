// Opening, mapping and emptying the rings.
#include "LinuxEvents.h"

#include "Log.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kprobe {

// The most, and what is tried last: users without privilege have 516 KiB a
// processor for all their rings.
static constexpr size_t MostPages = 512;
static constexpr size_t LeastPages = 8;
static constexpr size_t ChunkBytes = 256u << 10;

LinuxEvents &LinuxEvents::get() {
  static LinuxEvents *const Only = new LinuxEvents;
  return *Only;
}

int LinuxEvents::open(perf_event_attr &Attributes, int Thread,
                      uint32_t Processor) {
  Attributes.size = sizeof(Attributes);
  Attributes.sample_type |= perfSampleType();
  Attributes.sample_id_all = 1;
  Attributes.inherit = 1;
  Attributes.use_clockid = 1;
  Attributes.clockid = CLOCK_MONOTONIC;
  // Threads inherit, other processes do not; before Linux 5.13 both did.
  for (int ThreadsOnly : {1, 0}) {
    Attributes.inherit_thread = uint64_t(ThreadsOnly);
    int Fd = int(syscall(SYS_perf_event_open, &Attributes, Thread,
                         int(Processor), -1, PERF_FLAG_FD_CLOEXEC));
    if (Fd >= 0 || errno != EINVAL)
      return Fd;
  }
  return -1;
}

bool LinuxEvents::map(Ring &R) {
  const size_t Page = size_t(sysconf(_SC_PAGESIZE));
  for (size_t Pages = MostPages; Pages >= LeastPages; Pages /= 2) {
    void *Map = mmap(nullptr, (1 + Pages) * Page, PROT_READ | PROT_WRITE,
                     MAP_SHARED, R.Fd, 0);
    if (Map == MAP_FAILED)
      continue;
    R.Map = static_cast<uint8_t *>(Map);
    R.Bytes = Pages * Page;
    return true;
  }
  return false;
}

// All events of one thread, on every processor. The first thread's switches own
// the rings.
bool LinuxEvents::openThread(int Thread, std::string &Why) {
  const long Processors = sysconf(_SC_NPROCESSORS_CONF);
  const bool First = Rings.empty();
  for (long P = 0; P < Processors; ++P) {
    perf_event_attr Switches = {};
    Switches.type = PERF_TYPE_SOFTWARE;
    Switches.config = PERF_COUNT_SW_DUMMY;
    Switches.context_switch = 1;
    // Without a privilege only what is ours may be watched.
    Switches.exclude_kernel = 1;
    Switches.exclude_hv = 1;
    int Fd = open(Switches, Thread, uint32_t(P));
    if (Fd < 0 && errno == ENODEV)
      continue; // a processor that is offline
    if (Fd < 0) {
      Why = std::string("perf_event_open: ") + std::strerror(errno);
      return false;
    }
    Ring *Target = nullptr;
    if (First) {
      auto Fresh = std::make_unique<Ring>();
      Fresh->Processor = uint32_t(P);
      Fresh->Fd = Fd;
      if (!map(*Fresh)) {
        Why = std::string("no memory for a ring: ") + std::strerror(errno);
        close(Fd);
        return false;
      }
      Target = Fresh.get();
      Rings.push_back(std::move(Fresh));
    } else {
      for (const auto &R : Rings)
        if (R->Processor == uint32_t(P))
          Target = R.get();
      if (!Target || ioctl(Fd, PERF_EVENT_IOC_SET_OUTPUT, Target->Fd) != 0) {
        close(Fd);
        continue;
      }
      Others.push_back(Fd);
    }
    for (const Tracepoint &Point : Points.Known) {
      perf_event_attr Attributes = {};
      Attributes.type = PERF_TYPE_TRACEPOINT;
      Attributes.config = Point.Id;
      Attributes.sample_period = 1;
      Attributes.sample_type = PERF_SAMPLE_RAW;
      int Extra = open(Attributes, Thread, uint32_t(P));
      if (Extra < 0 ||
          ioctl(Extra, PERF_EVENT_IOC_SET_OUTPUT, Target->Fd) != 0) {
        Why = std::string("perf_event_open of a tracepoint: ") +
              std::strerror(errno);
        if (Extra >= 0)
          close(Extra);
        Points.Known.clear(); // all or none: half of them would mislead
        break;
      }
      Others.push_back(Extra);
    }
  }
  return true;
}

void LinuxEvents::start() {
  if (Started)
    return;
  Started = true;
  if (!ForkWatched)
    pthread_atfork(nullptr, nullptr, inChild);
  ForkWatched = true;
  HostRecorder::get().noteBegin();
  std::string WhyNoPoints, Why;
  for (const char *Root : {"/sys/kernel/debug/tracing", "/sys/kernel/tracing"})
    if (Points.load(Root, WhyNoPoints))
      break;
  bool Tried = !Points.Known.empty();
  // The calling thread first: threads that it makes meanwhile inherit.
  const int Self = int(syscall(SYS_gettid));
  bool Good = openThread(Self, Why);
  if (Tried && Points.Known.empty())
    WhyNoPoints = Why;
  if (DIR *Tasks = Good ? opendir("/proc/self/task") : nullptr) {
    std::string Ignored;
    while (const dirent *Entry = readdir(Tasks)) {
      int Thread = std::atoi(Entry->d_name);
      if (Thread > 0 && Thread != Self)
        openThread(Thread, Ignored);
    }
    closedir(Tasks);
  }
  if (!Good) {
    for (const auto &R : Rings) {
      munmap(R->Map, R->Bytes + size_t(sysconf(_SC_PAGESIZE)));
      close(R->Fd);
    }
    Rings.clear();
    Statement = "Linux's events are not recorded: " + Why;
  } else if (Points.Known.empty()) {
    Statement =
        "of Linux's events only when threads run and wait is recorded: " +
        WhyNoPoints;
  }
  if (!Statement.empty())
    logWarning(Statement);
}

// Linux does not copy the mappings into the child; the descriptors would keep
// the parent's events alive.
void LinuxEvents::inChild() {
  LinuxEvents &Self = get();
  for (const auto &R : Self.Rings)
    close(R->Fd);
  for (int Fd : Self.Others)
    close(Fd);
  Self.Rings.clear();
  Self.Others.clear();
  Self.Points.Known.clear();
  Self.Statement.clear();
  Self.Stated = false;
  Self.Started = false;
  // A child that records calls (a daemon) is a traced process of its own.
  if (HostRecorder::get().recording())
    Self.start();
}

void LinuxEvents::drainRing(Ring &R, const HostRecorder::ChunkSink &Append) {
  auto *Page = reinterpret_cast<perf_event_mmap_page *>(R.Map);
  const uint8_t *Data = R.Map + size_t(sysconf(_SC_PAGESIZE));
  // Acquire pairs with the kernel's barrier between a record and the head; the
  // release below lets it write over what we have read.
  uint64_t Head = __atomic_load_n(&Page->data_head, __ATOMIC_ACQUIRE);
  uint64_t Tail = Page->data_tail;
  std::vector<uint8_t> Events, Whole;
  auto write = [&] {
    if (Events.empty() && R.Lost == R.LostTold)
      return;
    if (R.Stream == 0) {
      R.Stream = HostRecorder::get().newStreamNumber();
      std::string Name = "processor " + std::to_string(R.Processor);
      KprobeThreadRecord Record = {R.Stream, R.Processor, uint32_t(Name.size()),
                                   KPROBE_THREAD_PROCESSOR};
      Append(KPROBE_CHUNK_THREAD, &Record, sizeof(Record), Name);
    }
    KprobeHostEventsRecord Record = {R.Stream, 0, R.Lost};
    Append(KPROBE_CHUNK_HOST_EVENTS, &Record, sizeof(Record),
           {reinterpret_cast<const char *>(Events.data()), Events.size()});
    R.LostTold = R.Lost;
    Events.clear();
  };
  while (Tail < Head) {
    perf_event_header Header;
    // Records begin at multiples of 8, so that a header is never cut.
    std::memcpy(&Header, Data + Tail % R.Bytes, sizeof(Header));
    if (Header.size < sizeof(Header) || Header.size > Head - Tail)
      break;
    Whole.resize(Header.size);
    size_t First = R.Bytes - Tail % R.Bytes;
    First = First < Header.size ? First : Header.size;
    std::memcpy(Whole.data(), Data + Tail % R.Bytes, First);
    std::memcpy(Whole.data() + First, Data, Header.size - First);
    R.Writer.record(Whole.data(), Whole.size(), Points, Events, R.Lost);
    Tail += Header.size;
    if (Events.size() >= ChunkBytes)
      write();
  }
  __atomic_store_n(&Page->data_tail, Tail, __ATOMIC_RELEASE);
  write();
}

void LinuxEvents::drain(const HostRecorder::ChunkSink &Append) {
  if (!Statement.empty() && !Stated)
    Append(KPROBE_CHUNK_MESSAGE, nullptr, 0, Statement);
  Stated = true;
  for (const auto &R : Rings)
    drainRing(*R, Append);
}

} // namespace kprobe
