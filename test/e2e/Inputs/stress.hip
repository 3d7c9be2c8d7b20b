// Everything at once, for tools that look on: threads with streams that come and
// go, a module that is loaded and unloaded, children by fork and exec, a timer's
// signals in between; and ends in the way that its first argument names, with a
// kernel still running. Its output is always the same.
#include "../../../benchmarks/kernels/check.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

constexpr int Count = 200, Good = 7;

__global__ void add(int *Values, int What) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  for (int Round = 0; Round < 4 && I < Count; ++Round)
    Values[I] += (I + Round) % 2 ? What : 0;
}

__global__ void forLong(int *Values) {
  for (int I = 0; I < 20000; ++I)
    Values[threadIdx.x] += I % 3;
}

static std::atomic<int> Wrong{0}, Ticks{0};

static void expect(bool Condition) { Wrong += !Condition; }

static void checkValues(const DeviceArray<int> &Values, int Twice) {
  std::vector<int> Got = Values.toHost();
  for (int Value : Got)
    expect(Value == 2 * Twice);
}

static void useStreams(int Thread) {
  DeviceArray<int> Values(std::vector<int>(Count, 0));
  for (int Round = 0; Round < 4; ++Round) {
    hipStream_t Stream;
    HIP_CHECK(hipStreamCreate(&Stream));
    for (int Launch = 0; Launch < 5; ++Launch)
      add<<<4, 64, 0, Stream>>>(Values, Thread);
    HIP_CHECK(hipStreamSynchronize(Stream));
    HIP_CHECK(hipStreamDestroy(Stream));
  }
  checkValues(Values, 20 * Thread);
}

static void useModule(const std::vector<char> &Image) {
  DeviceArray<int> Values(std::vector<int>(Count, 0));
  for (int Round = 0; Round < 5; ++Round) {
    hipModule_t Module;
    hipFunction_t Function;
    HIP_CHECK(hipModuleLoadData(&Module, Image.data()));
    HIP_CHECK(hipModuleGetFunction(&Function, Module, "_Z3addPii"));
    int *Pointer = Values, What = 3;
    void *Arguments[] = {&Pointer, &What};
    HIP_CHECK(hipModuleLaunchKernel(Function, 4, 1, 1, 64, 1, 1, 0, nullptr,
                                    Arguments, nullptr));
    HIP_CHECK(hipDeviceSynchronize());
    HIP_CHECK(hipModuleUnload(Module));
  }
  checkValues(Values, 15);
}

static void haveChildren() {
  for (int Round = 0; Round < 3; ++Round) {
    pid_t Child = fork();
    if (Child == 0) {
      if (Round % 2)
        _exit(Round);
      execl("/bin/sh", "sh", "-c", "exit 5", static_cast<char *>(nullptr));
    }
    int Status = 0;
    while (waitpid(Child, &Status, 0) < 0)
      ;
    expect(WIFEXITED(Status) && WEXITSTATUS(Status) == (Round % 2 ? Round : 5));
  }
}

int main(int, char **Arguments) {
  struct sigaction OnAlarm = {};
  OnAlarm.sa_handler = [](int) { ++Ticks; };
  OnAlarm.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &OnAlarm, nullptr);
  itimerval Every = {{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &Every, nullptr);

  std::ifstream File(Arguments[2], std::ios::binary);
  std::vector<char> Image{std::istreambuf_iterator<char>(File), {}};
  std::vector<std::thread> Threads;
  for (int Thread = 1; Thread <= 4; ++Thread)
    Threads.emplace_back(useStreams, Thread);
  Threads.emplace_back(useModule, Image);
  Threads.emplace_back(haveChildren);
  for (std::thread &Thread : Threads)
    Thread.join();
  expect(Ticks > 0);
  std::printf("stress: %d wrong\n", Wrong.load());
  std::fflush(stdout);

  // Not freed: the kernel goes on.
  auto *Values = new DeviceArray<int>(std::vector<int>(64, 0));
  forLong<<<1, 64>>>(*Values);
  HIP_CHECK(hipGetLastError());
  std::string How = Arguments[1];
  if (How == "thread")
    std::thread([] { exit(Good); }).join();
  if (How == "underscore")
    _exit(Good);
  if (How == "quick")
    quick_exit(Good);
  if (How == "signal")
    raise(SIGKILL);
  return Good;
}
