// The Python stack of an interrupted thread, read from CPython's own structures
// without calling the interpreter: the handler may have interrupted it anywhere.
//
//   _PyRuntime > thread state > innermost frame > … > outermost frame
//                                    '> code object > name, file, line table
//
// Every read is guarded and every object is checked for its type; what does not
// fit makes the stack broken, and nothing of it is kept.
#ifndef KPROBE_RUNTIME_PROFILE_PYTHONSTACK_H
#define KPROBE_RUNTIME_PROFILE_PYTHONSTACK_H

#include "HostStream.h"
#include "StackMemory.h"

#include <string>

namespace kprobe {

// Where CPython keeps what a stack needs: offsets in bytes.
struct PythonLayout {
  uint32_t RuntimeCurrent; // thread state of who holds the lock
  uint32_t RuntimeKey;     // Py_tss_t of each thread's own state
  uint32_t StateFrames;    // _PyCFrame *
  uint32_t StateThread;    // pthread_t
  uint32_t FramesCurrent;  // in _PyCFrame: innermost frame
  uint32_t FrameCode;
  uint32_t FramePrevious;
  uint32_t FrameInstruction; // before the next one
  uint32_t FrameEntry;       // bool: the interpreter was called from C for it
  uint32_t CodeFirstLine;
  uint32_t CodeFile;
  uint32_t CodeName; // qualified
  uint32_t CodeLines;
  uint32_t CodeBegin; // of the instructions
};

// Code objects that a thread's stream has described.
struct PythonCodes {
  static constexpr uint32_t Places = 512;
  struct Known {
    uint64_t Object, File, Name, Lines;
    uint32_t FirstLine;
    uint32_t Number;
  };
  Known Entries[Places];
  uint32_t Count;
};

struct PythonStack {
  KprobePythonFrame *Frames;
  uint32_t Most;
  uint32_t Count;
  bool Broken;
  bool Cut;
};

// Looks for an interpreter in the process. Not for handlers. What should be
// said to the user (a version that cannot be read), once, or "".
std::string findPython();

// Fills Out, innermost frame first; describes code that is new to Codes in
// Stream. Async-signal-safe.
void readPythonStack(const StackMemory &Memory, HostStream &Stream,
                     PythonCodes &Codes, PythonStack &Out);

} // namespace kprobe

#endif
