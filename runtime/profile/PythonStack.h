// The Python stack of an interrupted thread, read from CPython's own structures
// without calling the interpreter: the handler may have interrupted it anywhere.
//
//   _PyRuntime > thread state > innermost frame > … > outermost frame
//                                    '> code object > name, file, line table
//
// Every read is guarded and every object is checked for its type; what does not
// fit makes the stack broken, and nothing of it is kept. Guarded reads are
// system calls, and these are what a sample costs: frames are read by the page
// and code objects many at a time.
#ifndef KPROBE_RUNTIME_PROFILE_PYTHONSTACK_H
#define KPROBE_RUNTIME_PROFILE_PYTHONSTACK_H

#include "HostStream.h"
#include "PythonLayout.h"
#include "StackMemory.h"

#include <string>

namespace kprobe {

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

// What reading needs besides the handler's stack, which may be small.
struct PythonScratch {
  static constexpr uint32_t MostFrames = 256;
  struct Frame {
    uint64_t Code, Instruction;
    int32_t Copy;   // of the instructions
    uint32_t Entry; // the interpreter was called from C for it
  };
  static constexpr uint32_t Batch = 32; // code objects read at once

  PythonCodes Codes;
  uint64_t State; // this thread's when it was last looked for
  Frame Frames[MostFrames];
  uint8_t Window[8192]; // memory that was read last
  uint8_t Fields[Batch][PythonLayout::MostCodeBytes];
};

struct PythonStack {
  KprobePythonFrame *Frames;
  uint32_t Most; // at most PythonScratch::MostFrames
  uint32_t Count;
  bool Broken;
  bool Cut;
};

// An interpreter in the process: its layout, and where its objects are.
struct PythonInterpreter {
  PythonLayout Layout;
  uint64_t Runtime, CodeType, TextType, BytesType;
  uint32_t Version;
};

// Looks for an interpreter in the process. Not for handlers. What should be
// said to the user (a version that cannot be read), once, or "".
std::string findPython();
// The one that was found, or null; never freed.
const PythonInterpreter *foundPython();

// Fills Out, innermost frame first; describes code that is new to Scratch in
// Stream. Async-signal-safe. Thread is this one's pthread_t.
void readPythonStack(const PythonInterpreter &I, const StackMemory &Memory,
                     uint64_t Thread, HostStream &Stream,
                     PythonScratch &Scratch, PythonStack &Out);

// The number of a code object whose first Layout.CodeBytes bytes are Fields;
// describes it in Stream if it is new. 0: it is none, or there is no room.
uint32_t numberOfPythonCode(const PythonInterpreter &I,
                            const StackMemory &Memory, HostStream &Stream,
                            PythonCodes &Codes, uint64_t Object,
                            const uint8_t *Fields);

} // namespace kprobe

#endif
