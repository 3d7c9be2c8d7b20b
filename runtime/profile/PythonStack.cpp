// Walks CPython's frames.
#include "PythonStack.h"

#include <atomic>
#include <cstdio>
#include <dlfcn.h>
#include <pthread.h>

namespace kprobe {
namespace {

// CPython 3.11: Include/cpython/{pystate,code}.h, Include/internal/
// pycore_{frame,runtime}.h. test/unit/runtime/PythonLayout.c holds these numbers
// against the headers.
constexpr PythonLayout Layout311 = {
#include "PythonLayout311.def"
};

struct Interpreter {
  PythonLayout Layout;
  uint64_t Runtime, CodeType, TextType, BytesType;
  uint32_t Version;
};

// Published with release once it is whole; never freed.
std::atomic<const Interpreter *> Found{nullptr};

// Heads of objects, the same in 3.11 and later.
constexpr uint32_t ObjectType = 8, VariableSize = 16, BytesData = 32;
constexpr uint32_t TextLength = 16, TextState = 32, AsciiData = 48,
                   OtherData = 72;

bool hasType(const StackMemory &Memory, uint64_t Object, uint64_t Type) {
  uint64_t Own = 0;
  return Object % 8 == 0 && Memory.read(Object + ObjectType, Own) && Own == Type;
}

// This thread's state, or 0.
uint64_t ownState(const Interpreter &I, const StackMemory &Memory) {
  // Static data of the interpreter, which is never unloaded.
  const auto *Runtime = reinterpret_cast<const char *>(I.Runtime);
  uint64_t State = 0, Thread = 0;
  std::memcpy(&State, Runtime + I.Layout.RuntimeCurrent, sizeof(State));
  if (State && Memory.read(State + I.Layout.StateThread, Thread) &&
      Thread == uint64_t(pthread_self()))
    return State;
  // Another thread holds the lock.
  struct {
    int32_t Made;
    uint32_t Key;
  } Own;
  std::memcpy(&Own, Runtime + I.Layout.RuntimeKey, sizeof(Own));
  return Own.Made ? reinterpret_cast<uint64_t>(pthread_getspecific(Own.Key)) : 0;
}

// Appends the UTF-8 of a str object, or as much as fits.
struct Text {
  char Bytes[400];
  uint16_t Count = 0;

  bool put(uint32_t Letter) {
    char Form[4];
    uint16_t Length = 0;
    if (Letter < 0x80) {
      Form[Length++] = char(Letter);
    } else {
      if (Letter >= 0x10000) {
        Form[Length++] = char(0xf0 | Letter >> 18);
        Form[Length++] = char(0x80 | (Letter >> 12 & 63));
      } else if (Letter >= 0x800) {
        Form[Length++] = char(0xe0 | Letter >> 12);
      } else {
        Form[Length++] = char(0xc0 | Letter >> 6);
      }
      if (Letter >= 0x800)
        Form[Length++] = char(0x80 | (Letter >> 6 & 63));
      Form[Length++] = char(0x80 | (Letter & 63));
    }
    if (Count + Length > int(sizeof(Bytes)))
      return false;
    std::memcpy(Bytes + Count, Form, Length);
    Count = uint16_t(Count + Length);
    return true;
  }

  bool read(const Interpreter &I, const StackMemory &Memory, uint64_t Object) {
    uint64_t Length = 0;
    uint32_t State = 0;
    if (!hasType(Memory, Object, I.TextType) ||
        !Memory.read(Object + TextLength, Length) ||
        !Memory.read(Object + TextState, State))
      return false;
    // interned:2 kind:3 compact:1 ascii:1
    uint32_t Width = State >> 2 & 7;
    bool Compact = State >> 5 & 1, Ascii = State >> 6 & 1;
    if (!Compact || (Width != 1 && Width != 2 && Width != 4))
      return false;
    uint64_t Place = Object + (Ascii ? AsciiData : OtherData);
    for (uint64_t Done = 0; Done < Length;) {
      uint8_t Piece[256];
      uint64_t Letters = sizeof(Piece) / Width;
      if (Letters > Length - Done)
        Letters = Length - Done;
      if (!Memory.read(Place + Done * Width, Piece, Letters * Width))
        return false;
      for (uint64_t N = 0; N < Letters; ++N) {
        uint32_t Letter = 0;
        std::memcpy(&Letter, Piece + N * Width, Width);
        if (!put(Letter))
          return true; // cut
      }
      Done += Letters;
    }
    return true;
  }
};

// Describes the code object in the stream; false when it is none, or when
// there is no room.
bool describe(const Interpreter &I, const StackMemory &Memory,
              HostStream &Stream, const PythonCodes::Known &Code) {
  Text Name, File;
  uint64_t LineBytes = 0;
  constexpr uint64_t MostLineBytes = 16 << 10;
  if (!Name.read(I, Memory, Code.Name) || !File.read(I, Memory, Code.File) ||
      !hasType(Memory, Code.Lines, I.BytesType) ||
      !Memory.read(Code.Lines + VariableSize, LineBytes))
    return false;
  if (LineBytes > MostLineBytes)
    LineBytes = MostLineBytes;
  uint64_t Bytes = sizeof(KprobePythonCode) + Name.Count + File.Count + LineBytes;
  Bytes = (Bytes + 7) & ~uint64_t(7);
  uint8_t *Place = Stream.open(Bytes, Stream.Reserved);
  if (!Place)
    return false;
  std::memset(Place + Bytes - 8, 0, 8);
  KprobePythonCode Event = {{uint16_t(Bytes), KPROBE_HOST_PYTHON_CODE, 0,
                             Stream.Current, hostNowNs()},
                            Code.Number,
                            Code.FirstLine,
                            I.Version,
                            Name.Count,
                            File.Count,
                            uint32_t(LineBytes)};
  uint8_t *To = Place + sizeof(Event);
  std::memcpy(To, Name.Bytes, Name.Count);
  To += Name.Count;
  std::memcpy(To, File.Bytes, File.Count);
  if (!Memory.read(Code.Lines + BytesData, To + File.Count, LineBytes))
    Event.LineTableBytes = 0;
  std::memcpy(Place, &Event, sizeof(Event));
  Stream.publish();
  return true;
}

// The first bytes of an object, with one system call for all of its fields.
template <size_t Size> struct Fields {
  uint8_t Bytes[Size];

  bool read(const StackMemory &Memory, uint64_t Object) {
    return Object % 8 == 0 && Memory.read(Object, Bytes, Size);
  }
  template <typename T> T at(uint32_t Offset) const {
    T Value;
    std::memcpy(&Value, Bytes + Offset, sizeof(T));
    return Value;
  }
};
constexpr size_t CodeBytes = 144; // up to and with co_linetable
constexpr size_t FrameBytes = 72; // all but the locals

// The number of the code object at Object; 0: it is none.
uint32_t numberOf(const Interpreter &I, const StackMemory &Memory,
                  HostStream &Stream, PythonCodes &Codes, uint64_t Object) {
  const PythonLayout &L = I.Layout;
  Fields<CodeBytes> Read;
  if (!Read.read(Memory, Object) ||
      Read.at<uint64_t>(ObjectType) != I.CodeType)
    return 0;
  PythonCodes::Known Code = {Object,
                             Read.at<uint64_t>(L.CodeFile),
                             Read.at<uint64_t>(L.CodeName),
                             Read.at<uint64_t>(L.CodeLines),
                             Read.at<uint32_t>(L.CodeFirstLine),
                             0};
  PythonCodes::Known &Place =
      Codes.Entries[(Object >> 5) % PythonCodes::Places];
  // Another function may have come to lie where one was.
  if (Place.Number && Place.Object == Object && Place.File == Code.File &&
      Place.Name == Code.Name && Place.Lines == Code.Lines &&
      Place.FirstLine == Code.FirstLine)
    return Place.Number;
  Code.Number = Codes.Count + 1;
  if (!describe(I, Memory, Stream, Code))
    return 0;
  ++Codes.Count;
  Place = Code;
  return Code.Number;
}

} // namespace

std::string findPython() {
  static bool Told = false;
  if (Found.load(std::memory_order_relaxed) || Told)
    return "";
  auto symbol = [](const char *Name) {
    return reinterpret_cast<uint64_t>(dlsym(RTLD_DEFAULT, Name));
  };
  Interpreter I = {Layout311,
                   symbol("_PyRuntime"),
                   symbol("PyCode_Type"),
                   symbol("PyUnicode_Type"),
                   symbol("PyBytes_Type"),
                   0};
  if (!I.CodeType)
    return "";
  Told = true;
  // Since 3.11.
  if (const auto *Version = reinterpret_cast<const unsigned long *>(
          dlsym(RTLD_DEFAULT, "Py_Version")))
    I.Version = uint32_t(*Version);
  if (I.Runtime && I.Version >> 16 == 0x030b) {
    Found.store(new Interpreter(I), std::memory_order_release);
    return "";
  }
  char Text[64] = "before 3.11";
  if (I.Version)
    snprintf(Text, sizeof(Text), "%u.%u", I.Version >> 24,
             I.Version >> 16 & 255);
  return std::string("profile: stacks of CPython ") + Text +
         " cannot be read; native frames only";
}

void readPythonStack(const StackMemory &Memory, HostStream &Stream,
                     PythonCodes &Codes, PythonStack &Out) {
  Out.Count = 0;
  Out.Broken = Out.Cut = false;
  const Interpreter *I = Found.load(std::memory_order_acquire);
  if (!I)
    return;
  const PythonLayout &L = I->Layout;
  uint64_t State = ownState(*I, Memory);
  if (!State)
    return;
  uint64_t Frames = 0, Frame = 0;
  Out.Broken = !Memory.read(State + L.StateFrames, Frames) ||
               !Memory.read(Frames + L.FramesCurrent, Frame);
  while (Frame && !Out.Broken) {
    if (Out.Count == Out.Most) {
      Out.Cut = true;
      return;
    }
    Fields<FrameBytes> Read;
    uint32_t Number = 0;
    if (!Read.read(Memory, Frame)) {
      Out.Broken = true;
      break;
    }
    const auto Code = Read.at<uint64_t>(L.FrameCode);
    const auto Instruction = Read.at<uint64_t>(L.FrameInstruction);
    const auto Previous = Read.at<uint64_t>(L.FramePrevious);
    const auto Entry = Read.at<uint8_t>(L.FrameEntry);
    if (Entry <= 1)
      Number = numberOf(*I, Memory, Stream, Codes, Code);
    int64_t Offset = int64_t(Instruction - (Code + L.CodeBegin));
    // The place before the first instruction is where a new frame stands.
    if (!Number || Offset < -2 || Offset > INT32_MAX || Previous == Frame) {
      Out.Broken = true;
      break;
    }
    Out.Frames[Out.Count++] = {Number, int32_t(Offset), Entry};
    Frame = Previous;
  }
  if (Out.Broken)
    Out.Count = 0;
}

} // namespace kprobe
