// A line on the terminal for work that takes longer than a second.
//
// Written to stderr when that is a terminal, over itself, and wiped away at the
// end: what is there afterwards is the same as without it.
#ifndef KPROBE_DECODE_PROGRESS_H
#define KPROBE_DECODE_PROGRESS_H

#include <chrono>
#include <cstdint>
#include <string>

namespace kprobe {

class Progress {
public:
  explicit Progress(std::string What);
  ~Progress() { wipe(); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// \p All is 0 when it is not known.
  void show(uint64_t Done, uint64_t All);

private:
  using Clock = std::chrono::steady_clock;
  void draw(uint64_t Done, uint64_t All, Clock::time_point Now);
  void wipe();

  std::string What;
  bool Terminal;
  uint32_t Asked = 0;
  bool Shown = false;
  Clock::time_point Next;
};

} // namespace kprobe

#endif
