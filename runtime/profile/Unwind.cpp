// From frame to frame.
#include "Unwind.h"
#include "CallFrame.h"

namespace kprobe {
namespace {

// The operations that GCC, Clang, glibc and linkers use in .eh_frame: procedure
// linkage tables, realigned stacks, signal trampolines.
bool evaluate(const FrameExpression &Expression, const uint64_t *First,
              const FrameRegisters &Registers, const StackMemory &Memory,
              uint64_t &Result) {
  constexpr int Most = 16;
  uint64_t Stack[Most];
  int Depth = 0;
  if (First)
    Stack[Depth++] = *First;
  const uint8_t *Place = Expression.Code;
  const uint8_t *End = Place + Expression.Bytes;
  bool Bad = false;
  auto take = [&](size_t Bytes, bool Signed) {
    uint64_t Value = 0;
    if (size_t(End - Place) < Bytes)
      return Bad = true, Value;
    std::memcpy(&Value, Place, Bytes);
    Place += Bytes;
    unsigned Unused = unsigned(64 - 8 * Bytes);
    return Signed ? uint64_t(int64_t(Value << Unused) >> Unused) : Value;
  };
  auto leb = [&](bool Signed) {
    uint64_t Value = 0;
    unsigned Shift = 0;
    uint8_t Byte = 0x80;
    while ((Byte & 0x80) && Shift < 63) {
      Byte = uint8_t(take(1, false));
      Value |= uint64_t(Byte & 0x7f) << Shift;
      Shift += 7;
    }
    return Signed && (Byte & 0x40) ? Value | ~uint64_t(0) << Shift : Value;
  };
  auto push = [&](uint64_t Value) {
    if (Depth == Most)
      Bad = true;
    else
      Stack[Depth++] = Value;
  };
  auto pop = [&]() -> uint64_t {
    if (Depth == 0)
      return Bad = true, 0;
    return Stack[--Depth];
  };
  while (Place < End && !Bad) {
    uint8_t Code = *Place++;
    uint64_t Right;
    if (Code >= 0x30 && Code <= 0x4f) { // DW_OP_lit
      push(Code - 0x30);
    } else if (Code >= 0x70 && Code <= 0x80) { // DW_OP_breg, up to the pc
      uint64_t Offset = leb(true);
      push(Registers.Value[Code - 0x70] + Offset);
    } else {
      switch (Code) {
      case 0x06: { // DW_OP_deref
        uint64_t Value = 0;
        if (!Memory.read(pop(), Value))
          return false;
        push(Value);
        break;
      }
      case 0x08:
        push(take(1, false));
        break;
      case 0x09:
        push(take(1, true));
        break;
      case 0x0a:
        push(take(2, false));
        break;
      case 0x0b:
        push(take(2, true));
        break;
      case 0x10: // DW_OP_constu, DW_OP_consts
      case 0x11:
        push(leb(Code == 0x11));
        break;
      case 0x12: // DW_OP_dup
        push(Depth ? Stack[Depth - 1] : pop());
        break;
      case 0x1a: // DW_OP_and
        Right = pop();
        push(pop() & Right);
        break;
      case 0x1c: // DW_OP_minus
        Right = pop();
        push(pop() - Right);
        break;
      case 0x22: // DW_OP_plus
        Right = pop();
        push(pop() + Right);
        break;
      case 0x23: // DW_OP_plus_uconst
        Right = leb(false);
        push(pop() + Right);
        break;
      case 0x24: // DW_OP_shl
        Right = pop();
        push(Right < 64 ? pop() << Right : 0);
        break;
      case 0x2a: // DW_OP_ge
        Right = pop();
        push(int64_t(pop()) >= int64_t(Right));
        break;
      default:
        return false;
      }
    }
  }
  Result = pop();
  return !Bad;
}

// Registers of the caller of the frame that Row describes.
bool step(const FrameRow &Row, const StackMemory &Memory,
          FrameRegisters &Registers, bool &Outermost) {
  uint64_t Cfa;
  if (Row.CfaExpression.Code) {
    if (!evaluate(Row.CfaExpression, nullptr, Registers, Memory, Cfa))
      return false;
  } else {
    if (Row.CfaRegister >= FrameRegisters::Count)
      return false;
    Cfa = Registers.Value[Row.CfaRegister] + uint64_t(Row.CfaOffset);
  }
  const FrameRegisters Callee = Registers;
  for (unsigned I = 0; I < FrameRegisters::Count; ++I) {
    const RegisterRule &Rule = Row.Rules[I];
    uint64_t &Value = Registers.Value[I];
    uint64_t Address;
    switch (Rule.How) {
    case RegisterRule::Same:
      break;
    case RegisterRule::Undefined:
      if (I == FrameRegisters::Pc)
        Outermost = true;
      break;
    case RegisterRule::AtOffset:
      if (!Memory.read(Cfa + uint64_t(Rule.Offset), Value))
        return false;
      break;
    case RegisterRule::IsOffset:
      Value = Cfa + uint64_t(Rule.Offset);
      break;
    case RegisterRule::InRegister:
      if (Rule.Offset >= FrameRegisters::Count)
        return false;
      Value = Callee.Value[Rule.Offset];
      break;
    case RegisterRule::AtExpression:
      if (!evaluate(Rule.Expression, &Cfa, Callee, Memory, Address) ||
          !Memory.read(Address, Value))
        return false;
      break;
    case RegisterRule::IsExpression:
      if (!evaluate(Rule.Expression, &Cfa, Callee, Memory, Value))
        return false;
      break;
    }
  }
  // Callers lie above what they called; after a signal they may be anywhere.
  return Row.SignalFrame ||
         Registers.Value[FrameRegisters::Rsp] >
             Callee.Value[FrameRegisters::Rsp] ||
         Outermost;
}

} // namespace

FrameRegisters FrameRegisters::of(const ucontext_t &Context) {
  // In the order of DWARF's numbers.
  constexpr int Order[Count] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI,
                                REG_RDI, REG_RBP, REG_RSP, REG_R8,  REG_R9,
                                REG_R10, REG_R11, REG_R12, REG_R13, REG_R14,
                                REG_R15, REG_RIP};
  FrameRegisters Out;
  for (unsigned I = 0; I < Count; ++I)
    Out.Value[I] = uint64_t(Context.uc_mcontext.gregs[Order[I]]);
  return Out;
}

void unwind(FrameRegisters Registers, const StackMemory &Memory,
            NativeStack &Out) {
  Out.Count = 0;
  Out.Broken = Out.Cut = false;
  // Behind a call the return address may already belong to the next function.
  bool Called = false;
  for (;;) {
    uint64_t Pc = Registers.Value[FrameRegisters::Pc];
    if (Pc == 0)
      return;
    if (Out.Count == Out.Most) {
      Out.Cut = true;
      return;
    }
    Out.Frames[Out.Count++] = Pc;
    FrameRow Row;
    bool Outermost = false;
    if (!findFrameRow(Called ? Pc - 1 : Pc, Row) ||
        !step(Row, Memory, Registers, Outermost)) {
      Out.Broken = true;
      return;
    }
    if (Outermost)
      return;
    Called = !Row.SignalFrame;
  }
}

} // namespace kprobe
