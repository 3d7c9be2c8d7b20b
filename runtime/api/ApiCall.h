// What generated wrappers are made of: one call's begin and end as events of
// the thread's stream.
//
//   ApiCall Call;
//   if (FieldWriter W = Call.begin(Function, FieldBytes)) {
//     W.put(Argument); …
//     Call.publish(W);
//   }
//   auto Result = Next(…);
//   Call.end(bits of the result);       or with out parameters, as begin
//
// A call whose begin found no room is not recorded at all. The functions are
// in libkprobe-runtime.so, which the preloaded library shares: calls of HIP
// and HSA nest in one stream.
#ifndef KPROBE_RUNTIME_API_APICALL_H
#define KPROBE_RUNTIME_API_APICALL_H

#include "HostRecorder.h"

#include <cstring>
#include <type_traits>

#define KPROBE_API_EXPORT __attribute__((visibility("default")))

struct HsaApiTable;

namespace kprobe {

// Room for values, filled in the order of the function's fields.
class FieldWriter {
public:
  explicit FieldWriter(uint8_t *Place) : Place(Place) {}
  explicit operator bool() const { return Place != nullptr; }

  template <typename T> void put(T Value) {
    static_assert(std::is_scalar<T>::value, "only scalars are recorded");
    std::memcpy(Place, &Value, sizeof(Value));
    Place += sizeof(Value);
  }
  template <typename String> void text(const String &Text) {
    put(Text.Length);
    if (Text.bytes() > sizeof(Text.Length)) {
      std::memcpy(Place, Text.Text, Text.Length);
      Place += Text.Length;
    }
  }

private:
  uint8_t *Place;
};

// A string argument: as much of it as is recorded.
struct CallString {
  static constexpr size_t Most = 200;
  explicit CallString(const void *Argument)
      : Text(static_cast<const char *>(Argument)),
        Length(Text ? uint16_t(strnlen(Text, Most)) : KPROBE_NULL_STRING) {}
  uint32_t bytes() const {
    return uint32_t(sizeof(Length)) + (Text ? Length : 0);
  }
  const char *Text;
  uint16_t Length;
};

class KPROBE_API_EXPORT ApiCall {
public:
  FieldWriter begin(uint32_t Function, uint32_t FieldBytes);
  FieldWriter end(uint64_t Result, uint32_t FieldBytes);
  void end(uint64_t Result);
  void publish(FieldWriter);

private:
  HostStream *Stream = nullptr; // null: this call is not recorded
  uint8_t *Event = nullptr;     // opened, not yet published
  uint64_t Number = 0;
  uint64_t Parent = 0;
  uint32_t Function = 0;
};

template <typename T> uint64_t resultBits(T Value) {
  if constexpr (std::is_enum<T>::value || std::is_integral<T>::value) {
    return uint64_t(int64_t(Value));
  } else {
    static_assert(sizeof(T) <= sizeof(uint64_t), "results are scalars");
    uint64_t Bits = 0;
    std::memcpy(&Bits, &Value, sizeof(Value));
    return Bits;
  }
}

// The generated parts.
const ApiTable &hipApiTable();
const ApiTable &hsaApiTable();
// Puts wrappers around what stands in ROCr's tables, and takes out those that
// still stand there.
void installHsaWrappers(HsaApiTable *Api);
void removeHsaWrappers(HsaApiTable *Api);

// For the preloaded library: starts recording if the environment says so.
KPROBE_API_EXPORT void recordHipApi(const ApiTable &Table);
// And before the process ends or becomes another program: writes what has been
// recorded.
KPROBE_API_EXPORT void flushBeforeEnd();

} // namespace kprobe

#endif
