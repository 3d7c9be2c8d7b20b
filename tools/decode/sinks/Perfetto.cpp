// Perfetto's protobuf trace format, through the subset in perfetto.proto.
//
// Tracks of one process:
//
//   process ─┬─ thread …          calls, submissions inside them
//            ├─ queue …           kernels
//            └─ agent ── shader engine ── compute unit ── wave slot
//                                                           waves, their blocks
//
// A flow with a dispatch's number leads from its submission to its kernel. One
// packet sequence carries everything; names are interned in it.
#include "Converters.h"

#include "Names.h"
#include "TextOutput.h"
#include "perfetto.pb.h"

#include <algorithm>
#include <unordered_map>

namespace kprobe {
namespace {

namespace pb = kprobe::perfetto;

constexpr uint32_t RealtimeClock = 1;
constexpr uint32_t MonotonicClock = 3;
constexpr uint32_t OnlySequence = 1;
constexpr uint32_t StateCleared = 1;
constexpr uint32_t NeedsState = 2;

class PerfettoWriter {
public:
  explicit PerfettoWriter(TextOutput &Out) : Out(Out) {}
  void begin(const Timeline &First);
  Error write(Timeline &T);

private:
  struct Lane {
    int64_t LastEnd;
    uint64_t Track;
  };

  void packet(const pb::TracePacket &P);
  uint64_t track(uint64_t Parent, const std::string &Name);
  /// The track of \p Name below \p Parent, made at its first use.
  uint64_t child(uint64_t Parent, const std::string &Name);
  uint64_t threadTrack(const Timeline &T, uint32_t Number);
  uint64_t waveTrack(const Track &Where);
  uint64_t queueTrack(const TimelineItem &Item);

  /// Starts an event; send() writes it.
  pb::TrackEvent &event(pb::TrackEvent::Type Type, uint64_t Track, int64_t Ns,
                        const char *Category = nullptr,
                        const std::string &Name = "");
  void send() { packet(Packet); }
  void end(uint64_t Track, int64_t Ns);
  static void note(pb::TrackEvent &E, const char *Name, uint64_t Value);
  static void note(pb::TrackEvent &E, const char *Name,
                   const std::string &Text);

  void call(const Timeline &T, const TimelineItem &Item);
  void submit(const Timeline &T, const TimelineItem &Item);
  void kernel(const Timeline &T, const TimelineItem &Item);
  void wave(const Timeline &T, const TimelineWave &W);
  void block(const Timeline &T, const TimelineItem &Item);

  TextOutput &Out;
  pb::TracePacket Packet;
  bool First = true;
  uint64_t LastTrack = 0;
  std::unordered_map<std::string, uint64_t> Interned;
  std::string Wire;

  // Of the input being written.
  uint64_t Input = 0; ///< 1, 2, … : keeps flows of several inputs apart
  uint64_t ProcessTrack = 0;
  std::map<uint32_t, uint64_t> ThreadTracks;
  std::map<uint32_t, std::vector<Lane>> QueueLanes;
  std::map<uint32_t, uint64_t> WaveTracks; ///< by Track::Id
  std::map<std::pair<uint64_t, std::string>, uint64_t> Children;
  std::map<const KprobeKernelRecord *, std::vector<std::string>> SiteNames;

  uint64_t flow(const Dispatch &D) const {
    return Input << 48 | D.Record.Dispatch;
  }
};

/// A packet is field 1 of the trace: written one by one, they are a trace.
void PerfettoWriter::packet(const pb::TracePacket &P) {
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

void PerfettoWriter::begin(const Timeline &T) {
  pb::TracePacket P;
  P.set_trusted_packet_sequence_id(OnlySequence);
  P.set_sequence_flags(StateCleared);
  pb::ClockSnapshot &S = *P.mutable_clock_snapshot();
  S.set_primary_trace_clock(RealtimeClock);
  for (uint32_t Clock : {RealtimeClock, MonotonicClock}) {
    pb::ClockSnapshot::Clock &C = *S.add_clocks();
    C.set_clock_id(Clock);
    C.set_timestamp(static_cast<uint64_t>(
        Clock == RealtimeClock ? T.realtimeNs(T.beginNs()) : T.beginNs()));
  }
  packet(P);
}

uint64_t PerfettoWriter::track(uint64_t Parent, const std::string &Name) {
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

uint64_t PerfettoWriter::child(uint64_t Parent, const std::string &Name) {
  auto [Place, New] = Children.try_emplace({Parent, Name});
  if (New)
    Place->second = track(Parent, Name);
  return Place->second;
}

uint64_t PerfettoWriter::threadTrack(const Timeline &T, uint32_t Number) {
  uint64_t &Id = ThreadTracks[Number];
  if (Id != 0)
    return Id;
  const HostThread &H = T.trace().Threads.at(Number);
  pb::TracePacket P;
  P.set_trusted_packet_sequence_id(OnlySequence);
  pb::TrackDescriptor &D = *P.mutable_track_descriptor();
  D.set_uuid(Id = ++LastTrack);
  D.set_parent_uuid(ProcessTrack);
  D.mutable_thread()->set_pid(
      static_cast<int32_t>(T.trace().Owner->Record.Pid));
  D.mutable_thread()->set_tid(static_cast<int32_t>(H.Record.ThreadId));
  D.mutable_thread()->set_thread_name(H.Name);
  packet(P);
  return Id;
}

uint64_t PerfettoWriter::waveTrack(const Track &Where) {
  uint64_t &Id = WaveTracks[Where.Id];
  if (Id != 0)
    return Id;
  const Agent &A = *Where.Where;
  uint64_t Parent =
      child(ProcessTrack, "agent " + std::to_string(A.Record.Agent) + " " +
                              A.Target + (A.isVirtual() ? " (modelled)" : ""));
  std::string Slot;
  if (const std::optional<HardwarePlace> &P = Where.Place) {
    Parent = child(Parent, "shader engine " + std::to_string(P->ShaderEngine));
    Parent = child(Parent, "compute unit " + std::to_string(P->ShaderArray) +
                               "." + std::to_string(P->ComputeUnit));
    Slot = "simd" + std::to_string(P->Simd) + " slot" + std::to_string(P->Slot);
  } else {
    uint32_t Raw[2] = {Where.Raw[0], Where.Raw[1]};
    Slot = placeText(A.Target, Raw);
  }
  if (Where.Lane != 0)
    Slot += " (" + std::to_string(Where.Lane + 1) + ")";
  return Id = track(Parent, Slot);
}

// Kernels of one queue may overlap: each overlap gets a track of its own.
uint64_t PerfettoWriter::queueTrack(const TimelineItem &Item) {
  const KprobeDispatchRecord &R = Item.Owner->Record;
  std::vector<Lane> &Lanes = QueueLanes[R.Queue];
  for (Lane &L : Lanes)
    if (L.LastEnd <= Item.Ns) {
      L.LastEnd = Item.EndNs;
      return L.Track;
    }
  std::string Text = "queue " + std::to_string(R.Queue) + " of agent " +
                     std::to_string(R.Agent);
  if (!Lanes.empty())
    Text += " (" + std::to_string(Lanes.size() + 1) + ")";
  Lanes.push_back({Item.EndNs, track(ProcessTrack, Text)});
  return Lanes.back().Track;
}

pb::TrackEvent &PerfettoWriter::event(pb::TrackEvent::Type Type, uint64_t Track,
                                      int64_t Ns, const char *Category,
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

void PerfettoWriter::end(uint64_t Track, int64_t Ns) {
  event(pb::TrackEvent::TYPE_SLICE_END, Track, Ns);
  send();
}

void PerfettoWriter::note(pb::TrackEvent &E, const char *Name, uint64_t Value) {
  pb::DebugAnnotation &A = *E.add_debug_annotations();
  A.set_name(Name);
  A.set_uint_value(Value);
}

void PerfettoWriter::note(pb::TrackEvent &E, const char *Name,
                          const std::string &Text) {
  if (Text.empty())
    return;
  pb::DebugAnnotation &A = *E.add_debug_annotations();
  A.set_name(Name);
  A.set_string_value(Text);
}

void PerfettoWriter::call(const Timeline &T, const TimelineItem &Item) {
  const HostItem &H = *Item.Host;
  const KprobeHostEvent &Head = H.Event.Head;
  uint64_t Track = threadTrack(T, H.Thread->Record.Thread);
  const ApiTable &Table = *T.trace().tableOf(Head);
  const ApiFunction &F = *T.trace().functionOf(Head);
  int64_t Ns = T.realtimeNs(Item.Ns);
  if (Item.What == TimelineItem::Kind::CallBegin) {
    pb::TrackEvent &E = event(pb::TrackEvent::TYPE_SLICE_BEGIN, Track, Ns,
                              Table.name().c_str(), F.Name);
    note(E, "call", Head.Call);
    note(E, "arguments", valuesText(Table, F.In, H.Event.values()));
  } else {
    pb::TrackEvent &E = event(pb::TrackEvent::TYPE_SLICE_END, Track, Ns);
    if (!H.Left) {
      note(E, "result",
           resultText(Table, F, H.Event.as<KprobeCallEnd>().Result));
      note(E, "returned", valuesText(Table, F.Out, H.Event.values()));
    }
  }
  send();
}

void PerfettoWriter::submit(const Timeline &T, const TimelineItem &Item) {
  const Cause *C = T.trace().causeOf(Item.Owner->Record.Dispatch);
  if (!C)
    return;
  pb::TrackEvent &E =
      event(pb::TrackEvent::TYPE_INSTANT, threadTrack(T, C->Thread),
            T.realtimeNs(Item.Ns), "dispatch", "dispatch");
  note(E, "dispatch", Item.Owner->Record.Dispatch);
  // Where the kernel's times are not known, an arrow would lead nowhere.
  if (T.kernelTimed(*Item.Owner))
    E.add_flow_ids(flow(*Item.Owner));
  send();
}

void PerfettoWriter::kernel(const Timeline &T, const TimelineItem &Item) {
  const Dispatch &D = *Item.Owner;
  uint64_t Track = queueTrack(Item);
  pb::TrackEvent &E = event(pb::TrackEvent::TYPE_SLICE_BEGIN, Track,
                            T.realtimeNs(Item.Ns), "kernel", kernelName(D));
  note(E, "dispatch", D.Record.Dispatch);
  note(E, "status", statusText(D.Record.Status));
  if (T.trace().causeOf(D.Record.Dispatch))
    E.add_terminating_flow_ids(flow(D));
  send();
  end(Track, T.realtimeNs(Item.EndNs));
}

void PerfettoWriter::wave(const Timeline &T, const TimelineWave &W) {
  const KprobeWaveHeader &H = W.Header;
  pb::TrackEvent &E =
      event(pb::TrackEvent::TYPE_SLICE_BEGIN, waveTrack(*W.Where),
            T.realtimeNs(W.BeginNs), "wave", kernelName(*W.Owner));
  note(E, "dispatch", W.Owner->Record.Dispatch);
  note(E, "wave", H.WaveIndex);
  note(E, "group",
       std::to_string(H.Workgroup[0]) + "," + std::to_string(H.Workgroup[1]) +
           "," + std::to_string(H.Workgroup[2]));
  send();
}

void PerfettoWriter::block(const Timeline &T, const TimelineItem &Item) {
  const Dispatch &D = *Item.Owner;
  const Block &B = Item.Block->Cycles;
  std::vector<std::string> &Names = SiteNames[D.Kernel];
  if (Names.empty())
    Names.resize(D.Kernel->SiteCount);
  std::string &Name = Names[B.LocalSite];
  if (Name.empty())
    Name = blockLabel(*D.Table, D.Kernel->FirstSite + B.LocalSite);
  uint64_t Track = waveTrack(*Item.Wave->Where);
  pb::TrackEvent &E = event(pb::TrackEvent::TYPE_SLICE_BEGIN, Track,
                            T.realtimeNs(Item.Ns), "block", Name);
  note(E, "lanes", B.Lanes);
  if (B.TimeKnown)
    note(E, "cycles", B.Cycles);
  send();
  // A block whose time is not known is drawn as a point.
  end(Track, T.realtimeNs(B.TimeKnown ? Item.EndNs : Item.Ns));
}

Error PerfettoWriter::write(Timeline &T) {
  ++Input;
  ThreadTracks.clear();
  QueueLanes.clear();
  WaveTracks.clear();
  Children.clear();
  SiteNames.clear();
  pb::TracePacket P;
  P.set_trusted_packet_sequence_id(OnlySequence);
  pb::TrackDescriptor &D = *P.mutable_track_descriptor();
  const Process &Owner = *T.trace().Owner;
  D.set_uuid(ProcessTrack = ++LastTrack);
  D.mutable_process()->set_pid(static_cast<int32_t>(Owner.Record.Pid));
  D.mutable_process()->set_process_name(Owner.Executable);
  D.mutable_process()->add_cmdline(Owner.Command);
  packet(P);
  return T.visit([&](const TimelineItem &Item) {
    switch (Item.What) {
    case TimelineItem::Kind::Submit:
      submit(T, Item);
      break;
    case TimelineItem::Kind::KernelBegin:
      kernel(T, Item);
      break;
    case TimelineItem::Kind::WaveBegin:
      wave(T, *Item.Wave);
      break;
    case TimelineItem::Kind::Block:
      block(T, Item);
      break;
    case TimelineItem::Kind::WaveEnd:
      end(waveTrack(*Item.Wave->Where), T.realtimeNs(Item.Ns));
      break;
    case TimelineItem::Kind::CallBegin:
    case TimelineItem::Kind::CallEnd:
      call(T, Item);
      break;
    default: // a kernel's slice has its end
      break;
    }
  });
}

} // namespace

Error writePerfetto(const std::vector<std::unique_ptr<Timeline>> &Inputs,
                    const std::string &Path) {
  TextOutput Out;
  if (Error E = Out.open(Path))
    return E;
  PerfettoWriter Writer(Out);
  if (!Inputs.empty())
    Writer.begin(*Inputs.front());
  for (const std::unique_ptr<Timeline> &T : Inputs)
    if (Error E = Writer.write(*T))
      return E;
  return Out.close();
}

} // namespace kprobe
