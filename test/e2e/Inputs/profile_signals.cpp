// What a profiler that works by signals could harm. Prints the same with it and
// without it.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static volatile unsigned long Sum;

// Processor time, so that a busy machine changes nothing.
[[gnu::noinline]] static void spin(double Seconds) {
  struct timespec Now;
  double Begin = -1, At;
  do {
    for (int I = 0; I < 20000; ++I)
      Sum = Sum + unsigned(I);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &Now);
    At = double(Now.tv_sec) + 1e-9 * double(Now.tv_nsec);
    if (Begin < 0)
      Begin = At;
  } while (At - Begin < Seconds);
}

[[gnu::noinline]] void before() { spin(0.03); Sum = 1; }
[[gnu::noinline]] void after() { spin(0.03); Sum = 1; }
[[gnu::noinline]] void masked() { spin(0.03); Sum = 1; }
[[gnu::noinline]] void inThread() { spin(0.004); Sum = 1; }
[[gnu::noinline]] void atTheEnd() { spin(0.03); Sum = 1; }

static std::atomic<int> Own{0};

// Down to where a signal has no room on this stack any more.
[[gnu::noinline]] int recurse(char *Limit) {
  volatile char Room[256];
  Room[0] = 0;
  if (reinterpret_cast<char *>(const_cast<char *>(Room)) > Limit)
    return recurse(Limit) + Room[0];
  atTheEnd();
  return 0;
}

static void *deepThread(void *) {
  pthread_attr_t Attributes;
  pthread_getattr_np(pthread_self(), &Attributes);
  void *Low;
  size_t Bytes;
  pthread_attr_getstack(&Attributes, &Low, &Bytes);
  pthread_attr_destroy(&Attributes);
#ifdef __SANITIZE_ADDRESS__
  constexpr int Room = 65536; // its own functions need some
#else
  constexpr int Room = 1536;
#endif
  recurse(static_cast<char *>(Low) + Room);
  return nullptr;
}

int main() {
  before();
  // The profiler's favourite.
  int Signal = SIGRTMAX - 1;
  struct sigaction Action = {}, Old;
  sigaction(Signal, nullptr, &Old);
  std::printf("default: %d\n", Old.sa_handler == SIG_DFL);
  Action.sa_handler = [](int) { ++Own; };
  sigaction(Signal, &Action, &Old);
  std::printf("default: %d\n", Old.sa_handler == SIG_DFL);
  after();
  std::printf("strays: %d\n", Own.load());
  raise(Signal);
  std::printf("own: %d\n", Own.load());

  // No system call may end early: each sleeps its time.
  int Interrupted = 0;
  for (int I = 0; I < 50; ++I) {
    spin(0.001);
    if (poll(nullptr, 0, 2) < 0)
      ++Interrupted;
    struct timespec Time = {0, 2000000};
    if (nanosleep(&Time, nullptr) < 0)
      ++Interrupted;
  }
  std::printf("interrupted: %d\n", Interrupted);

  // A trap of the program's own.
  static volatile sig_atomic_t Traps = 0;
  signal(SIGTRAP, [](int) { Traps = Traps + 1; });
  for (int I = 0; I < 3; ++I)
    raise(SIGTRAP);
  std::printf("traps: %d\n", int(Traps));

  sigset_t All;
  sigfillset(&All);
  pthread_sigmask(SIG_SETMASK, &All, nullptr);
  masked();
  sigemptyset(&All);
  pthread_sigmask(SIG_SETMASK, &All, nullptr);

  for (int Round = 0; Round < 10; ++Round) {
    std::vector<std::thread> Threads;
    for (int I = 0; I < 10; ++I)
      Threads.emplace_back(inThread);
    for (std::thread &T : Threads)
      T.join();
  }
  pthread_t Deep;
  pthread_create(&Deep, nullptr, deepThread, nullptr);
  pthread_join(Deep, nullptr);

  int Good = 0;
  for (int I = 0; I < 20; ++I) {
    spin(0.002);
    pid_t Child = fork();
    if (Child == 0) {
      spin(0.002);
      // Both ways: the profiler must not kill what comes after.
      if (I & 1)
        execl("/bin/true", "true", nullptr);
      _exit(0);
    }
    int Status;
    waitpid(Child, &Status, 0);
    Good += WIFEXITED(Status) && WEXITSTATUS(Status) == 0;
  }
  std::printf("children: %d\n", Good);
}
