// Calls HIP a thousand times on a thread of its own and once more on main, then
// ends in the way that its argument names; no kernel is needed for that.
#include <hip/hip_runtime.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>

int main(int, char **Arguments) {
  int Device = 0;
  std::thread Worker([] {
    int Count = 0;
    for (int I = 0; I < 1000; ++I)
      if (hipGetDeviceCount(&Count) != hipSuccess)
        abort();
  });
  Worker.join();
  if (hipGetDevice(&Device) != hipSuccess)
    return 1;
  const char *How = Arguments[1];
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
