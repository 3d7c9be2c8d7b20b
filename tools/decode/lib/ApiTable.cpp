// Tables of functions, and calls as text.
#include "ApiTable.h"

#include <cstdio>
#include <cstring>

namespace kprobe {

bool fieldBytes(uint32_t Type, uint32_t &Bytes) {
  switch (Type) {
#define KPROBE_FIELD(Name, Value, Size)                                        \
  case Value:                                                                  \
    Bytes = Size;                                                              \
    return true;
#include "kprobe/field_types.def"
  default:
    return false;
  }
}

Error ApiTable::parse(ByteReader Bytes) {
  ByteReader Whole = Bytes;
  auto broken = [&](const char *Text) {
    return Error::at(Whole.offset(), std::string("API table ") + Text);
  };
  KprobeApiTable H;
  if (!Bytes.read(H))
    return broken("is too short");
  ByteReader FunctionBytes, FieldBytes, EnumeratorBytes;
  std::string_view Strings;
  if (!Bytes.take(uint64_t(H.FunctionCount) * sizeof(KprobeApiFunction),
                  FunctionBytes) ||
      !Bytes.take(uint64_t(H.FieldCount) * sizeof(KprobeApiField),
                  FieldBytes) ||
      !Bytes.take(uint64_t(H.EnumeratorCount) * sizeof(KprobeApiEnumerator),
                  EnumeratorBytes) ||
      !Bytes.takeString(H.StringBytes, Strings) || Bytes.remaining() != 0)
    return broken("does not have the size that its counts give");
  if (Strings.empty() || Strings.back() != '\0')
    return broken("has strings without an end");
  if (H.Domain > 0xffff || H.FunctionCount > 0x10000)
    return broken("has more functions than calls can name");
  bool Good = true;
  auto text = [&](uint32_t Offset) {
    Good &= Offset < Strings.size();
    return Good ? std::string(Strings.data() + Offset) : std::string();
  };
  Domain = H.Domain;
  Name = text(H.Name);
  std::vector<ApiField> Fields;
  KprobeApiField Field;
  while (FieldBytes.read(Field)) {
    uint32_t Size = 0;
    Good &= fieldBytes(Field.Type, Size) && Size != 0;
    Fields.push_back({text(Field.Name), Field.Type, Field.Enum});
  }
  KprobeApiFunction Function;
  while (FunctionBytes.read(Function)) {
    uint64_t First = Function.FirstField, Middle = First + Function.InFields,
             Last = Middle + Function.OutFields;
    uint32_t Size = 0;
    if (!fieldBytes(Function.ResultType, Size) || Last > Fields.size())
      return broken("refers to fields that it does not have");
    auto At = [&](uint64_t I) { return Fields.begin() + long(I); };
    Functions.push_back({text(Function.Name),
                         {At(First), At(Middle)},
                         {At(Middle), At(Last)},
                         Function.ResultType,
                         Function.ResultEnum});
  }
  KprobeApiEnumerator E;
  while (EnumeratorBytes.read(E))
    Enumerators.try_emplace({E.Enum, E.Value}, text(E.Name));
  return Good ? Error::success() : broken("has a damaged name or type");
}

std::string_view ApiTable::enumerator(uint32_t Enum, int64_t Value) const {
  auto Found = Enumerators.find({Enum, Value});
  return Found == Enumerators.end() ? std::string_view()
                                    : std::string_view(Found->second);
}

namespace {

std::string hex(uint64_t Value) {
  char Text[24];
  std::snprintf(Text, sizeof(Text), "0x%llx",
                static_cast<unsigned long long>(Value));
  return Text;
}

std::string real(double Value) {
  char Text[40];
  std::snprintf(Text, sizeof(Text), "%.9g", Value);
  return Text;
}

template <typename T> T lowBytes(uint64_t Bits) {
  T Value;
  std::memcpy(&Value, &Bits, sizeof(Value));
  return Value;
}

/// A scalar from its bits, zero-extended.
std::string scalarText(const ApiTable &Table, uint32_t Type, uint32_t Enum,
                       uint64_t Bits) {
  int64_t Signed = static_cast<int64_t>(Bits);
  switch (Type) {
  case KPROBE_FIELD_I8:
    Signed = lowBytes<int8_t>(Bits);
    break;
  case KPROBE_FIELD_I16:
    Signed = lowBytes<int16_t>(Bits);
    break;
  case KPROBE_FIELD_I32:
    Signed = lowBytes<int32_t>(Bits);
    break;
  case KPROBE_FIELD_U8:
    Signed = lowBytes<uint8_t>(Bits);
    break;
  case KPROBE_FIELD_U16:
    Signed = lowBytes<uint16_t>(Bits);
    break;
  case KPROBE_FIELD_U32:
    Signed = lowBytes<uint32_t>(Bits);
    break;
  case KPROBE_FIELD_U64:
    return std::to_string(Bits);
  case KPROBE_FIELD_F32:
    return real(lowBytes<float>(Bits));
  case KPROBE_FIELD_F64:
    return real(lowBytes<double>(Bits));
  case KPROBE_FIELD_BOOLEAN:
    return (Bits & 0xff) != 0 ? "true" : "false";
  case KPROBE_FIELD_POINTER:
    return hex(Bits);
  case KPROBE_FIELD_VOID:
    return "";
  default:
    break;
  }
  std::string_view Label = Enum == KPROBE_NO_INDEX
                               ? std::string_view()
                               : Table.enumerator(Enum, Signed);
  return Label.empty() ? std::to_string(Signed) : std::string(Label);
}

} // namespace

/// Takes the next value: its bits, or for a string its text.
static bool takeValue(uint32_t Type, ByteReader &Values, uint64_t &Bits,
                      std::string_view &Text) {
  uint32_t Size = 0;
  ByteReader Slice;
  if (!fieldBytes(Type, Size) || !Values.take(Size, Slice))
    return false;
  Bits = 0;
  std::memcpy(&Bits, Slice.data(), Size);
  return Type != KPROBE_FIELD_STRING || Bits == KPROBE_NULL_STRING ||
         Values.takeString(Bits, Text);
}

bool valuesFit(const std::vector<ApiField> &Fields, ByteReader Values) {
  uint64_t Bits;
  std::string_view Text;
  for (const ApiField &F : Fields)
    if (!takeValue(F.Type, Values, Bits, Text))
      return false;
  return true;
}

std::string valuesText(const ApiTable &Table,
                       const std::vector<ApiField> &Fields, ByteReader Values) {
  std::string Out;
  for (const ApiField &F : Fields) {
    uint64_t Bits;
    std::string_view Text;
    if (!takeValue(F.Type, Values, Bits, Text))
      break;
    if (!Out.empty())
      Out += ", ";
    Out += F.Name + "=";
    if (F.Type != KPROBE_FIELD_STRING) {
      Out += scalarText(Table, F.Type, F.Enum, Bits);
    } else if (Bits == KPROBE_NULL_STRING) {
      Out += "null";
    } else {
      Out += '"';
      for (char C : Text)
        Out += static_cast<unsigned char>(C) < 0x20 ? '?' : C;
      Out += '"';
    }
  }
  return Out;
}

std::string resultText(const ApiTable &Table, const ApiFunction &Function,
                       uint64_t Result) {
  return scalarText(Table, Function.ResultType, Function.ResultEnum, Result);
}

} // namespace kprobe
