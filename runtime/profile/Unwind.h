// The native call stack of an interrupted thread, from inside a signal handler.
//
// Debian's code has no frame pointers, so the walk follows the call frame
// information (.eh_frame) of each object. No lock, no allocation, no library
// that might do either: glibc's _dl_find_object is made for this place, the
// rest is arithmetic on mapped tables. libunwind was not taken because it locks
// and fills caches inside the handler, and would be seen by programs that bring
// their own.
//
// A frame whose caller cannot be computed ends the walk, and the stack is
// marked broken: what is there is right, what is missing is not made up.
#ifndef KPROBE_RUNTIME_PROFILE_UNWIND_H
#define KPROBE_RUNTIME_PROFILE_UNWIND_H

#include "StackMemory.h"

#include <ucontext.h>

namespace kprobe {

// Registers of a frame by their DWARF numbers (System V ABI, AMD64 supplement,
// figure 3.36); 16 is the return address.
struct FrameRegisters {
  static constexpr unsigned Rsp = 7, Pc = 16, Count = 17;
  uint64_t Value[Count];

  static FrameRegisters of(const ucontext_t &Context);
};

struct NativeStack {
  uint64_t *Frames; // Most of them
  uint32_t Most;
  uint32_t Count;
  bool Broken;
  bool Cut;
};

// Fills Out, innermost frame first.
void unwind(FrameRegisters Registers, const StackMemory &Memory,
            NativeStack &Out);

} // namespace kprobe

#endif
