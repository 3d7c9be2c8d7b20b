// Stacks of the program's threads as people read them: one list of frames,
// outermost first, native and Python merged.
//
// Where the interpreter runs, the native stack shows its C functions and the
// Python stack what they execute. Each _PyEval_EvalFrameDefault is replaced by
// the Python frames that it executes: from the innermost one up to and with the
// one that the interpreter was called from C for. When the counts do not fit,
// the Python stack was read at a bad moment: it is left out, and the stack says
// that it is broken.
#ifndef KPROBE_DECODE_STACKS_H
#define KPROBE_DECODE_STACKS_H

#include "HostEvents.h"
#include "Symbols.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace kprobe {

struct Frame {
  std::string Name;
  std::string File; ///< "" unknown
  uint32_t Line = 0;
  bool Python = false;
  bool operator<(const Frame &O) const {
    return std::tie(Name, File, Line, Python) <
           std::tie(O.Name, O.File, O.Line, O.Python);
  }
};

/// Frames by number, of all stacks that are looked at together.
class FrameNames {
public:
  const Frame &operator[](uint32_t Number) const { return *Frames[Number]; }
  uint32_t number(const Frame &F);

private:
  std::map<Frame, uint32_t> Numbers;
  std::vector<const Frame *> Frames; ///< keys of Numbers
};

struct HostStack {
  uint32_t Thread = 0; ///< number of the HostThread
  uint32_t Kind = 0;   ///< KPROBE_HOST_STACK_*
  int64_t Ns = 0;
  uint64_t Weight = 0;
  uint16_t Unit = 0;
  bool Broken = false;    ///< outer frames are missing
  bool Preempted = false; ///< of a wait
  bool Emulation = false; ///< of a thread that is the virtual GPU's
  std::vector<uint32_t> Frames; ///< by their FrameNames, outermost first
};

/// Line of the instruction at \p Offset, by a location table of CPython 3.11
/// or later (Objects/locations.md there); 0: it has none.
uint32_t pythonLine(std::string_view Table, uint32_t FirstLine, int64_t Offset);

class StackReader {
public:
  StackReader(const Trace &T, FrameNames &Frames) : Names(T), Frames(Frames) {}

  /// Learns of code and reads stacks. Events of a thread in their order. True
  /// when \p Out is a stack.
  bool read(const HostThread &Thread, const HostEvent &Event, HostStack &Out);

  const Symbols &symbols() const { return Names; }
  uint64_t brokenStacks() const { return Broken; }

private:
  struct Code {
    std::string Name, File, Lines;
    uint32_t FirstLine = 0;
  };
  void learn(uint32_t Thread, const HostEvent &Event);

  Symbols Names;
  FrameNames &Frames;
  std::map<std::pair<uint32_t, uint64_t>, Code> Codes; ///< by thread, number
  uint64_t Broken = 0;
};

} // namespace kprobe

#endif
