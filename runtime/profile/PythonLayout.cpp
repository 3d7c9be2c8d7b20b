// The table of offsets that CPython publishes, checked before it is believed.
#include "PythonLayout.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace kprobe {
namespace {

constexpr int Layouts = 4;

/// What the table says.
struct Published {
  uint64_t Cookie = 0, Version = 0, FreeThreaded = 0, RuntimeInterpreters = 0,
           InterpreterNext = 0, InterpreterThreads = 0, StateSize = 0,
           StateNext = 0, StateFrame = 0, StateThread = 0, StateStatus = 0,
           FrameSize = 0, FramePrevious = 0, FrameCode = 0,
           FrameInstruction = 0, FrameOwner = 0, FrameCopy = 0, CodeSize = 0,
           CodeFile = 0, CodeName = 0, CodeLines = 0, CodeFirstLine = 0,
           CodeBegin = 0, CodeCopies = 0, ObjectSize = 0, ObjectType = 0,
           BytesCount = 0, BytesData = 0, TextState = 0, TextLength = 0,
           AsciiSize = 0, CompactSize = 0, Unused_ = 0;

  Published(const uint64_t *Words, int Layout) {
#define KPROBE_WORDS(Since, Count, Name)                                       \
  if (Layout >= Since) {                                                       \
    Name = *Words;                                                             \
    Words += Count;                                                            \
  }
#include "PythonOffsets.def"
    if (CompactSize == 0)
      CompactSize = AsciiSize + 16; // the UTF-8 form: length and pointer
  }

  static bool within(std::initializer_list<uint64_t> Offsets, uint64_t Size,
                     uint64_t Most) {
    for (uint64_t Offset : Offsets)
      if (Offset % 4 != 0 || Offset + 8 > Size || Offset + 8 > Most)
        return false;
    return true;
  }

  /// A table that is read by another version's list is out of step from some
  /// word on, and does not hold together.
  bool isSound() const {
    constexpr uint64_t Runtime = 16 << 20, Head = 64;
    return within({RuntimeInterpreters}, Runtime, Runtime) &&
           within({InterpreterNext, InterpreterThreads}, Runtime, Runtime) &&
           within({StateNext, StateFrame, StateThread, StateStatus}, StateSize,
                  PythonLayout::MostStateBytes) &&
           within({FramePrevious, FrameCode, FrameInstruction}, FrameSize,
                  PythonLayout::MostFrameBytes) &&
           FrameOwner < FrameSize && FrameOwner < PythonLayout::MostFrameBytes &&
           FramePrevious != FrameCode && FrameCode != FrameInstruction &&
           FrameCopy + 4 <= PythonLayout::MostFrameBytes &&
           within({CodeFile, CodeName, CodeLines, CodeFirstLine}, CodeSize,
                  PythonLayout::MostCodeBytes) &&
           CodeFile != CodeName && CodeName != CodeLines &&
           CodeBegin <= CodeSize && CodeBegin > CodeLines &&
           CodeCopies < CodeSize && within({ObjectType}, ObjectSize, Head) &&
           // Both follow an object's head in all versions.
           BytesCount == ObjectSize && TextLength == ObjectSize &&
           BytesData > BytesCount && BytesData < 2 * Head &&
           TextState > TextLength && TextState < AsciiSize &&
           AsciiSize < CompactSize && CompactSize < 4 * Head;
  }
};

uint32_t behind(std::initializer_list<uint32_t> Offsets) {
  return std::max(Offsets) + 8;
}

void setSizes(PythonLayout &L) {
  L.StateBytes = behind({L.StateFrame, L.StateThread, L.StateNext,
                         L.StateStatus});
  L.FrameBytes = behind({L.FrameCode, L.FramePrevious, L.FrameInstruction,
                         L.FrameOwner, L.FrameCopy});
  L.CodeBytes = behind({L.CodeFile, L.CodeName, L.CodeLines, L.CodeFirstLine,
                        L.ObjectType});
}

} // namespace

PythonLayout pythonLayout311() {
  PythonLayout Layout = {
#include "PythonLayout311.def"
  };
  setSizes(Layout);
  return Layout;
}

size_t mostPublishedWords() {
  size_t Sum = 0;
#define KPROBE_WORDS(Since, Count, Name) Sum += Count;
#include "PythonOffsets.def"
  return Sum;
}

std::string publishedPythonLayout(const uint64_t *Words, uint32_t Version,
                                  PythonLayout &Out) {
  const unsigned Minor = Version >> 16 & 255;
  if (Version >> 24 != 3 || Minor < 13 ||
      std::memcmp(Words, "xdebugpy", sizeof(*Words)) != 0)
    return "it does not publish where its frames are";
  // Patch releases keep their version's list. Of versions that are newer than
  // this file, the latest that holds together.
  int Newest = Minor < 15 ? int(Minor) - 13 : Layouts - 1;
  int Oldest = Minor < 15 ? Newest : 1;
  for (int Layout = Newest; Layout >= Oldest; --Layout) {
    Published P(Words, Layout);
    if (uint32_t(P.Version) >> 16 != Version >> 16 || !P.isSound())
      continue;
    PythonLayout L = {};
    L.Published = true;
#define KPROBE_TAKE(Name) L.Name = uint32_t(P.Name);
    KPROBE_TAKE(StateFrame)
    KPROBE_TAKE(StateThread)
    KPROBE_TAKE(StateNext)
    KPROBE_TAKE(StateStatus)
    KPROBE_TAKE(FrameCode)
    KPROBE_TAKE(FramePrevious)
    KPROBE_TAKE(FrameInstruction)
    KPROBE_TAKE(FrameOwner)
    KPROBE_TAKE(FrameCopy)
    KPROBE_TAKE(CodeFirstLine)
    KPROBE_TAKE(CodeFile)
    KPROBE_TAKE(CodeName)
    KPROBE_TAKE(CodeLines)
    KPROBE_TAKE(CodeBegin)
    KPROBE_TAKE(CodeCopies)
    KPROBE_TAKE(ObjectType)
    KPROBE_TAKE(BytesCount)
    KPROBE_TAKE(BytesData)
    KPROBE_TAKE(TextLength)
    KPROBE_TAKE(TextState)
    KPROBE_TAKE(AsciiSize)
    KPROBE_TAKE(CompactSize)
    KPROBE_TAKE(RuntimeInterpreters)
    KPROBE_TAKE(InterpreterNext)
    KPROBE_TAKE(InterpreterThreads)
#undef KPROBE_TAKE
    // Whether a str is interned is a byte there, not two bits.
    if (P.FreeThreaded && Minor >= 14)
      L.TextKind = 8;
    setSizes(L);
    Out = L;
    return "";
  }
  return "its table of offsets is not one that is known";
}

} // namespace kprobe
