// Calls HIP a thousand times on a thread of its own and once more on main, then
// ends in the way that its argument names; no kernel is needed for that. Some
// make more of it: a daemon does all this in its child, others leave threads or
// make processes.
#include <hip/hip_runtime.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

static void call(int Times) {
  int Count = 0;
  for (int I = 0; I < Times; ++I)
    if (hipGetDeviceCount(&Count) != hipSuccess)
      abort();
}

int main(int, char **Arguments) {
  int Device = 0;
  const char *How = Arguments[1];
  if (!std::strcmp(How, "daemon") && daemon(1, 1) != 0)
    return 1;
  std::thread Worker([] { call(1000); });
  Worker.join();
  if (hipGetDevice(&Device) != hipSuccess)
    return 1;
  // Sixteen threads at once; half of them never end.
  if (!std::strcmp(How, "threads")) {
    std::atomic<int> Done{0};
    for (int I = 0; I < 16; ++I)
      std::thread([&Done, I] {
        call(500);
        ++Done;
        if (I % 2)
          pause();
      }).detach();
    while (Done < 16)
      usleep(1000);
  }
  // What the child does is not the parent's.
  if (!std::strcmp(How, "fork")) {
    pid_t Child = fork();
    if (Child == 0) {
      (void)hipGetDevice(&Device);
      _exit(0);
    }
    waitpid(Child, nullptr, 0);
  }
  if (!std::strcmp(How, "spawn")) {
    pid_t Child = 0;
    char *List[] = {const_cast<char *>("true"), nullptr};
    if (posix_spawnp(&Child, "true", nullptr, nullptr, List, environ) != 0)
      return 1;
    waitpid(Child, nullptr, 0);
  }
  // More than fits in a small ring.
  if (!std::strcmp(How, "burst"))
    call(100000);
  if (!std::strcmp(How, "underscore"))
    _exit(7);
  if (!std::strcmp(How, "abort"))
    abort();
  if (!std::strcmp(How, "exec"))
    execl("/bin/sh", "sh", "-c", "exit 7", static_cast<char *>(nullptr));
  if (!std::strcmp(How, "quick"))
    quick_exit(7);
  if (!std::strcmp(How, "thread"))
    std::thread([] { exit(7); }).join();
  if (!std::strcmp(How, "handler")) {
    signal(SIGTERM, [](int) { _exit(7); });
    raise(SIGTERM);
  }
  return 7;
}
