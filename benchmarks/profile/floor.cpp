// What a machine takes for a sample before any profiler does anything: the same
// work in turns without a counter, with one that overflows, and with one whose
// overflow sends a signal to an empty handler. Medians over all rounds.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

static volatile unsigned long Sum;
static int Event = -1;
constexpr long PeriodNs = 200000; // closer than in use, to be seen above noise
constexpr int Rounds = 60;

static double now() {
  struct timespec Time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &Time);
  return double(Time.tv_sec) * 1e9 + double(Time.tv_nsec);
}

static void emptyHandler(int, siginfo_t *, void *) {
  ioctl(Event, PERF_EVENT_IOC_REFRESH, 1);
}

static double work(bool Counter, bool Signal) {
  if (Counter) {
    struct perf_event_attr A;
    std::memset(&A, 0, sizeof(A));
    A.size = sizeof(A);
    A.type = PERF_TYPE_SOFTWARE;
    A.config = PERF_COUNT_SW_CPU_CLOCK;
    A.sample_period = PeriodNs;
    A.disabled = 1;
    A.exclude_kernel = 1;
    Event = int(syscall(SYS_perf_event_open, &A, 0, -1, -1, 0));
    if (Signal) {
      struct f_owner_ex Owner = {F_OWNER_TID, getpid()};
      fcntl(Event, F_SETOWN_EX, &Owner);
      fcntl(Event, F_SETSIG, SIGRTMIN + 3);
      fcntl(Event, F_SETFL, O_ASYNC | O_NONBLOCK);
      ioctl(Event, PERF_EVENT_IOC_REFRESH, 1);
    } else {
      ioctl(Event, PERF_EVENT_IOC_ENABLE, 0);
    }
  }
  double Begin = now();
  for (unsigned I = 0; I < 60000000; ++I)
    Sum = Sum + I;
  double Ns = now() - Begin;
  if (Counter)
    close(Event);
  return Ns;
}

static double median(std::vector<double> Values) {
  std::nth_element(Values.begin(), Values.begin() + long(Values.size() / 2),
                   Values.end());
  return Values[Values.size() / 2];
}

int main() {
  struct sigaction Action = {};
  Action.sa_sigaction = emptyHandler;
  Action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGRTMIN + 3, &Action, nullptr);
  std::vector<double> Counter, Signal;
  for (int I = 0; I < Rounds; ++I) {
    double Plain = work(false, false);
    double Overflows = Plain / PeriodNs;
    Counter.push_back((work(true, false) - Plain) / Overflows);
    Signal.push_back((work(true, true) - Plain) / Overflows);
  }
  std::printf("counter alone %.0f ns, with a signal %.0f ns an overflow\n",
              median(Counter), median(Signal));
}
