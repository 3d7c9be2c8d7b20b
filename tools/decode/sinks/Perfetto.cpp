// Perfetto's protobuf trace format, through the subset in perfetto.proto.
//
// Tracks of one process:
//
//   process ─┬─ thread …          calls, submissions inside them
//            ├─ queue …           kernels
//            ├─ Linux … ── thread, its system calls, processor
//            ├─ counter …         readings
//            ├─ critical path     its segments
//            └─ agent ── shader engine ── compute unit ── wave slot
//                                                           waves, their blocks
//
// A flow with a dispatch's number leads from its submission to its kernel. One
// packet sequence carries everything; names are interned in it.
#include "Converters.h"

#include "CounterTracks.h"
#include "LinuxSlices.h"
#include "Names.h"
#include "PerfettoPackets.h"

#include <algorithm>

namespace kprobe {
namespace {

class PerfettoWriter : private PerfettoPackets {
public:
  using PerfettoPackets::PerfettoPackets;
  void begin(const Timeline &First);
  Error write(Timeline &T, const PathTrack &Path);

private:
  struct Lane {
    int64_t LastEnd;
    uint64_t Track;
  };

  uint64_t threadTrack(const Timeline &T, uint32_t Number);
  uint64_t waveTrack(const Track &Where);
  uint64_t queueTrack(const TimelineItem &Item);

  void path(const Timeline &T, const PathTrack &Path);
  void call(const Timeline &T, const TimelineItem &Item);
  void submit(const Timeline &T, const TimelineItem &Item);
  void kernel(const Timeline &T, const TimelineItem &Item);
  void wave(const Timeline &T, const TimelineWave &W);
  void block(const Timeline &T, const TimelineItem &Item);
  void host(const Timeline &T, const TimelineItem &Item);
  void sample(const Timeline &T, const TimelineItem &Item);
  void reading(const Timeline &T, const std::string &Name,
               const std::string &Unit, double Value, int64_t Ns);
  /// Counters of a kernel, from its begin to its end.
  void counters(const Timeline &T, const TimelineItem &Item);

  // Of the input being written.
  uint64_t Input = 0; ///< 1, 2, … : keeps flows of several inputs apart
  uint64_t ProcessTrack = 0;
  std::map<uint32_t, uint64_t> ThreadTracks;
  std::map<uint32_t, std::vector<Lane>> QueueLanes;
  std::map<uint32_t, uint64_t> WaveTracks; ///< by Track::Id
  std::map<const KprobeKernelRecord *, std::vector<std::string>> SiteNames;
  LinuxSlices Linux;
  std::map<std::string, uint64_t> Counters; ///< by name

  uint64_t flow(const Dispatch &D) const {
    return Input << 48 | D.Record.Dispatch;
  }
};

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

uint64_t PerfettoWriter::threadTrack(const Timeline &T, uint32_t Number) {
  uint64_t &Id = ThreadTracks[Number];
  if (Id != 0)
    return Id;
  const HostThread &H = T.trace().Threads.at(Number);
  pb::TracePacket P;
  P.set_trusted_packet_sequence_id(OnlySequence);
  pb::TrackDescriptor &D = *P.mutable_track_descriptor();
  D.set_uuid(Id = newTrack());
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
  if (T.hasArrow(*Item.Owner))
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
  if (T.hasArrow(D))
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

void PerfettoWriter::reading(const Timeline &T, const std::string &Name,
                             const std::string &Unit, double Value,
                             int64_t Ns) {
  uint64_t &Track = Counters[Name];
  if (Track == 0)
    Track = counterTrack(ProcessTrack, Name, Unit);
  event(pb::TrackEvent::TYPE_COUNTER, Track, T.realtimeNs(Ns))
      .set_double_counter_value(Value);
  send();
}

void PerfettoWriter::sample(const Timeline &T, const TimelineItem &Item) {
  auto R = Item.Host->Event.as<KprobeHostSample>();
  reading(T, counterLabel(T.trace(), R), T.trace().Counters.at(R.Counter).Unit,
          sampleValue(R), Item.Ns);
}

void PerfettoWriter::counters(const Timeline &T, const TimelineItem &Item) {
  visitCounters(T, Item, [&](const std::string &Name, double Value) {
    reading(T, Name, "", Value, Item.Ns);
  });
}

void PerfettoWriter::host(const Timeline &T, const TimelineItem &Item) {
  if (Item.Host->Event.Head.Kind == KPROBE_HOST_SAMPLE)
    return sample(T, Item);
  if (const std::string Text = resourceText(Item.Host->Event); !Text.empty()) {
    event(pb::TrackEvent::TYPE_INSTANT,
          threadTrack(T, Item.Host->Thread->Record.Thread),
          T.realtimeNs(Item.Ns), "resource", Text);
    return send();
  }
  Linux.item(T.trace(), Item, [&](const LinuxSlice &S) {
    uint64_t Track = child(child(ProcessTrack, S.group()), S.track());
    if (S.Begin) {
      event(pb::TrackEvent::TYPE_SLICE_BEGIN, Track, T.realtimeNs(Item.Ns),
            S.category(), S.Name);
      send();
    } else {
      end(Track, T.realtimeNs(Item.Ns));
    }
  });
}

void PerfettoWriter::path(const Timeline &T, const PathTrack &Path) {
  if (Path.Name.empty())
    return;
  const uint64_t Track = child(ProcessTrack, Path.Name);
  for (const PathTrack::Slice &S : Path.Slices) {
    pb::TrackEvent &E = event(pb::TrackEvent::TYPE_SLICE_BEGIN, Track,
                              T.realtimeNs(S.BeginNs), S.Kind.c_str(), S.Text);
    note(E, "place", S.Place);
    send();
    end(Track, T.realtimeNs(S.EndNs));
  }
}

Error PerfettoWriter::write(Timeline &T, const PathTrack &Path) {
  ++Input;
  ThreadTracks.clear();
  QueueLanes.clear();
  WaveTracks.clear();
  forgetChildren();
  SiteNames.clear();
  Linux = LinuxSlices();
  Counters.clear();
  pb::TracePacket P;
  P.set_trusted_packet_sequence_id(OnlySequence);
  pb::TrackDescriptor &D = *P.mutable_track_descriptor();
  const Process &Owner = *T.trace().Owner;
  D.set_uuid(ProcessTrack = newTrack());
  D.mutable_process()->set_pid(static_cast<int32_t>(Owner.Record.Pid));
  D.mutable_process()->set_process_name(Owner.Executable);
  D.mutable_process()->add_cmdline(Owner.Command);
  packet(P);
  path(T, Path);
  return T.visit([&](const TimelineItem &Item) {
    switch (Item.What) {
    case TimelineItem::Kind::Submit:
      submit(T, Item);
      break;
    case TimelineItem::Kind::KernelBegin:
      kernel(T, Item);
      counters(T, Item);
      break;
    case TimelineItem::Kind::KernelEnd: // its slice has its end
      counters(T, Item);
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
    case TimelineItem::Kind::Host:
      host(T, Item);
      break;
    }
  });
}

} // namespace

Error writePerfetto(const std::vector<std::unique_ptr<Timeline>> &Inputs,
                    const std::vector<PathTrack> &Paths,
                    const std::string &Path) {
  TextOutput Out;
  if (Error E = Out.open(Path))
    return E;
  PerfettoWriter Writer(Out);
  if (!Inputs.empty())
    Writer.begin(*Inputs.front());
  for (size_t I = 0; I < Inputs.size(); ++I)
    if (Error E = Writer.write(*Inputs[I], Paths[I]))
      return E;
  return Out.close();
}

} // namespace kprobe
