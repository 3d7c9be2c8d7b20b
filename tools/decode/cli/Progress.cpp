// Drawing, at most ten times a second.
#include "Progress.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace kprobe {

static constexpr std::chrono::milliseconds Patience(1000), Between(100);
static constexpr int Width = 30;
/// The clock is not looked at each time: entries come by the million.
static constexpr uint32_t LookEvery = 16;

Progress::Progress(std::string Name)
    : What(std::move(Name)), Terminal(::isatty(STDERR_FILENO) == 1),
      Next(Clock::now() + Patience) {}

void Progress::show(uint64_t Done, uint64_t All) {
  if (!Terminal || Asked++ % LookEvery != 0)
    return;
  Clock::time_point Now = Clock::now();
  if (Now >= Next)
    draw(Done, All, Now);
}

void Progress::draw(uint64_t Done, uint64_t All, Clock::time_point Now) {
  Next = Now + Between;
  Shown = true;
  if (All == 0) {
    std::fprintf(stderr, "\r%s: %llu MB\033[K", What.c_str(),
                 static_cast<unsigned long long>(Done >> 20));
    return;
  }
  double Part =
      std::min(1.0, static_cast<double>(Done) / static_cast<double>(All));
  int Full = static_cast<int>(Part * Width);
  std::fprintf(stderr, "\r%s [%s%s] %3d%%\033[K", What.c_str(),
               std::string(static_cast<size_t>(Full), '#').c_str(),
               std::string(static_cast<size_t>(Width - Full), ' ').c_str(),
               static_cast<int>(Part * 100));
}

void Progress::wipe() {
  if (Shown)
    std::fprintf(stderr, "\r\033[K");
}

} // namespace kprobe
