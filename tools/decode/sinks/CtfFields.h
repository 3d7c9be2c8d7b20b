// How payloads of the CTF trace are declared and filled: members in one order.
#ifndef KPROBE_DECODE_CTFFIELDS_H
#define KPROBE_DECODE_CTFFIELDS_H

#include "CtfTypes.h"

#include <string>
#include <utility>
#include <vector>

namespace kprobe {

inline bt_field_class *number(bt_trace_class *Class, unsigned Bits,
                              bool Hex = false) {
  bt_field_class *Field = bt_field_class_integer_unsigned_create(Class);
  bt_field_class_integer_set_field_value_range(Field, Bits);
  if (Hex)
    bt_field_class_integer_set_preferred_display_base(
        Field, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
  return Field;
}

/// A structure of the named members; takes their references.
inline bt_field_class *structure(
    bt_trace_class *Class,
    const std::vector<std::pair<const char *, bt_field_class *>> &Members) {
  bt_field_class *Field = bt_field_class_structure_create(Class);
  for (const auto &[Name, Member] : Members) {
    if (bt_field_class_structure_append_member(Field, Name, Member) !=
        BT_FIELD_CLASS_STRUCTURE_APPEND_MEMBER_STATUS_OK) {
      bt_field_class_put_ref(Field);
      return nullptr;
    }
    bt_field_class_put_ref(Member);
  }
  return Field;
}

/// Fills members of a payload in the order of their declaration.
class Payload {
public:
  explicit Payload(bt_message *Message)
      : Fields(bt_event_borrow_payload_field(
            bt_message_event_borrow_event(Message))) {}
  Payload &operator<<(uint64_t Value) {
    bt_field_integer_unsigned_set_value(next(), Value);
    return *this;
  }
  Payload &operator<<(uint32_t Value) { return *this << uint64_t(Value); }
  Payload &operator<<(int64_t Value) {
    bt_field_integer_signed_set_value(next(), Value);
    return *this;
  }
  Payload &operator<<(double Value) {
    bt_field_real_double_precision_set_value(next(), Value);
    return *this;
  }
  Payload &operator<<(const std::string &Text) {
    Good &= bt_field_string_set_value(next(), Text.c_str()) ==
            BT_FIELD_STRING_SET_VALUE_STATUS_OK;
    return *this;
  }
  bool Good = true;

private:
  bt_field *next() {
    return bt_field_structure_borrow_member_field_by_index(Fields, Index++);
  }
  bt_field *Fields;
  uint64_t Index = 0;
};

/// Fills in what a thread did, or Linux on a processor.
void fillHost(const Trace &T, const HostItem &Item, Payload &Out);

} // namespace kprobe

#endif
