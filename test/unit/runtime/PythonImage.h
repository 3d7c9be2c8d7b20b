// A process image of CPython 3.13 or later, as far as a stack reaches: made in
// this process's memory, by offsets that no real build has, and published in the
// order of each version's own header.
#ifndef KPROBE_TEST_PYTHONIMAGE_H
#define KPROBE_TEST_PYTHONIMAGE_H

#include "profile/PythonStack.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace kprobe {

struct PythonImage {
  // Offsets of this image.
  uint64_t Interpreters = 0x2a8, InterpreterNext = 0x68, Threads = 0x1c8;
  uint64_t StateNext = 0x38, StateFrame = 0x90, StateThread = 0xb8,
           StateStatus = 0x54;
  uint64_t Previous = 16, Executable = 40, Instruction = 0, Owner = 60,
           Copy = 64;
  uint64_t File = 96, Name = 40, QualifiedName = 120, Lines = 56,
           FirstLine = 68, Begin = 200, Copies = 184;
  uint64_t HeadBytes = 16, Type = 8;
  uint64_t BytesData, TextLength, TextState, AsciiBytes, CompactBytes;

  unsigned Minor;
  bool MoreOfTypes, FreeThreaded;
  PythonInterpreter I = {};

  PythonImage(unsigned Minor, bool MoreOfTypes = false,
              bool FreeThreaded = false)
      : Minor(Minor), MoreOfTypes(MoreOfTypes), FreeThreaded(FreeThreaded) {
    if (FreeThreaded) {
      HeadBytes = 32;
      Type = 24;
    }
    TextLength = HeadBytes;
    TextState = HeadBytes + 24;
    AsciiBytes = HeadBytes + 32;
    CompactBytes = AsciiBytes + (Minor >= 15 ? 24 : 16);
    BytesData = HeadBytes + 24;
    I.CodeType = allocate(64);
    I.TextType = allocate(64);
    I.BytesType = allocate(64);
    I.Version = 3u << 24 | Minor << 16 | 2 << 8 | 0xf0;
    I.Runtime = allocate(0x400);
    std::vector<uint64_t> Words = table();
    std::memcpy(reinterpret_cast<void *>(I.Runtime), Words.data(),
                Words.size() * 8);
    Words.resize(mostPublishedWords() + 8);
    Why = publishedPythonLayout(Words.data(), I.Version, I.Layout);
  }
  std::string Why; // the layout could not be read

  uint64_t allocate(size_t Bytes) {
    Blocks.push_back(std::make_unique<uint64_t[]>(Bytes / 8 + 1));
    std::memset(Blocks.back().get(), 0, Bytes);
    return reinterpret_cast<uint64_t>(Blocks.back().get());
  }
  template <typename T> void put(uint64_t Place, T Value) {
    std::memcpy(reinterpret_cast<void *>(Place), &Value, sizeof(Value));
  }

  // Letters of Width bytes each.
  template <typename Letter>
  uint64_t text(const std::basic_string<Letter> &Letters, bool Ascii) {
    uint64_t Head = Ascii ? AsciiBytes : CompactBytes;
    uint64_t T = allocate(Head + (Letters.size() + 1) * sizeof(Letter));
    put(T + Type, I.TextType);
    put(T + TextLength, uint64_t(Letters.size()));
    uint32_t Kind = sizeof(Letter) | 1u << 3 | uint32_t(Ascii) << 4;
    put(T + TextState,
        FreeThreaded && Minor >= 14 ? Kind << 8 | 0xfe : Kind << 2 | 2);
    std::memcpy(reinterpret_cast<void *>(T + Head), Letters.data(),
                Letters.size() * sizeof(Letter));
    return T;
  }
  uint64_t ascii(const std::string &Letters) { return text(Letters, true); }

  uint64_t code(uint64_t Qualified, const std::string &Where, uint32_t Line,
                const std::string &Table) {
    uint64_t B = allocate(BytesData + Table.size() + 1);
    put(B + Type, I.BytesType);
    put(B + HeadBytes, uint64_t(Table.size()));
    std::memcpy(reinterpret_cast<void *>(B + BytesData), Table.data(),
                Table.size());
    uint64_t C = allocate(Begin + 4096);
    put(C + Type, I.CodeType);
    put(C + File, ascii(Where));
    put(C + Name, ascii("not this one"));
    put(C + QualifiedName, Qualified);
    put(C + Lines, B);
    put(C + FirstLine, Line);
    return C;
  }

  // Owner 3: the interpreter was called from C.
  uint64_t frame(uint64_t Outer, uint64_t Code, int64_t Offset,
                 uint8_t Owns = 0) {
    uint64_t F = allocate(96);
    put(F + Previous, Outer);
    // Since 3.14 references are tagged.
    put(F + Executable, Code | (Minor >= 14 && Code ? 1 : 0));
    put(F + Instruction, Code + Begin + uint64_t(Offset));
    put(F + Owner, Owns);
    return F;
  }

  uint64_t state(uint64_t Thread, uint64_t Frame, bool Active,
                 uint64_t Next = 0) {
    uint64_t S = allocate(0xc0);
    put(S + StateThread, Thread);
    put(S + StateFrame, Frame);
    put(S + StateStatus, uint32_t(Active ? 0x13 : 3));
    put(S + StateNext, Next);
    return S;
  }
  uint64_t interpreter(uint64_t States, uint64_t Next = 0) {
    uint64_t P = allocate(0x200);
    put(P + Threads, States);
    put(P + InterpreterNext, Next);
    return P;
  }
  void start(uint64_t Interpreter) {
    put(I.Runtime + Interpreters, Interpreter);
  }

private:
  // Include/internal/pycore_debug_offsets.h, section by section.
  std::vector<uint64_t> table() const {
    std::vector<uint64_t> W = {0, I.Version, FreeThreaded};
    std::memcpy(&W[0], "xdebugpy", 8);
    auto add = [&](std::initializer_list<uint64_t> Words) {
      W.insert(W.end(), Words);
    };
    constexpr uint64_t No = 0x7777; // not to be looked at
    bool Has14 = Minor >= 14, Has15 = Minor >= 15;
    add({0x400, No, Interpreters});              // runtime_state
    add({0x200, No, InterpreterNext, Threads});  // interpreter_state
    if (Has14)
      add({No}); // threads_main
    add({No, No, No, No, No, No, No, No, No});
    if (Has14)
      add({No, No}); // code_object_generation, tlbc_generation
    add({0xc0, No, StateNext, No, StateFrame}); // thread_state
    if (Has15)
      add({No, No, No}); // base_frame, last_profiled_frame, …_seq
    add({StateThread, No, No, StateStatus});
    if (Has15)
      add({No, No, No, No, No}); // …, err_stackitem
    add({96, Previous, Executable, Instruction, No, Owner}); // frame
    if (Has14)
      add({No, FreeThreaded ? Copy : 0});
    add({Begin + 8, File, Name, QualifiedName, Lines, FirstLine, No, No, No,
         Begin}); // code_object
    if (Has14)
      add({FreeThreaded ? Copies : 0});
    add({HeadBytes, Type});
    add({No, No, No, No}); // type_object
    if (MoreOfTypes)
      add({No, No, No, No}); // …, heap_type_object
    add({No, No, No, No, No, No}); // tuple_object, list_object
    if (Has14)
      add({No, No, No, No}); // set_object
    add({No, No, No, No, No, No, No, No}); // dict, float, long
    add({No, HeadBytes, BytesData});
    add({No, TextState, TextLength, AsciiBytes});
    if (Has15)
      add({CompactBytes});
    add({No, No});
    return W;
  }

  std::vector<std::unique_ptr<uint64_t[]>> Blocks;
};

} // namespace kprobe

#endif
