// Finds CPython's thread state and walks its frames.
#include "PythonStack.h"

#include <atomic>
#include <cstdio>
#include <dlfcn.h>
#include <pthread.h>

namespace kprobe {
namespace {

// Published with release once it is whole.
std::atomic<const PythonInterpreter *> Found{nullptr};

// Guarded reads of frames, which lie close together: what surrounds the last one
// is at hand.
class FrameWindow {
public:
  FrameWindow(const StackMemory &Memory, PythonScratch &Scratch)
      : Memory(Memory), Bytes(Scratch.Window) {}

  bool read(uint64_t Address, void *Out, size_t Count) {
    // The interpreter's own stack: no system call.
    if (Address >= Memory.Low && Address < Memory.High)
      return Memory.read(Address, Out, Count);
    if ((Address < Begin || Address + Count > End) && !fill(Address, Count))
      return Memory.read(Address, Out, Count);
    std::memcpy(Out, Bytes + (Address - Begin), Count);
    return true;
  }

private:
  // Outer frames lie below: from Address down to the begin of its page, which is
  // there if Address is, and of the page before, if that is there, too.
  bool fill(uint64_t Address, size_t Count) {
    constexpr uint64_t Page = 4096;
    uint64_t Low = Address & ~(Page - 1), Own = Address + Count - Low;
    if (Own > Page || Low < Page)
      return false;
    Begin = End = 0;
    struct iovec To[2] = {{Bytes + Page, Own}, {Bytes, Page}};
    struct iovec From[2] = {{reinterpret_cast<void *>(Low), Own},
                            {reinterpret_cast<void *>(Low - Page), Page}};
    ssize_t Got = syscall(SYS_process_vm_readv, Memory.Process, To, 2, From, 2, 0);
    if (Got < ssize_t(Own))
      return false;
    bool Both = Got == ssize_t(Own + Page);
    Begin = Both ? Low - Page : Low;
    End = Low + Own;
    if (!Both)
      std::memmove(Bytes, Bytes + Page, Own);
    return true;
  }

  const StackMemory &Memory;
  uint8_t *Bytes;
  uint64_t Begin = 0, End = 0;
};

struct StateFields {
  uint64_t Thread = 0, Next = 0, Frame = 0;
  uint32_t Status = 0;

  bool read(const PythonLayout &L, const StackMemory &Memory, uint64_t State) {
    uint8_t Bytes[PythonLayout::MostStateBytes];
    if (State % 8 != 0 || !Memory.read(State, Bytes, L.StateBytes))
      return false;
    std::memcpy(&Thread, Bytes + L.StateThread, sizeof(Thread));
    std::memcpy(&Next, Bytes + L.StateNext, sizeof(Next));
    std::memcpy(&Frame, Bytes + L.StateFrame, sizeof(Frame));
    std::memcpy(&Status, Bytes + L.StateStatus, sizeof(Status));
    return true;
  }
  // PyThreadState._status.active: it runs Python code or may at once.
  bool isActive() const { return Status >> 4 & 1; }
};

enum class Innermost { None, Known, Broken };

// 3.11: who holds the lock, or what this thread has in its Py_tss_t.
Innermost findFrame311(const PythonInterpreter &I, const StackMemory &Memory,
                       uint64_t Thread, uint64_t &Frame) {
  const PythonLayout &L = I.Layout;
  // Static data of the interpreter, which is never unloaded.
  const auto *Runtime = reinterpret_cast<const char *>(I.Runtime);
  uint64_t State = 0;
  std::memcpy(&State, Runtime + L.RuntimeCurrent, sizeof(State));
  StateFields Fields;
  if (!State || !Fields.read(L, Memory, State) || Fields.Thread != Thread) {
    struct {
      int32_t Made;
      uint32_t Key;
    } Own;
    std::memcpy(&Own, Runtime + L.RuntimeKey, sizeof(Own));
    State = Own.Made ? reinterpret_cast<uint64_t>(pthread_getspecific(Own.Key))
                     : 0;
    if (!State)
      return Innermost::None;
    if (!Fields.read(L, Memory, State))
      return Innermost::Broken;
  }
  return Memory.read(Fields.Frame + L.FramesCurrent, Frame) ? Innermost::Known
                                                            : Innermost::Broken;
}

// Since 3.13: the state of this thread, of all states of all interpreters. Other
// threads may change these lists meanwhile, and states that they free may be in
// any condition: what is found names this thread, and so do few other words.
Innermost findFrame(const PythonInterpreter &I, const StackMemory &Memory,
                    uint64_t Thread, PythonScratch &Scratch, uint64_t &Frame) {
  constexpr unsigned MostStates = 4096;
  const PythonLayout &L = I.Layout;
  StateFields Fields;
  if (Scratch.State && Fields.read(L, Memory, Scratch.State) &&
      Fields.Thread == Thread && Fields.isActive()) {
    Frame = Fields.Frame;
    return Innermost::Known;
  }
  Scratch.State = 0;
  unsigned Seen = 0, Own = 0;
  uint64_t Interpreter = 0;
  Memory.read(I.Runtime + L.RuntimeInterpreters, Interpreter);
  for (; Interpreter && Seen < MostStates; ++Seen) {
    uint64_t State = 0;
    if (!Memory.read(Interpreter + L.InterpreterThreads, State))
      return Innermost::Broken;
    for (; State && Seen < MostStates; State = Fields.Next, ++Seen) {
      if (!Fields.read(L, Memory, State))
        return Innermost::Broken;
      if (Fields.Thread != Thread)
        continue;
      ++Own;
      Scratch.State = State;
      Frame = Fields.Frame;
      if (Fields.isActive())
        return Innermost::Known;
    }
    if (!Memory.read(Interpreter + L.InterpreterNext, Interpreter))
      return Innermost::Broken;
  }
  // A thread that has states of several interpreters and is active in none of
  // them waits in one: there is no telling in which.
  if (Own > 1)
    Scratch.State = 0;
  return Own == 0   ? Innermost::None
         : Own == 1 ? Innermost::Known
                    : Innermost::Broken;
}

// Fills Scratch.Frames; false when something does not fit.
bool walk(const PythonLayout &L, const StackMemory &Memory, uint64_t Frame,
          PythonScratch &Scratch, PythonStack &Out) {
  // enum _frameowner: from here on frames stand for calls of the interpreter
  // from C, and have no code.
  constexpr uint8_t OwnedByInterpreter = 3;
  FrameWindow Window(Memory, Scratch);
  uint8_t Bytes[PythonLayout::MostFrameBytes];
  auto word = [&](uint32_t Offset) {
    uint64_t Value;
    std::memcpy(&Value, Bytes + Offset, sizeof(Value));
    return Value;
  };
  // Besides those with code there are the interpreter's own: at most one each,
  // unless a circle is walked.
  for (unsigned Steps = 0; Frame; ++Steps) {
    if (Steps == 2 * PythonScratch::MostFrames || Out.Count == Out.Most) {
      Out.Cut = true;
      return true;
    }
    if (Frame % 8 != 0 || !Window.read(Frame, Bytes, L.FrameBytes))
      return false;
    uint64_t Previous = word(L.FramePrevious);
    uint8_t Owner = Bytes[L.FrameOwner];
    if (Previous == Frame)
      return false;
    if (L.Published && Owner >= OwnedByInterpreter) {
      if (Owner > OwnedByInterpreter + 1)
        return false;
      if (Out.Count)
        Scratch.Frames[Out.Count - 1].Entry = 1;
    } else {
      if (!L.Published && Owner > 1)
        return false;
      PythonScratch::Frame &F = Scratch.Frames[Out.Count++];
      // References are tagged in their lowest bits.
      F.Code = word(L.FrameCode) & ~uint64_t(L.Published ? 7 : 0);
      F.Instruction = word(L.FrameInstruction);
      F.Entry = L.Published ? 0 : Owner;
      F.Copy = 0;
      if (L.FrameCopy)
        std::memcpy(&F.Copy, Bytes + L.FrameCopy, sizeof(F.Copy));
    }
    Frame = Previous;
  }
  return true;
}

// Where the instructions begin that a frame executes.
bool codeBegin(const PythonLayout &L, const StackMemory &Memory,
               const PythonScratch::Frame &F, uint64_t &Begin) {
  Begin = F.Code + L.CodeBegin;
  if (L.CodeCopies == 0 || F.Copy == 0)
    return true;
  uint64_t List = 0; // its length, then the copies
  return F.Copy > 0 && Memory.read(F.Code + L.CodeCopies, List) &&
         Memory.read(List + 8 + uint64_t(F.Copy) * 8, Begin) && Begin != 0;
}

// Numbers and offsets of the code of frames [First, Last); false when something
// does not fit.
bool describe(const PythonInterpreter &I, const StackMemory &Memory,
              HostStream &Stream, PythonScratch &Scratch, uint32_t First,
              uint32_t Last, PythonStack &Out) {
  const PythonLayout &L = I.Layout;
  struct iovec To[PythonScratch::Batch], From[PythonScratch::Batch];
  uint8_t Place[PythonScratch::Batch]; // of each frame's code in Fields
  uint32_t Codes = 0;
  for (uint32_t N = First; N < Last; ++N) {
    void *Code = reinterpret_cast<void *>(Scratch.Frames[N].Code);
    uint32_t Known = 0;
    while (Known < Codes && From[Known].iov_base != Code)
      ++Known;
    Place[N - First] = uint8_t(Known);
    if (Known < Codes)
      continue;
    To[Codes] = {Scratch.Fields[Codes], L.CodeBytes};
    From[Codes++] = {Code, L.CodeBytes};
  }
  if (syscall(SYS_process_vm_readv, Memory.Process, To, Codes, From, Codes, 0) !=
      ssize_t(Codes * L.CodeBytes))
    return false;
  for (uint32_t N = First; N < Last; ++N) {
    const PythonScratch::Frame &F = Scratch.Frames[N];
    uint32_t Number =
        numberOfPythonCode(I, Memory, Stream, Scratch.Codes, F.Code,
                           Scratch.Fields[Place[N - First]]);
    uint64_t Begin = 0;
    if (!Number || !codeBegin(L, Memory, F, Begin))
      return false;
    int64_t Offset = int64_t(F.Instruction - Begin);
    // The place before the first instruction is where a new frame stands.
    if (Offset < -2 || Offset > INT32_MAX)
      return false;
    Out.Frames[N] = {Number, int32_t(Offset), F.Entry};
  }
  return true;
}

} // namespace

std::string findPython() {
  static bool Told = false;
  if (foundPython() || Told)
    return "";
  auto symbol = [](const char *Name) {
    return reinterpret_cast<uint64_t>(dlsym(RTLD_DEFAULT, Name));
  };
  PythonInterpreter I = {pythonLayout311(),
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
  bool Is311 = I.Version >> 16 == 0x030b;
  std::string Why;
  if (!Is311)
    Why = I.Runtime ? publishedPythonLayout(
                          reinterpret_cast<const uint64_t *>(I.Runtime),
                          I.Version, I.Layout)
                    : "it has no _PyRuntime";
  if (Why.empty()) {
    Found.store(new PythonInterpreter(I), std::memory_order_release);
    return "";
  }
  char Text[64] = "before 3.11";
  if (I.Version)
    snprintf(Text, sizeof(Text), "%u.%u", I.Version >> 24,
             I.Version >> 16 & 255);
  return std::string("profile: stacks of CPython ") + Text +
         " cannot be read (" + Why + "); native frames only";
}

const PythonInterpreter *foundPython() {
  return Found.load(std::memory_order_acquire);
}

void readPythonStack(const PythonInterpreter &I, const StackMemory &Memory,
                     uint64_t Thread, HostStream &Stream,
                     PythonScratch &Scratch, PythonStack &Out) {
  Out.Count = 0;
  Out.Broken = Out.Cut = false;
  uint64_t Frame = 0;
  Innermost Where = I.Layout.Published
                        ? findFrame(I, Memory, Thread, Scratch, Frame)
                        : findFrame311(I, Memory, Thread, Frame);
  if (Where == Innermost::None)
    return;
  bool Good = Where == Innermost::Known &&
              walk(I.Layout, Memory, Frame, Scratch, Out);
  for (uint32_t N = 0; Good && N < Out.Count; N += PythonScratch::Batch) {
    uint32_t Last = N + PythonScratch::Batch;
    Good = describe(I, Memory, Stream, Scratch, N,
                    Last < Out.Count ? Last : Out.Count, Out);
  }
  if (Good)
    return;
  Out.Broken = true;
  Out.Count = 0;
}

} // namespace kprobe
