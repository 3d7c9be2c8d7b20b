// Finds and runs call frame programs.
#include "CallFrame.h"

#include <dlfcn.h>

namespace kprobe {
namespace {

// A walk over bytes of a mapped section; past its end it reads zeros and says so.
class Bytes {
public:
  Bytes(const uint8_t *Place, const uint8_t *End) : Place(Place), End(End) {}

  template <typename T> T take() {
    T Value = 0;
    if (size_t(End - Place) < sizeof(T)) {
      Bad = true;
      Place = End;
      return 0;
    }
    std::memcpy(&Value, Place, sizeof(T));
    Place += sizeof(T);
    return Value;
  }
  uint64_t uleb() { return leb(false); }
  int64_t sleb() { return int64_t(leb(true)); }
  FrameExpression expression() {
    uint64_t Size = uleb();
    if (Size > uint64_t(End - Place)) {
      Bad = true;
      return {nullptr, 0};
    }
    FrameExpression Out = {Place, uint32_t(Size)};
    Place += Size;
    return Out;
  }
  // A pointer in encoding Form (LSB, DW_EH_PE_*); only those that compilers
  // write for x86-64.
  uint64_t pointer(uint8_t Form) {
    uint64_t Base = 0;
    if ((Form & 0x70) == 0x10)
      Base = reinterpret_cast<uint64_t>(Place);
    else if (Form & 0xf0)
      Bad = true;
    switch (Form & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c:
      return Base + take<uint64_t>();
    case 0x03:
      return Base + take<uint32_t>();
    case 0x0b:
      return Base + uint64_t(int64_t(take<int32_t>()));
    }
    Bad = true;
    return 0;
  }
  bool more() const { return Place < End; }
  bool bad() const { return Bad; }
  const uint8_t *place() const { return Place; }
  void skipTo(const uint8_t *To) { Place = To; }
  const uint8_t *end() const { return End; }

private:
  uint64_t leb(bool Signed) {
    uint64_t Value = 0;
    unsigned Shift = 0;
    uint8_t Byte;
    do {
      Byte = take<uint8_t>();
      if (Shift < 64)
        Value |= uint64_t(Byte & 0x7f) << Shift;
      Shift += 7;
    } while (Byte & 0x80);
    if (Signed && Shift < 64 && (Byte & 0x40))
      Value |= ~uint64_t(0) << Shift;
    return Value;
  }

  const uint8_t *Place;
  const uint8_t *End;
  bool Bad = false;
};

// A length-prefixed entry (CIE or FDE) at Place; its content behind the length.
Bytes entryAt(const uint8_t *Place) {
  uint32_t Length;
  std::memcpy(&Length, Place, sizeof(Length));
  // 64-bit entries (0xffffffff) are not written for x86-64.
  if (Length == 0xffffffff)
    Length = 0;
  return Bytes(Place + 4, Place + 4 + Length);
}

struct CommonEntry {
  uint64_t CodeAlign;
  int64_t DataAlign;
  uint8_t PointerForm = 0;
  bool Augmented = false;
  bool SignalFrame = false;
  Bytes Program{nullptr, nullptr};
};

bool readCommonEntry(const uint8_t *Place, CommonEntry &Out) {
  Bytes In = entryAt(Place);
  if (In.take<uint32_t>() != 0)
    return false;
  uint8_t Version = In.take<uint8_t>();
  const char *Letters = reinterpret_cast<const char *>(In.place());
  while (In.take<uint8_t>() != 0)
    ;
  Out.CodeAlign = In.uleb();
  Out.DataAlign = In.sleb();
  uint64_t ReturnRegister = Version == 1 ? In.take<uint8_t>() : In.uleb();
  if (ReturnRegister != FrameRegisters::Pc || In.bad())
    return false;
  if (*Letters == 'z') {
    Out.Augmented = true;
    uint64_t Size = In.uleb();
    const uint8_t *After = In.place() + Size;
    if (Size > uint64_t(In.end() - In.place()))
      return false;
    for (const char *Letter = Letters + 1; *Letter; ++Letter) {
      if (*Letter == 'R')
        Out.PointerForm = In.take<uint8_t>();
      else if (*Letter == 'L')
        In.take<uint8_t>();
      else if (*Letter == 'P') {
        uint8_t Form = In.take<uint8_t>();
        In.pointer(Form & 0x7f);
      } else if (*Letter == 'S')
        Out.SignalFrame = true;
      else
        return false;
    }
    In.skipTo(After);
  } else if (*Letters) {
    return false;
  }
  Out.Program = In;
  return !In.bad();
}

// What DW_CFA_remember_state keeps. One level is all that compilers use.
struct SavedRow {
  FrameRow Row;
  bool Full = false;
};

// Runs In until the row of an instruction behind Limit would begin.
bool runProgram(Bytes In, const CommonEntry &Common, uint64_t Location,
                uint64_t Limit, const FrameRow &Initial, FrameRow &Row,
                SavedRow &Saved) {
  RegisterRule Ignored;
  auto rule = [&](uint64_t Register) -> RegisterRule & {
    return Register < FrameRegisters::Count ? Row.Rules[Register] : Ignored;
  };
  auto offsetRule = [&](uint64_t Register, RegisterRule::Kind How,
                        int64_t Factored) {
    rule(Register) = {How, Factored * Common.DataAlign, {nullptr, 0}};
  };
  auto restore = [&](uint64_t Register) {
    rule(Register) =
        Register < FrameRegisters::Count ? Initial.Rules[Register] : Ignored;
  };
  while (In.more() && !In.bad()) {
    uint8_t Code = In.take<uint8_t>();
    uint64_t Low = Code & 0x3f;
    uint64_t Register;
    switch (Code & 0xc0 ? Code & 0xc0 : Code) {
    case 0x40: // DW_CFA_advance_loc
      Location += Low * Common.CodeAlign;
      break;
    case 0x80: // DW_CFA_offset
      offsetRule(Low, RegisterRule::AtOffset, int64_t(In.uleb()));
      break;
    case 0xc0: // DW_CFA_restore
      restore(Low);
      break;
    case 0x00: // DW_CFA_nop
      break;
    case 0x01: // DW_CFA_set_loc
      Location = In.pointer(Common.PointerForm);
      break;
    case 0x02: // DW_CFA_advance_loc1
      Location += In.take<uint8_t>() * Common.CodeAlign;
      break;
    case 0x03:
      Location += In.take<uint16_t>() * Common.CodeAlign;
      break;
    case 0x04:
      Location += In.take<uint32_t>() * Common.CodeAlign;
      break;
    case 0x05: // DW_CFA_offset_extended
      Register = In.uleb();
      offsetRule(Register, RegisterRule::AtOffset, int64_t(In.uleb()));
      break;
    case 0x06: // DW_CFA_restore_extended
      restore(In.uleb());
      break;
    case 0x07: // DW_CFA_undefined
      rule(In.uleb()).How = RegisterRule::Undefined;
      break;
    case 0x08: // DW_CFA_same_value
      rule(In.uleb()).How = RegisterRule::Same;
      break;
    case 0x09: // DW_CFA_register
      Register = In.uleb();
      rule(Register) = {
          RegisterRule::InRegister, int64_t(In.uleb()), {nullptr, 0}};
      break;
    case 0x0a: // DW_CFA_remember_state
      if (Saved.Full)
        return false;
      Saved.Row = Row;
      Saved.Full = true;
      break;
    case 0x0b: // DW_CFA_restore_state
      if (!Saved.Full)
        return false;
      Row = Saved.Row;
      Saved.Full = false;
      break;
    case 0x0c: // DW_CFA_def_cfa
      Row.CfaRegister = unsigned(In.uleb());
      Row.CfaOffset = int64_t(In.uleb());
      Row.CfaExpression.Code = nullptr;
      break;
    case 0x0d: // DW_CFA_def_cfa_register
      Row.CfaRegister = unsigned(In.uleb());
      Row.CfaExpression.Code = nullptr;
      break;
    case 0x0e: // DW_CFA_def_cfa_offset
      Row.CfaOffset = int64_t(In.uleb());
      break;
    case 0x0f: // DW_CFA_def_cfa_expression
      Row.CfaExpression = In.expression();
      break;
    case 0x10: // DW_CFA_expression
      Register = In.uleb();
      rule(Register) = {RegisterRule::AtExpression, 0, In.expression()};
      break;
    case 0x16: // DW_CFA_val_expression
      Register = In.uleb();
      rule(Register) = {RegisterRule::IsExpression, 0, In.expression()};
      break;
    case 0x11: // DW_CFA_offset_extended_sf
      Register = In.uleb();
      offsetRule(Register, RegisterRule::AtOffset, In.sleb());
      break;
    case 0x12: // DW_CFA_def_cfa_sf
      Row.CfaRegister = unsigned(In.uleb());
      Row.CfaOffset = In.sleb() * Common.DataAlign;
      Row.CfaExpression.Code = nullptr;
      break;
    case 0x13: // DW_CFA_def_cfa_offset_sf
      Row.CfaOffset = In.sleb() * Common.DataAlign;
      break;
    case 0x14: // DW_CFA_val_offset
      Register = In.uleb();
      offsetRule(Register, RegisterRule::IsOffset, int64_t(In.uleb()));
      break;
    case 0x15: // DW_CFA_val_offset_sf
      Register = In.uleb();
      offsetRule(Register, RegisterRule::IsOffset, In.sleb());
      break;
    case 0x2e: // DW_CFA_GNU_args_size
      In.uleb();
      break;
    default:
      return false;
    }
    if (Location > Limit)
      break;
  }
  return !In.bad();
}

// The header's table is sorted by address: pairs of 32-bit offsets from the
// header (the only form that linkers write).
const uint8_t *findEntry(const uint8_t *Header, uint64_t Pc) {
  constexpr uint8_t Sorted[3] = {0x1b, 0x03, 0x3b};
  if (Header[0] != 1 || std::memcmp(Header + 1, Sorted, 3) != 0)
    return nullptr;
  struct Pair {
    int32_t Begin, Entry;
  };
  uint32_t Count;
  std::memcpy(&Count, Header + 8, sizeof(Count));
  const auto *Table = reinterpret_cast<const Pair *>(Header + 12);
  int64_t Wanted = int64_t(Pc - reinterpret_cast<uint64_t>(Header));
  uint32_t Low = 0, High = Count;
  while (Low < High) {
    uint32_t Middle = Low + (High - Low) / 2;
    if (Table[Middle].Begin <= Wanted)
      Low = Middle + 1;
    else
      High = Middle;
  }
  return Low == 0 ? nullptr : Header + Table[Low - 1].Entry;
}

} // namespace

bool findFrameRow(uint64_t Pc, FrameRow &Row) {
  struct dl_find_object Object;
  if (_dl_find_object(reinterpret_cast<void *>(Pc), &Object) != 0 ||
      !Object.dlfo_eh_frame)
    return false;
  const uint8_t *Place =
      findEntry(static_cast<const uint8_t *>(Object.dlfo_eh_frame), Pc);
  if (!Place)
    return false;
  Bytes In = entryAt(Place);
  const uint8_t *Back = In.place();
  uint32_t Distance = In.take<uint32_t>();
  CommonEntry Common;
  if (Distance == 0 || !readCommonEntry(Back - Distance, Common))
    return false;
  uint64_t Begin = In.pointer(Common.PointerForm);
  uint64_t Size = In.pointer(Common.PointerForm & 0x0f);
  if (Pc - Begin >= Size)
    return false;
  if (Common.Augmented) {
    uint64_t Skip = In.uleb();
    if (Skip > uint64_t(In.end() - In.place()))
      return false;
    In.skipTo(In.place() + Skip);
  }
  std::memset(&Row, 0, sizeof(Row));
  // The return address and the caller's stack pointer are what the ABI says
  // where the program does not mention them.
  Row.Rules[FrameRegisters::Rsp] = {RegisterRule::IsOffset, 0, {nullptr, 0}};
  Row.SignalFrame = Common.SignalFrame;
  SavedRow Saved;
  if (!runProgram(Common.Program, Common, 0, UINT64_MAX, Row, Row, Saved))
    return false;
  const FrameRow Initial = Row;
  return runProgram(In, Common, Begin, Pc, Initial, Row, Saved);
}

} // namespace kprobe
