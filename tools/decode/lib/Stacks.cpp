// From records to merged frames.
#include "Stacks.h"

#include <algorithm>

namespace kprobe {
namespace {

constexpr char Interpreter[] = "_PyEval_EvalFrameDefault";

/// The variable-length integers of location tables: six bits a byte, the lowest
/// first, bit 6 set in all but the last.
class Varints {
public:
  Varints(std::string_view Text, size_t Place) : Text(Text), Place(Place) {}
  uint32_t take() {
    uint32_t Value = 0;
    for (unsigned Shift = 0; Place < Text.size() && Shift < 32; Shift += 6) {
      auto Byte = static_cast<uint8_t>(Text[Place++]);
      Value |= static_cast<uint32_t>(Byte & 63) << Shift;
      if (!(Byte & 64))
        break;
    }
    return Value;
  }
  int64_t takeSigned() {
    uint32_t Value = take();
    return Value & 1 ? -static_cast<int64_t>(Value >> 1) : Value >> 1;
  }

private:
  std::string_view Text;
  size_t Place;
};

/// Whether \p P is code of ours that the program never called.
bool isOurs(const CodePlace &P) {
  return P.Module == "libkprobe-profile.so" ||
         P.Module == "libkprobe-runtime.so" || P.Module == "libkprobe-hip.so";
}

} // namespace

uint32_t pythonLine(std::string_view Table, uint32_t FirstLine,
                    int64_t Offset) {
  constexpr unsigned NoLocation = 15, Long = 14, NoColumns = 13, OneLine0 = 10;
  int64_t Line = FirstLine, Begin = 0;
  for (size_t Place = 0; Place < Table.size();) {
    auto First = static_cast<uint8_t>(Table[Place]);
    unsigned Code = First >> 3 & 15;
    int64_t End = Begin + 2 * ((First & 7) + 1);
    Varints Numbers(Table, Place + 1);
    if (Code == Long || Code == NoColumns)
      Line += Numbers.takeSigned();
    else if (Code >= OneLine0 && Code < NoColumns)
      Line += Code - OneLine0;
    if (Offset < End)
      return Code == NoLocation ? 0 : static_cast<uint32_t>(Line);
    Begin = End;
    // An entry's first byte has the highest bit, the others have not.
    do
      ++Place;
    while (Place < Table.size() && !(Table[Place] & 0x80));
  }
  return 0;
}

void StackReader::learn(uint32_t Thread, const HostEvent &Event) {
  auto R = Event.as<KprobePythonCode>();
  ByteReader Rest = Event.Bytes;
  ByteReader Head;
  std::string_view Name, File, Lines;
  if (!Rest.take(sizeof(R), Head) || !Rest.takeString(R.NameBytes, Name) ||
      !Rest.takeString(R.FileBytes, File) ||
      !Rest.takeString(R.LineTableBytes, Lines))
    return;
  Codes[{Thread, R.Code}] = {std::string(Name), std::string(File),
                             std::string(Lines), R.FirstLine};
}

uint32_t FrameNames::number(const Frame &F) {
  auto [Place, New] =
      Numbers.try_emplace(F, static_cast<uint32_t>(Frames.size()));
  if (New)
    Frames.push_back(&Place->first);
  return Place->second;
}

bool StackReader::read(const HostThread &Thread, const HostEvent &Event,
                       HostStack &Out) {
  uint32_t Number = Thread.Record.Thread;
  if (Event.Head.Kind == KPROBE_HOST_PYTHON_CODE)
    learn(Number, Event);
  if (Event.Head.Kind != KPROBE_HOST_STACK_SAMPLE &&
      Event.Head.Kind != KPROBE_HOST_STACK_WAIT &&
      Event.Head.Kind != KPROBE_HOST_STACK_SUBMIT)
    return false;
  auto R = Event.as<KprobeHostStack>();
  Out = HostStack();
  Out.Thread = Number;
  Out.Kind = Event.Head.Kind;
  Out.Ns = static_cast<int64_t>(Event.Head.Ns);
  Out.Weight = R.Weight;
  Out.Unit = R.Unit;
  Out.Broken = R.Flags & (KPROBE_STACK_NATIVE_BROKEN | KPROBE_STACK_NATIVE_CUT);
  Out.Preempted = R.Flags & KPROBE_STACK_PREEMPTED;

  std::vector<CodePlace> Native; // innermost first
  for (uint16_t I = 0; I < R.Native; ++I) {
    uint64_t Address = 0;
    (void)!Event.Bytes.readAt(sizeof(R) + I * sizeof(Address), Address);
    // A return address may be the next function's already.
    const CodePlace &P = Names.find(I == 0 ? Address : Address - 1, Out.Ns);
    if (!isOurs(P))
      Native.push_back(P);
  }
  std::vector<KprobePythonFrame> Python(R.Python);
  for (uint16_t I = 0; I < R.Python; ++I)
    (void)!Event.Bytes.readAt(sizeof(R) + R.Native * sizeof(uint64_t) +
                                  I * sizeof(KprobePythonFrame),
                              Python[I]);
  // A thread belongs to whom its outermost frame does that is no library's
  // which only starts threads.
  for (const CodePlace &P : Native)
    if (P.Module.rfind("libc.so", 0) != 0 &&
        P.Module.rfind("libstdc++.so", 0) != 0)
      Out.Emulation = P.Emulator && !Out.Broken;

  auto isInterpreter = [](const CodePlace &P) {
    // GCC may have put a part of it elsewhere: NAME.cold.
    return P.Function.compare(0, sizeof(Interpreter) - 1, Interpreter) == 0 &&
           (P.Function.size() == sizeof(Interpreter) - 1 ||
            P.Function[sizeof(Interpreter) - 1] == '.');
  };
  auto Evaluations =
      std::count_if(Native.begin(), Native.end(), isInterpreter);
  auto Entries =
      std::count_if(Python.begin(), Python.end(),
                    [](const KprobePythonFrame &F) { return F.Entry != 0; });
  bool Fits = !Python.empty() && !(R.Flags & KPROBE_STACK_PYTHON_BROKEN) &&
              (Evaluations == Entries || Out.Broken ||
               (R.Flags & KPROBE_STACK_PYTHON_CUT));
  if (!Python.empty() && !Fits)
    Out.Broken = true;

  size_t NextPython = 0;
  for (const CodePlace &P : Native) {
    if (!Fits || !isInterpreter(P)) {
      Out.Frames.push_back(Frames.number({P.Function, P.File, P.Line, false}));
      continue;
    }
    for (bool More = true; More && NextPython < Python.size();) {
      const KprobePythonFrame &F = Python[NextPython++];
      More = F.Entry == 0;
      auto Found = Codes.find({Number, F.Code});
      if (Found == Codes.end()) {
        Out.Frames.push_back(Frames.number({"(unknown code of Python)", "", 0, true}));
        continue;
      }
      const Code &C = Found->second;
      uint32_t Line = pythonLine(C.Lines, C.FirstLine, F.Offset);
      Out.Frames.push_back(
          Frames.number({C.Name, C.File, Line ? Line : C.FirstLine, true}));
    }
  }
  std::reverse(Out.Frames.begin(), Out.Frames.end());
  Broken += Out.Broken;
  return true;
}

} // namespace kprobe
