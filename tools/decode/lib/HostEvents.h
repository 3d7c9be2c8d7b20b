// Events of one thread, out of HOST_EVENTS chunks.
//
// HostEventReader walks a payload and gives out whole events only; the verifier
// has walked it once before any sink does, so that sinks need not handle its
// faults.
#ifndef KPROBE_DECODE_HOSTEVENTS_H
#define KPROBE_DECODE_HOSTEVENTS_H

#include "ApiTable.h"

#include <optional>

namespace kprobe {

struct HostThread {
  KprobeThreadRecord Record = {};
  std::string Name;
  uint64_t Lost = 0;

  /// Its events are what Linux did on one processor.
  bool isProcessor() const { return Record.Flags & KPROBE_THREAD_PROCESSOR; }
};

/// One event; the bytes live as long as the payload.
struct HostEvent {
  KprobeHostEvent Head = {};
  ByteReader Bytes; ///< the whole event, head included

  /// The event as the record of its kind, which has been checked to fit.
  template <typename T> T as() const {
    T Record = {};
    (void)!Bytes.readAt(0, Record);
    return Record;
  }
  /// What follows a begin or an end.
  ByteReader values() const;
};

/// The number that a sample is about.
double sampleValue(const KprobeHostSample &Sample);

/// "" for a kind that is not known.
std::string_view hostEventText(uint32_t Kind);

/// What makes a copy, a KPROBE_ENGINE_*: "shader", "SDMA 1"; "": not known.
std::string engineText(uint32_t Engine);

/// What a packet of this hsa_packet_type_t is called.
std::string barrierText(uint32_t Type);

/// An event about memory, copies, queues, barriers or code in a few words; "" for
/// one about something else.
std::string resourceText(const HostEvent &Event);

class HostEventReader {
public:
  explicit HostEventReader(ByteReader Payload) : Left(Payload) {}
  /// The next event of a known kind. False at the end, or at a fault, which
  /// \p Fault then says.
  bool next(HostEvent &Event, std::optional<Error> &Fault);
  bool next(HostEvent &Event) {
    std::optional<Error> Ignored;
    return next(Event, Ignored);
  }

private:
  ByteReader Left;
};

} // namespace kprobe

#endif
