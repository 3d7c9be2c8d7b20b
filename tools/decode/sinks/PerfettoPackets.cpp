// Packets, tracks and events.
#include "PerfettoPackets.h"

namespace kprobe {

/// A packet is field 1 of the trace: written one by one, they are a trace.
void PerfettoPackets::packet(const pb::TracePacket &P) {
  constexpr char PacketField = 1 << 3 | 2;
  Wire.clear();
  Wire += PacketField;
  uint64_t Size = P.ByteSizeLong();
  for (; Size > 0x7f; Size >>= 7)
    Wire += static_cast<char>(Size | 0x80);
  Wire += static_cast<char>(Size);
  P.AppendToString(&Wire);
  Out << std::string_view(Wire);
}

uint64_t PerfettoPackets::track(uint64_t Parent, const std::string &Name) {
  pb::TracePacket P;
  P.set_trusted_packet_sequence_id(OnlySequence);
  pb::TrackDescriptor &D = *P.mutable_track_descriptor();
  D.set_uuid(++LastTrack);
  if (Parent != 0)
    D.set_parent_uuid(Parent);
  D.set_name(Name);
  packet(P);
  return LastTrack;
}

uint64_t PerfettoPackets::child(uint64_t Parent, const std::string &Name) {
  auto [Place, New] = Children.try_emplace({Parent, Name});
  if (New)
    Place->second = track(Parent, Name);
  return Place->second;
}

uint64_t PerfettoPackets::counterTrack(uint64_t Parent, const std::string &Name,
                                       const std::string &Unit) {
  pb::TracePacket P;
  P.set_trusted_packet_sequence_id(OnlySequence);
  pb::TrackDescriptor &D = *P.mutable_track_descriptor();
  D.set_uuid(++LastTrack);
  D.set_parent_uuid(Parent);
  D.set_name(Name);
  D.mutable_counter()->set_unit_name(Unit);
  packet(P);
  return LastTrack;
}

pb::TrackEvent &PerfettoPackets::event(pb::TrackEvent::Type Type,
                                       uint64_t Track, int64_t Ns,
                                       const char *Category,
                                       const std::string &Name) {
  Packet.Clear();
  Packet.set_timestamp(static_cast<uint64_t>(Ns));
  Packet.set_timestamp_clock_id(RealtimeClock);
  Packet.set_trusted_packet_sequence_id(OnlySequence);
  Packet.set_sequence_flags(NeedsState);
  pb::TrackEvent &E = *Packet.mutable_track_event();
  E.set_type(Type);
  E.set_track_uuid(Track);
  if (Category)
    E.add_categories(Category);
  if (Name.empty())
    return E;
  auto [Place, New] = Interned.try_emplace(Name, Interned.size() + 1);
  if (New) {
    pb::EventName &N = *Packet.mutable_interned_data()->add_event_names();
    N.set_iid(Place->second);
    N.set_name(Name);
  }
  E.set_name_iid(Place->second);
  return E;
}

void PerfettoPackets::end(uint64_t Track, int64_t Ns) {
  event(pb::TrackEvent::TYPE_SLICE_END, Track, Ns);
  send();
}

void PerfettoPackets::note(pb::TrackEvent &E, const char *Name,
                           uint64_t Value) {
  pb::DebugAnnotation &A = *E.add_debug_annotations();
  A.set_name(Name);
  A.set_uint_value(Value);
}

void PerfettoPackets::note(pb::TrackEvent &E, const char *Name,
                           const std::string &Text) {
  if (Text.empty())
    return;
  pb::DebugAnnotation &A = *E.add_debug_annotations();
  A.set_name(Name);
  A.set_string_value(Text);
}

} // namespace kprobe
