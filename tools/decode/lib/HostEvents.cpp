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

std::string barrierText(uint32_t Type) {
  constexpr uint32_t BarrierAnd = 3, BarrierOr = 5;
  return Type == BarrierAnd  ? "barrier-AND"
         : Type == BarrierOr ? "barrier-OR"
                             : "packet of type " + std::to_string(Type);
}

std::string engineText(uint32_t Engine) {
  switch (Engine & 0xff) {
  case KPROBE_ENGINE_SHADER:
    return "shader";
  case KPROBE_ENGINE_SDMA(0):
    return "SDMA " + std::to_string(Engine >> 8);
  default:
    return "";
  }
}

std::string resourceText(const HostEvent &Event) {
  auto Number = [](uint64_t Value) { return std::to_string(Value); };
  auto Agent = [&](uint32_t Index) {
    return Index == KPROBE_NO_INDEX ? "host" : "agent " + Number(Index);
  };
  const uint32_t Kind = Event.Head.Kind;
  switch (Kind) {
  case KPROBE_HOST_ALLOCATE:
  case KPROBE_HOST_FREE: {
    auto R = Event.as<KprobeHostMemory>();
    return (Kind == KPROBE_HOST_FREE ? "free " : "allocate ") +
           Number(R.Bytes) + " bytes of " + Agent(R.Agent);
  }
  case KPROBE_HOST_COPY: {
    auto R = Event.as<KprobeHostCopy>();
    std::string Engine = engineText(R.Head.Function);
    return "copy " + Number(R.Copy) + ": " + Number(R.Bytes) + " bytes, " +
           Agent(R.SourceAgent) + " to " + Agent(R.TargetAgent) +
           (Engine.empty() ? "" : " by " + Engine);
  }
  case KPROBE_HOST_COPY_DONE: {
    auto R = Event.as<KprobeHostCopyDone>();
    return "copy " + Number(R.Copy) + (R.Failed ? " failed" : " done");
  }
  case KPROBE_HOST_QUEUE_CREATE:
  case KPROBE_HOST_QUEUE_DESTROY: {
    auto R = Event.as<KprobeHostQueue>();
    return (Kind == KPROBE_HOST_QUEUE_CREATE ? "create queue "
                                             : "destroy queue ") +
           Number(R.Queue) + " of " + Agent(R.Agent);
  }
  case KPROBE_HOST_BARRIER: {
    auto R = Event.as<KprobeHostBarrier>();
    return barrierText(R.Type) + " in queue " + Number(R.Queue) + ", for " +
           Number(R.Signals) + " signals";
  }
  case KPROBE_HOST_CODE_LOAD: {
    auto R = Event.as<KprobeHostCode>();
    return "load code, " + Number(R.Bytes) + " bytes, for " + Agent(R.Agent);
  }
  case KPROBE_HOST_CODE_UNLOAD:
    return "unload code";
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
