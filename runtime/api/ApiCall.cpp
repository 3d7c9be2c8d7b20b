// Begin and end of a call.
#include "api/ApiCall.h"

#include "LinuxEvents.h"

#include <cstdlib>

namespace kprobe {

static uint64_t aligned(uint64_t Bytes) { return (Bytes + 7) & ~uint64_t(7); }

// Room for an event of Bytes, or null. The last word is zero where the fields
// do not fill it.
static uint8_t *openEvent(HostStream &Stream, uint64_t Bytes, uint64_t Spare) {
  uint8_t *Place = Stream.open(Bytes, Spare);
  const uint64_t Zero = 0;
  if (Place)
    std::memcpy(Place + Bytes - sizeof(Zero), &Zero, sizeof(Zero));
  return Place;
}

void ApiCall::publish(FieldWriter) { publishHostEvent(*Stream, Event); }

FieldWriter ApiCall::begin(uint32_t WhichFunction, uint32_t FieldBytes) {
  HostStream *Mine = hostStream();
  if (!Mine)
    return FieldWriter(nullptr);
  const uint64_t Bytes = aligned(sizeof(KprobeCallBegin) + FieldBytes);
  // Set aside before the event is there and given back after its end is: a
  // signal handler that records in between must leave it alone.
  Mine->Reserved += HostStream::EndReserve;
  Event = openEvent(*Mine, Bytes, Mine->Reserved);
  if (!Event) {
    Mine->Reserved -= HostStream::EndReserve;
    return FieldWriter(nullptr);
  }
  Stream = Mine;
  Function = WhichFunction;
  Parent = Mine->Current;
  Number = uint64_t(Mine->Number) << KPROBE_CALL_THREAD_SHIFT | ++Mine->Calls;
  Mine->Current = Number;
  const KprobeCallBegin Record = {
      {uint16_t(Bytes), KPROBE_HOST_CALL_BEGIN, Function, Number, hostNowNs()},
      Parent};
  std::memcpy(Event, &Record, sizeof(Record));
  return FieldWriter(Event + sizeof(Record));
}

FieldWriter ApiCall::end(uint64_t Result, uint32_t FieldBytes) {
  if (!Stream)
    return FieldWriter(nullptr);
  // The clock first: what follows is ours, not the call's.
  const uint64_t Now = hostNowNs();
  Stream->Current = Parent;
  uint64_t Bytes = aligned(sizeof(KprobeCallEnd) + FieldBytes);
  if (Bytes > HostStream::MostEndBytes) {
    Bytes = sizeof(KprobeCallEnd);
    FieldBytes = 0;
  }
  Event =
      openEvent(*Stream, Bytes, Stream->Reserved - HostStream::EndReserve);
  Stream->Reserved -= HostStream::EndReserve;
  if (!Event)
    return FieldWriter(nullptr);
  const KprobeCallEnd Record = {
      {uint16_t(Bytes), KPROBE_HOST_CALL_END, Function, Number, Now}, Result};
  std::memcpy(Event, &Record, sizeof(Record));
  if (FieldBytes)
    return FieldWriter(Event + sizeof(Record));
  publish(FieldWriter(nullptr));
  return FieldWriter(nullptr);
}

void ApiCall::end(uint64_t Result) { end(Result, 0); }

void recordHipApi(const ApiTable &Table) {
  Config Settings;
  std::string Why;
  // A wrong setting is told by the runtime when it loads, and by kprobe-run.
  if (!readConfig([](const char *Name) { return getenv(Name); }, Settings,
                  Why) ||
      Settings.Disabled)
    return;
  // As early as possible: threads made from here on inherit it.
  if (Settings.Sched)
    LinuxEvents::get().start();
  if (!Settings.ApiHip)
    return;
  HostRecorder::get().add(Table, Settings);
  HostRecorder::get().start(Settings);
}

} // namespace kprobe
