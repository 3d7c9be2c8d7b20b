// Cutting payloads into events.
#include "HostEvents.h"

#include <cstring>

namespace kprobe {
namespace {

/// Bytes of the record of \p Kind; 0: not known.
size_t recordBytes(uint32_t Kind) {
  switch (Kind) {
#define KPROBE_HOST_EVENT(Name, Value, Record, Text)                           \
  case Value:                                                                  \
    return sizeof(Record);
#include "kprobe/host_event_kinds.def"
  default:
    return 0;
  }
}

} // namespace

std::string_view hostEventText(uint32_t Kind) {
  switch (Kind) {
#define KPROBE_HOST_EVENT(Name, Value, Record, Text)                           \
  case Value:                                                                  \
    return Text;
#include "kprobe/host_event_kinds.def"
  default:
    return "";
  }
}

double sampleValue(const KprobeHostSample &Sample) {
  double Value;
  std::memcpy(&Value, &Sample.Value, sizeof(Value));
  return Value;
}

ByteReader HostEvent::values() const {
  ByteReader Rest = Bytes, Record;
  (void)!Rest.take(recordBytes(Head.Kind), Record);
  ByteReader Values;
  (void)!Rest.take(Rest.remaining(), Values);
  return Values;
}

bool HostEventReader::next(HostEvent &Event, std::optional<Error> &Fault) {
  while (Left.remaining() != 0) {
    uint16_t Size = 0, Kind = 0;
    ByteReader Start = Left;
    auto fail = [&](const char *Text) {
      Fault = Error::at(Start.offset(), Text);
      return false;
    };
    ByteReader Words = Left;
    if (!Words.read(Size) || !Words.read(Kind) || Size < 8 || Size % 8 != 0 ||
        !Left.take(Size, Event.Bytes))
      return fail("host event has an impossible size");
    size_t Least = recordBytes(Kind);
    if (Kind == KPROBE_HOST_PADDING || Least == 0)
      continue;
    if (Size < Least || !Event.Bytes.readAt(0, Event.Head))
      return fail("host event is too short for its kind");
    return true;
  }
  return false;
}

} // namespace kprobe
