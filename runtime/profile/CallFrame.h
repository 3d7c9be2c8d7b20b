// Call frame information of one instruction: how its caller's registers are
// found (DWARF 5, section 6.4, in the form of the LSB's .eh_frame).
#ifndef KPROBE_RUNTIME_PROFILE_CALLFRAME_H
#define KPROBE_RUNTIME_PROFILE_CALLFRAME_H

#include "Unwind.h"

namespace kprobe {

// A DWARF expression inside an .eh_frame section; null: none.
struct FrameExpression {
  const uint8_t *Code;
  uint32_t Bytes;
};

struct RegisterRule {
  enum Kind : uint8_t {
    Same,       // has the caller's value
    Undefined,  // its value is gone; of the return address: outermost frame
    AtOffset,   // saved at CFA + Offset
    IsOffset,   // is CFA + Offset
    InRegister, // is in register Offset
    AtExpression,
    IsExpression,
  };
  Kind How;
  int64_t Offset;
  FrameExpression Expression;
};

struct FrameRow {
  unsigned CfaRegister;
  int64_t CfaOffset;
  FrameExpression CfaExpression; // used when Code is not null
  RegisterRule Rules[FrameRegisters::Count];
  bool SignalFrame; // its caller was interrupted, not called
};

// The row for the instruction at Pc. False where nothing, or nothing that can
// be understood, describes it. Async-signal-safe.
bool findFrameRow(uint64_t Pc, FrameRow &Row);

} // namespace kprobe

#endif
