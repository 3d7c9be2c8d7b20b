// perf_event_open(2), fcntl(2) and ioctl(2) with what they need.
#include "PerfEvents.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kprobe {

// Programs count on the numbers of the files that they open, and select(2) on
// small ones: ours are high.
static int moveUp(int File) {
  constexpr rlim_t HighEnough = 65536;
  struct rlimit Limit;
  if (getrlimit(RLIMIT_NOFILE, &Limit) != 0)
    return File;
  rlim_t Half = Limit.rlim_cur / 2 < HighEnough ? Limit.rlim_cur / 2 : HighEnough;
  int Moved = fcntl(File, F_DUPFD_CLOEXEC, int(Half));
  if (Moved < 0)
    return File;
  close(File);
  return Moved;
}

static int openEvent(struct perf_event_attr &Attributes) {
  Attributes.size = sizeof(Attributes);
  Attributes.disabled = 1;
  Attributes.exclude_hv = 1;
  long File = syscall(SYS_perf_event_open, &Attributes, 0, -1, -1,
                      PERF_FLAG_FD_CLOEXEC);
  return File < 0 ? -errno : moveUp(int(File));
}

int openSampleEvent(const ProfileWish &Wish, int Signal) {
  struct perf_event_attr Attributes;
  std::memset(&Attributes, 0, sizeof(Attributes));
  bool Clock = Wish.What == ProfileWish::CpuClock;
  Attributes.type = Clock ? PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE;
  Attributes.config = Clock ? uint64_t(PERF_COUNT_SW_CPU_CLOCK)
                      : Wish.What == ProfileWish::Cycles
                          ? uint64_t(PERF_COUNT_HW_CPU_CYCLES)
                          : uint64_t(PERF_COUNT_HW_INSTRUCTIONS);
  Attributes.sample_period = Wish.Period;
  // Only in user space: the signal then comes at once, and never as the thread
  // goes to sleep in a system call.
  Attributes.exclude_kernel = 1;
  int Event = openEvent(Attributes);
  if (Event < 0)
    return Event;
  struct f_owner_ex Owner = {F_OWNER_TID, pid_t(syscall(SYS_gettid))};
  fcntl(Event, F_SETOWN_EX, &Owner);
  sendOverflowAs(Event, Signal);
  fcntl(Event, F_SETFL, O_ASYNC | O_NONBLOCK);
  return Event;
}

void sendOverflowAs(int Event, int Signal) {
  fcntl(Event, F_SETSIG, Signal);
}

int openWaitEvent() {
  struct perf_event_attr Attributes;
  std::memset(&Attributes, 0, sizeof(Attributes));
  Attributes.type = PERF_TYPE_SOFTWARE;
  Attributes.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
  Attributes.sample_period = 1;
  Attributes.sigtrap = 1;
  Attributes.remove_on_exec = 1;
  Attributes.sig_data = WaitEventMark;
  return openEvent(Attributes);
}

void rearm(int Event) { ioctl(Event, PERF_EVENT_IOC_REFRESH, 1); }
void enable(int Event) { ioctl(Event, PERF_EVENT_IOC_ENABLE, 0); }
void disable(int Event) { ioctl(Event, PERF_EVENT_IOC_DISABLE, 0); }

std::string perfEventParanoid() {
  char Text[16] = {};
  int File =
      open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
  ssize_t Got = File < 0 ? -1 : read(File, Text, sizeof(Text) - 1);
  if (File >= 0)
    close(File);
  if (Got <= 0)
    return "?";
  return std::string(Text, strcspn(Text, "\n"));
}

} // namespace kprobe
