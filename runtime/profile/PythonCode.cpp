// Code objects of Python as records of the stream: name, file, line table.
#include "PythonStack.h"

namespace kprobe {
namespace {

bool hasType(const PythonInterpreter &I, const StackMemory &Memory,
             uint64_t Object, uint64_t Type) {
  uint64_t Own = 0;
  return Object % 8 == 0 && Memory.read(Object + I.Layout.ObjectType, Own) &&
         Own == Type;
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

  bool read(const PythonInterpreter &I, const StackMemory &Memory, uint64_t Object) {
    uint64_t Length = 0;
    uint32_t State = 0;
    if (!hasType(I, Memory, Object, I.TextType) ||
        !Memory.read(Object + I.Layout.TextLength, Length) ||
        !Memory.read(Object + I.Layout.TextState, State))
      return false;
    // Behind the kind's three bits: compact, ascii.
    State >>= I.Layout.TextKind;
    uint32_t Width = State & 7;
    bool Compact = State >> 3 & 1, Ascii = State >> 4 & 1;
    if (!Compact || (Width != 1 && Width != 2 && Width != 4))
      return false;
    uint64_t Place = Object + (Ascii ? I.Layout.AsciiSize : I.Layout.CompactSize);
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
bool describe(const PythonInterpreter &I, const StackMemory &Memory,
              HostStream &Stream, const PythonCodes::Known &Code) {
  Text Name, File;
  uint64_t LineBytes = 0;
  constexpr uint64_t MostLineBytes = 16 << 10;
  if (!Name.read(I, Memory, Code.Name) || !File.read(I, Memory, Code.File) ||
      !hasType(I, Memory, Code.Lines, I.BytesType) ||
      !Memory.read(Code.Lines + I.Layout.BytesCount, LineBytes))
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
  if (!Memory.read(Code.Lines + I.Layout.BytesData, To + File.Count, LineBytes))
    Event.LineTableBytes = 0;
  std::memcpy(Place, &Event, sizeof(Event));
  Stream.publish();
  return true;
}

template <typename T> T at(const uint8_t *Fields, uint32_t Offset) {
  T Value;
  std::memcpy(&Value, Fields + Offset, sizeof(T));
  return Value;
}

} // namespace

uint32_t numberOfPythonCode(const PythonInterpreter &I,
                            const StackMemory &Memory, HostStream &Stream,
                            PythonCodes &Codes, uint64_t Object,
                            const uint8_t *Fields) {
  const PythonLayout &L = I.Layout;
  if (Object % 8 != 0 || at<uint64_t>(Fields, L.ObjectType) != I.CodeType)
    return 0;
  PythonCodes::Known Code = {Object,
                             at<uint64_t>(Fields, L.CodeFile),
                             at<uint64_t>(Fields, L.CodeName),
                             at<uint64_t>(Fields, L.CodeLines),
                             at<uint32_t>(Fields, L.CodeFirstLine),
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

} // namespace kprobe
