// Time by stack, in nanoseconds, for flame graphs: what host threads did, where
// they waited, and what kernels did that they launched, in one tree:
//
//   thread > Python and native frames > kernel > inlined calls > block
//
// A kernel hangs where it was submitted: below the stack that was recorded
// there, else below the recorded calls (--api), else below its thread. Its time
// is that from its begin to its end, divided among its blocks as its waves
// divide theirs.
#ifndef KPROBE_DECODE_FLAME_H
#define KPROBE_DECODE_FLAME_H

#include "Stacks.h"
#include "Timeline.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace kprobe {

struct FlameChoice {
  bool Samples = true, Waits = true, Kernels = true;
  bool Lines = false; ///< lines of native frames, too
};

class Flame {
public:
  explicit Flame(FlameChoice Wanted) : Wanted(Wanted) {}

  /// Adds all of \p Input.
  Error add(Timeline &Input);

  struct Frame {
    std::string Name;
    std::string File;
    uint32_t Line;
    bool operator<(const Frame &O) const {
      return std::tie(Name, File, Line) < std::tie(O.Name, O.File, O.Line);
    }
  };
  const std::vector<Frame> &frames() const { return Frames; }
  /// Weight by stack: indices of frames, outermost first.
  const std::map<std::vector<uint32_t>, double> &stacks() const {
    return Stacks;
  }
  uint64_t brokenStacks() const { return Broken; }
  const std::set<std::string> &problems() const { return Problems; }

private:
  using Path = std::vector<uint32_t>;
  struct Run {
    int64_t Ns = 0; ///< of the kernel
    std::map<uint32_t, double> Blocks; ///< by site or UnknownSite
  };
  class Walk;
  uint32_t intern(const Frame &F);
  uint32_t intern(const kprobe::Frame &F);
  void addStack(const Path &Thread, const HostStack &S,
                const FrameNames &Names);
  void addRun(const Dispatch &D, const Run &R, Path Below);

  FlameChoice Wanted;
  std::vector<Frame> Frames;
  std::map<Frame, uint32_t> Numbers;
  std::map<Path, double> Stacks;
  uint64_t Broken = 0;
  std::set<std::string> Problems;
};

} // namespace kprobe

#endif
