// Where an interpreter of CPython keeps what a stack needs: offsets in bytes.
//
// Of 3.11 they are fixed (PythonLayout311.def). From 3.13 on the interpreter
// publishes them in its own memory (PythonOffsets.def).
#ifndef KPROBE_RUNTIME_PROFILE_PYTHONLAYOUT_H
#define KPROBE_RUNTIME_PROFILE_PYTHONLAYOUT_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace kprobe {

struct PythonLayout {
  // In the order of PythonLayout311.def.
  uint32_t RuntimeCurrent; // 3.11: thread state of who holds the lock
  uint32_t RuntimeKey;     // 3.11: Py_tss_t of each thread's own state
  uint32_t StateFrame;     // innermost frame; 3.11: its _PyCFrame
  uint32_t StateThread;    // pthread_t
  uint32_t FramesCurrent;  // 3.11, in _PyCFrame: innermost frame
  uint32_t FrameCode;
  uint32_t FramePrevious;
  uint32_t FrameInstruction; // 3.11: before the next one; else the present one
  uint32_t FrameOwner;       // 3.11: the interpreter was called from C for it
  uint32_t CodeFirstLine;
  uint32_t CodeFile;
  uint32_t CodeName; // qualified
  uint32_t CodeLines;
  uint32_t CodeBegin; // of the instructions

  // The same in 3.11 and, so far, in those that publish theirs.
  uint32_t ObjectType = 8, BytesCount = 16, BytesData = 32;
  uint32_t TextLength = 16, TextState = 32;
  // Heads of str objects in 3.11.
  uint32_t AsciiSize = 48, CompactSize = 72;
  uint32_t TextKind = 2; // bit of the state

  // Only if Published.
  bool Published = false;
  uint32_t RuntimeInterpreters = 0; // first interpreter
  uint32_t InterpreterNext = 0, InterpreterThreads = 0, StateNext = 0;
  uint32_t StateStatus = 0;
  // Of builds without the lock since 3.14, whose threads may execute their own
  // copies of the instructions: its number, and the list of all; 0: no copies.
  uint32_t FrameCopy = 0, CodeCopies = 0;

  // What is read of each at once; all places above are within.
  static constexpr uint32_t MostStateBytes = 512, MostFrameBytes = 128,
                            MostCodeBytes = 256;
  uint32_t StateBytes = 0, FrameBytes = 0, CodeBytes = 0;
};

// Of 3.11.
PythonLayout pythonLayout311();

// Out of the words at the begin of _PyRuntime, as many as
// mostPublishedWords(). Why they cannot be used, or "".
std::string publishedPythonLayout(const uint64_t *Words, uint32_t Version,
                                  PythonLayout &Out);
size_t mostPublishedWords();

} // namespace kprobe

#endif
