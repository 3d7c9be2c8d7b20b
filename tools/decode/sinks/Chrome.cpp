// Chrome's JSON trace format.
//
// Time stamps are microseconds since the first input's begin, written from
// integers with three decimals: doubles of a reader hold them exactly for 104
// days, where microseconds since the epoch would lose the nanoseconds. The
// epoch is in "otherData".
#include "Converters.h"

#include "CounterTracks.h"
#include "LinuxSlices.h"
#include "Names.h"
#include "TextOutput.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace kprobe {
namespace {

std::string quoted(const std::string &Text) {
  return nlohmann::json(Text).dump(-1, ' ', false,
                                   nlohmann::json::error_handler_t::replace);
}

class ChromeWriter {
public:
  ChromeWriter(TextOutput &Out, int64_t BaseNs) : Out(Out), BaseNs(BaseNs) {}
  Error write(Timeline &T, const PathTrack &Path);

private:
  struct TrackIds {
    uint64_t Process, Thread;
  };
  struct Lane {
    int64_t LastEnd;
    uint64_t Thread;
  };

  void separator() {
    Out << (First ? "\n" : ",\n");
    First = false;
  }
  void micros(int64_t Ns) {
    char Digits[8];
    std::snprintf(Digits, sizeof(Digits), ".%03d", static_cast<int>(Ns % 1000));
    Out << Ns / 1000 << Digits;
  }
  /// An "X" slice up to its arguments.
  void slice(const std::string &QuotedName, const char *Category, int64_t Begin,
             int64_t End, uint64_t Process, uint64_t Thread);
  void name(const char *What, uint64_t Process, uint64_t Thread,
            const std::string &Text);
  const TrackIds &idsOf(const Timeline &T, const Track &Where);
  uint64_t hostProcess(const Timeline &T);
  uint64_t hostThread(const Timeline &T, uint32_t Number);
  void path(const Timeline &T, const PathTrack &Path);
  void call(const Timeline &T, const TimelineItem &Item);
  /// One end of the arrow from a call to the kernel that it submitted.
  void arrow(const Timeline &T, const Dispatch &D, const char *End, int64_t Ns,
             uint64_t Thread);
  void kernel(const Timeline &T, const TimelineItem &Item);
  void wave(const Timeline &T, const TimelineWave &W);
  void block(const Timeline &T, const TimelineItem &Item);
  void host(const Timeline &T, const TimelineItem &Item);
  void sample(const Timeline &T, const TimelineItem &Item);
  void reading(const Timeline &T, const std::string &Name,
               const std::string &Unit, double Value, int64_t Ns);
  void counters(const Timeline &T, const TimelineItem &Item);

  TextOutput &Out;
  int64_t BaseNs;
  bool First = true;
  uint64_t LastProcess = 0;

  // Of the input being written.
  uint64_t HostProcess = 0;
  uint64_t HostThreads = 0;
  std::map<uint32_t, uint64_t> HostTracks; ///< by thread number
  std::map<uint32_t, std::vector<Lane>> QueueLanes;
  std::map<uint32_t, TrackIds> Tracks;         ///< by Track::Id
  std::map<std::string, uint64_t> UnitProcess; ///< by the unit's name
  std::map<uint64_t, uint64_t> ThreadCounts;   ///< by process
  std::map<const KprobeKernelRecord *, std::vector<std::string>> SiteNames;
  std::map<const Dispatch *, std::string> KernelNames;
  LinuxSlices Linux;
  std::map<std::string, uint64_t> LinuxTracks;
};

void ChromeWriter::slice(const std::string &QuotedName, const char *Category,
                         int64_t Begin, int64_t End, uint64_t Process,
                         uint64_t Thread) {
  separator();
  Out << "{\"ph\":\"X\",\"name\":" << QuotedName << ",\"cat\":\"" << Category
      << "\",\"ts\":";
  micros(Begin - BaseNs);
  Out << ",\"dur\":";
  micros(End - Begin);
  Out << ",\"pid\":" << Process << ",\"tid\":" << Thread;
}

void ChromeWriter::name(const char *What, uint64_t Process, uint64_t Thread,
                        const std::string &Text) {
  separator();
  Out << "{\"ph\":\"M\",\"name\":\"" << What << "\",\"pid\":" << Process
      << ",\"tid\":" << Thread << ",\"args\":{\"name\":" << quoted(Text)
      << "}}";
}

const ChromeWriter::TrackIds &ChromeWriter::idsOf(const Timeline &T,
                                                  const Track &Where) {
  auto [Place, New] = Tracks.try_emplace(Where.Id);
  if (!New)
    return Place->second;
  std::string Unit = "agent " + std::to_string(Where.Where->Record.Agent) +
                     " " + Where.Where->Target;
  std::string Slot;
  uint32_t Raw[2] = {Where.Raw[0], Where.Raw[1]};
  if (const std::optional<HardwarePlace> &P = Where.Place) {
    Unit += " " + unitText(*P);
    Slot = "simd" + std::to_string(P->Simd) + " slot" + std::to_string(P->Slot);
  } else {
    Slot = placeText(Where.Where->Target, Raw);
  }
  if (Where.Lane != 0)
    Slot += " (" + std::to_string(Where.Lane + 1) + ")";
  auto [Process, NewProcess] = UnitProcess.try_emplace(Unit);
  if (NewProcess) {
    Process->second = ++LastProcess;
    std::string Text =
        "pid " + std::to_string(T.trace().Owner->Record.Pid) + " " + Unit;
    if (Where.Where->isVirtual())
      Text += " (modelled)";
    name("process_name", Process->second, 0, Text);
  }
  Place->second = {Process->second, ++ThreadCounts[Process->second]};
  name("thread_name", Place->second.Process, Place->second.Thread, Slot);
  return Place->second;
}

uint64_t ChromeWriter::hostProcess(const Timeline &T) {
  if (HostProcess == 0) {
    HostProcess = ++LastProcess;
    const Process &P = *T.trace().Owner;
    name("process_name", HostProcess, 0,
         "pid " + std::to_string(P.Record.Pid) + " kernels of " + P.Executable);
  }
  return HostProcess;
}

uint64_t ChromeWriter::hostThread(const Timeline &T, uint32_t Number) {
  uint64_t Process = hostProcess(T);
  uint64_t &Id = HostTracks[Number];
  if (Id == 0) {
    Id = ++HostThreads;
    const HostThread &H = T.trace().Threads.at(Number);
    name("thread_name", Process, Id,
         "thread " + std::to_string(H.Record.ThreadId) +
             (H.Name.empty() ? "" : " " + H.Name));
  }
  return Id;
}

// Begins and ends as they come: a complete slice would need the end first.
void ChromeWriter::call(const Timeline &T, const TimelineItem &Item) {
  const HostItem &H = *Item.Host;
  const KprobeHostEvent &Head = H.Event.Head;
  uint64_t Thread = hostThread(T, H.Thread->Record.Thread);
  const ApiTable &Table = *T.trace().tableOf(Head);
  const ApiFunction &F = *T.trace().functionOf(Head);
  bool Begin = Item.What == TimelineItem::Kind::CallBegin;
  separator();
  Out << "{\"ph\":\"" << (Begin ? "B" : "E") << "\",\"name\":" << quoted(F.Name)
      << ",\"cat\":" << quoted(Table.name()) << ",\"ts\":";
  micros(T.realtimeNs(Item.Ns) - BaseNs);
  Out << ",\"pid\":" << HostProcess << ",\"tid\":" << Thread << ",\"args\":{";
  if (Begin)
    Out << "\"call\":" << Head.Call << ",\"arguments\":"
        << quoted(valuesText(Table, F.In, H.Event.values()));
  else if (!H.Left)
    Out << "\"result\":"
        << quoted(resultText(Table, F, H.Event.as<KprobeCallEnd>().Result))
        << ",\"returned\":"
        << quoted(valuesText(Table, F.Out, H.Event.values()));
  Out << "}}";
}

void ChromeWriter::arrow(const Timeline &T, const Dispatch &D, const char *End,
                         int64_t Ns, uint64_t Thread) {
  separator();
  Out << "{\"ph\":\"" << End << "\",\"bp\":\"e\",\"name\":\"dispatch\",\"cat\":"
      << "\"dispatch\",\"id\":" << D.Record.Dispatch << ",\"ts\":";
  micros(T.realtimeNs(Ns) - BaseNs);
  Out << ",\"pid\":" << HostProcess << ",\"tid\":" << Thread << "}";
}

void ChromeWriter::kernel(const Timeline &T, const TimelineItem &Item) {
  const KprobeDispatchRecord &R = Item.Owner->Record;
  hostProcess(T);
  // Kernels of one queue may overlap: each overlap gets a track of its own.
  std::vector<Lane> &Lanes = QueueLanes[R.Queue];
  auto Free = std::find_if(Lanes.begin(), Lanes.end(),
                           [&](const Lane &L) { return L.LastEnd <= Item.Ns; });
  if (Free == Lanes.end()) {
    std::string Text = "queue " + std::to_string(R.Queue);
    if (!Lanes.empty())
      Text += " (" + std::to_string(Lanes.size() + 1) + ")";
    Lanes.push_back({0, ++HostThreads});
    Free = Lanes.end() - 1;
    name("thread_name", HostProcess, Free->Thread, Text);
  }
  Free->LastEnd = Item.EndNs;
  slice(quoted(kernelName(*Item.Owner)), "kernel", T.realtimeNs(Item.Ns),
        T.realtimeNs(Item.EndNs), HostProcess, Free->Thread);
  Out << ",\"args\":{\"dispatch\":" << R.Dispatch << ",\"agent\":" << R.Agent
      << ",\"status\":" << quoted(statusText(R.Status)) << ",\"grid\":["
      << R.Grid[0] << "," << R.Grid[1] << "," << R.Grid[2] << "],\"group\":["
      << R.Group[0] << "," << R.Group[1] << "," << R.Group[2] << "]}}";
  if (T.hasArrow(*Item.Owner))
    arrow(T, *Item.Owner, "f", Item.Ns, Free->Thread);
}

void ChromeWriter::wave(const Timeline &T, const TimelineWave &W) {
  const TrackIds &Ids = idsOf(T, *W.Where);
  std::string &Name = KernelNames[W.Owner];
  if (Name.empty())
    Name = quoted(kernelName(*W.Owner));
  const KprobeWaveHeader &H = W.Header;
  const WaveAccount &A = W.Account;
  slice(Name, "wave", T.realtimeNs(W.BeginNs), T.realtimeNs(W.EndNs),
        Ids.Process, Ids.Thread);
  Out << ",\"args\":{\"dispatch\":" << W.Owner->Record.Dispatch
      << ",\"group\":[" << H.Workgroup[0] << "," << H.Workgroup[1] << ","
      << H.Workgroup[2] << "],\"wave\":" << H.WaveInGroup
      << ",\"ended\":" << (A.Fate == WaveFate::Ended ? "true" : "false")
      << ",\"written\":" << A.Written << ",\"kept\":" << A.Kept
      << ",\"overwritten\":" << A.Overwritten << "}}";
}

void ChromeWriter::block(const Timeline &T, const TimelineItem &Item) {
  const Dispatch &D = *Item.Owner;
  const Block &B = Item.Block->Cycles;
  std::vector<std::string> &Names = SiteNames[D.Kernel];
  if (Names.empty())
    Names.resize(D.Kernel->SiteCount);
  uint32_t Site = D.Kernel->FirstSite + B.LocalSite;
  std::string &Name = Names[B.LocalSite];
  if (Name.empty())
    Name = quoted(blockLabel(*D.Table, Site));
  const TrackIds &Ids = idsOf(T, *Item.Wave->Where);
  // A block whose time is not known is drawn as a point.
  slice(Name, "block", T.realtimeNs(Item.Ns),
        T.realtimeNs(B.TimeKnown ? Item.EndNs : Item.Ns), Ids.Process,
        Ids.Thread);
  Out << ",\"args\":{\"site\":" << Site << ",\"lanes\":" << B.Lanes;
  if (B.TimeKnown)
    Out << ",\"cycles\":" << B.Cycles;
  Out << "}}";
}

void ChromeWriter::reading(const Timeline &T, const std::string &Name,
                           const std::string &Unit, double Value, int64_t Ns) {
  hostProcess(T);
  separator();
  Out << "{\"ph\":\"C\",\"name\":" << quoted(Name) << ",\"ts\":";
  micros(T.realtimeNs(Ns) - BaseNs);
  Out << ",\"pid\":" << HostProcess << ",\"tid\":0,\"args\":{" << quoted(Unit)
      << ":" << nlohmann::json(Value).dump() << "}}";
}

void ChromeWriter::sample(const Timeline &T, const TimelineItem &Item) {
  auto R = Item.Host->Event.as<KprobeHostSample>();
  reading(T, counterLabel(T.trace(), R), T.trace().Counters.at(R.Counter).Unit,
          sampleValue(R), Item.Ns);
}

void ChromeWriter::counters(const Timeline &T, const TimelineItem &Item) {
  visitCounters(T, Item, [&](const std::string &Name, double Value) {
    reading(T, Name, "value", Value, Item.Ns);
  });
}

void ChromeWriter::host(const Timeline &T, const TimelineItem &Item) {
  if (Item.Host->Event.Head.Kind == KPROBE_HOST_SAMPLE)
    return sample(T, Item);
  if (const std::string Text = resourceText(Item.Host->Event); !Text.empty()) {
    uint64_t Thread = hostThread(T, Item.Host->Thread->Record.Thread);
    separator();
    Out << "{\"ph\":\"i\",\"s\":\"t\",\"name\":" << quoted(Text)
        << ",\"cat\":\"resource\",\"ts\":";
    micros(T.realtimeNs(Item.Ns) - BaseNs);
    Out << ",\"pid\":" << HostProcess << ",\"tid\":" << Thread << "}";
    return;
  }
  Linux.item(T.trace(), Item, [&](const LinuxSlice &S) {
    uint64_t Process = hostProcess(T);
    std::string Track = std::string(S.group()) + ", " + S.track();
    uint64_t &Id = LinuxTracks[Track];
    if (Id == 0)
      name("thread_name", Process, Id = ++HostThreads, Track);
    separator();
    Out << "{\"ph\":\"" << (S.Begin ? "B" : "E") << "\"";
    if (S.Begin)
      Out << ",\"name\":" << quoted(S.Name) << ",\"cat\":\"" << S.category()
          << "\"";
    Out << ",\"ts\":";
    micros(T.realtimeNs(Item.Ns) - BaseNs);
    Out << ",\"pid\":" << Process << ",\"tid\":" << Id << "}";
  });
}

void ChromeWriter::path(const Timeline &T, const PathTrack &Path) {
  if (Path.Name.empty())
    return;
  const uint64_t Process = hostProcess(T), Thread = ++HostThreads;
  name("thread_name", Process, Thread, Path.Name);
  for (const PathTrack::Slice &S : Path.Slices) {
    slice(quoted(S.Text), S.Kind.c_str(), T.realtimeNs(S.BeginNs),
          T.realtimeNs(S.EndNs), Process, Thread);
    if (!S.Place.empty())
      Out << ",\"args\":{\"place\":" << quoted(S.Place) << "}";
    Out << "}";
  }
}

Error ChromeWriter::write(Timeline &T, const PathTrack &Path) {
  HostProcess = HostThreads = 0;
  HostTracks.clear();
  QueueLanes.clear();
  Tracks.clear();
  UnitProcess.clear();
  SiteNames.clear();
  KernelNames.clear();
  Linux = LinuxSlices();
  LinuxTracks.clear();
  path(T, Path);
  return T.visit([&](const TimelineItem &Item) {
    switch (Item.What) {
    case TimelineItem::Kind::Submit:
      if (T.hasArrow(*Item.Owner))
        arrow(T, *Item.Owner, "s", Item.Ns,
              hostThread(T, T.trace().causeOf(Item.Owner->Record.Dispatch)->Thread));
      break;
    case TimelineItem::Kind::CallBegin:
    case TimelineItem::Kind::CallEnd:
      call(T, Item);
      break;
    case TimelineItem::Kind::Host:
      host(T, Item);
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
    default: // slices carry their ends
      break;
    }
  });
}

} // namespace

Error writeChrome(const std::vector<std::unique_ptr<Timeline>> &Inputs,
                  const std::vector<PathTrack> &Paths,
                  const std::string &Path) {
  TextOutput Out;
  if (Error E = Out.open(Path))
    return E;
  int64_t BaseNs = INT64_MAX;
  bool Modelled = false;
  for (const std::unique_ptr<Timeline> &T : Inputs) {
    BaseNs = std::min(BaseNs, T->realtimeNs(T->beginNs()));
    for (const auto &[Number, A] : T->trace().Agents)
      Modelled |= A.isVirtual();
  }
  if (Inputs.empty())
    BaseNs = 0;
  Out << "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"writer\":"
         "\"kprobe-decode\",\"begin_realtime_ns\":\""
      << BaseNs << "\",\"modelled\":" << (Modelled ? "true" : "false")
      << "},\"traceEvents\":[";
  ChromeWriter Writer(Out, BaseNs);
  for (size_t I = 0; I < Inputs.size(); ++I)
    if (Error E = Writer.write(*Inputs[I], Paths[I]))
      return E;
  Out << "\n]}\n";
  return Out.close();
}

} // namespace kprobe
