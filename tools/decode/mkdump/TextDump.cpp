// Statements of a dump description, one function each.
#include "TextDump.h"

#include "DumpBuilder.h"
#include "HostText.h"
#include "TextLine.h"

#include <sstream>

namespace kprobe {
namespace {

class Description {
public:
  void statement(TextLine &L);
  std::vector<uint8_t> take();

private:
  void header(TextLine &L);
  void process(TextLine &L);
  void agent(TextLine &L);
  void clock(TextLine &L);
  void dispatch(TextLine &L);
  void machine(TextLine &L);
  void counter(TextLine &L);
  void resources(TextLine &L);
  void summary(TextLine &L);
  void tableLine(TextLine &L);
  void site(TextLine &L);
  void closeTable();
  void wavesLine(TextLine &L);
  void wave(TextLine &L);
  void closeWave();
  void closeWaves();

  enum class Part { Top, Table, Waves } In = Part::Top;
  DumpBuilder Dump;
  HostText Host{Dump};
  TableBuilder Table;
  std::string TableName;
  std::map<std::string, uint64_t> TableHashes;

  KprobeWavesRecord Waves = {};
  uint64_t WaveCountDelta = 0;
  Bytes WavesPayload;
  bool WaveOpen = false, CursorGiven = false;
  uint32_t ExtentFlags = 0;
  KprobeWaveHeader Wave = {};
  std::vector<KprobeEvent> Events;
};

void Description::header(TextLine &L) {
  KprobeFileHeader &H = Dump.Header;
  H.Magic = L.number("magic", H.Magic);
  H.ByteOrder = L.number32("byteorder", H.ByteOrder);
  H.Major = static_cast<uint16_t>(L.number("major", H.Major));
  H.Minor = static_cast<uint16_t>(L.number("minor", H.Minor));
  H.HeaderBytes = L.number32("bytes", H.HeaderBytes);
  H.Features = L.number32("features", H.Features);
}

void Description::process(TextLine &L) {
  KprobeProcessRecord R = {};
  R.Pid = L.number("pid", 42);
  R.ParentPid = L.number("parent", 1);
  R.StartRealtimeNs = L.number("realtime", 1700000000000000000);
  R.StartMonotonicNs = L.number("monotonic", 1000000000);
  std::string Executable = L.text("exe", "/bin/app");
  Dump.process(R, Executable, L.text("cmd", Executable),
               L.text("version", "kprobe test"));
}

void Description::agent(TextLine &L) {
  KprobeAgentRecord R = {};
  R.Agent = L.number32("id");
  R.Flags = L.flag("virtual") ? KPROBE_AGENT_VIRTUAL : 0;
  R.TickHz = L.number("tickhz", 100000000);
  R.CycleHz = L.number("cyclehz", 1000000000);
  R.ComputeUnits = L.number32("cus", 60);
  R.SimdsPerUnit = L.number32("simds", 4);
  R.ShaderEngines = L.number32("engines", 4);
  R.WaveSize = L.number32("wavesize", 64);
  Dump.agent(R, L.text("target", "gfx906"), L.text("name", "Test GPU"));
}

void Description::clock(TextLine &L) {
  KprobeClockRecord R = {};
  R.Agent = L.number32("agent");
  R.MonotonicNs = L.number("mono");
  R.SystemTicks = L.number("system", R.MonotonicNs);
  R.SystemHz = L.number("systemhz", 1000000000);
  R.DeviceTicks = L.number("ticks");
  Dump.plain(KPROBE_CHUNK_CLOCK, R);
}

void Description::dispatch(TextLine &L) {
  KprobeDispatchRecord R = {};
  R.Dispatch = L.number("id", 1);
  R.Agent = L.number32("agent");
  R.Queue = L.number32("queue");
  R.QueueIndex = L.number("index");
  R.KernelObject = L.number("object");
  std::string Name = L.text("table");
  if (!Name.empty() && !TableHashes.count(Name))
    throw std::runtime_error("no table is called '" + Name + "'");
  R.TableHash = L.number("hash", Name.empty() ? 0 : TableHashes[Name]);
  R.Kernel = L.number32("kernel", Name.empty() ? KPROBE_NO_INDEX : 0);
  R.Status =
      L.number32("status", Name.empty() ? KPROBE_DISPATCH_NOT_INSTRUMENTED
                                        : KPROBE_DISPATCH_TRACED);
  std::vector<uint64_t> Grid = L.numbers("grid", {64, 1, 1});
  std::vector<uint64_t> Group = L.numbers("group", {64, 1, 1});
  for (int I = 0; I < 3; ++I) {
    R.Grid[I] = static_cast<uint32_t>(Grid[I]);
    R.Group[I] = static_cast<uint32_t>(Group[I]);
  }
  R.SubmitNs = L.number("submit");
  R.BeginSystem = L.number("begin");
  R.EndSystem = L.number("end");
  R.WaveCount = L.number("waves", 1);
  R.SlotCount = L.number("slots", R.WaveCount);
  R.RingBytes = L.number32("ring", 64);
  R.SampleShift = static_cast<uint8_t>(L.number32("shift"));
  R.GroupShift = static_cast<uint8_t>(L.number32("groupshift"));
  R.Mode = static_cast<uint8_t>(L.number32("mode"));
  R.Refusal = static_cast<uint8_t>(L.number32("refusal"));
  R.LdsBytes = L.number32("lds");
  R.ScratchBytes = L.number32("scratch");
  R.ThreadId = L.number32("thread");
  Dump.dispatch(R, L.text("name"));
}

void Description::machine(TextLine &L) {
  KprobeMachineRecord R = {};
  std::vector<uint64_t> Boot = L.numbers("boot");
  for (size_t I = 0; I < Boot.size() && I < sizeof(R.BootId); ++I)
    R.BootId[I] = static_cast<uint8_t>(Boot[I]);
  std::string Name = L.text("host", "box"), System = L.text("system", "Linux");
  R.HostNameBytes = static_cast<uint32_t>(Name.size());
  R.SystemBytes = static_cast<uint32_t>(System.size());
  Bytes Payload;
  Payload.record(R);
  Payload.text(Name + System);
  Dump.chunk(KPROBE_CHUNK_MACHINE, Payload.Data);
}

void Description::counter(TextLine &L) {
  std::string Name = L.text("name", "power"), Unit = L.text("unit", "W");
  KprobeCounterRecord R = {L.number32("id", 1),
                           static_cast<uint32_t>(Name.size()),
                           static_cast<uint32_t>(Unit.size()), 0};
  Bytes Payload;
  Payload.record(R);
  Payload.text(Name + Unit);
  Dump.chunk(KPROBE_CHUNK_COUNTER, Payload.Data);
}

void Description::resources(TextLine &L) {
  auto Needs = [&](const char *Which) {
    std::vector<uint64_t> N = L.numbers(Which, {0, 0, 0, 0, 0});
    auto At = [&](size_t I) { return static_cast<uint32_t>(N[I]); };
    return KprobeKernelNeeds{At(0), At(1), At(2), At(3), N[4]};
  };
  Dump.plain(KPROBE_CHUNK_RESOURCES,
             KprobeResourcesRecord{TableHashes[L.text("table", TableName)],
                                   L.number32("kernel"), 0, Needs("original"),
                                   Needs("clone")});
}

void Description::summary(TextLine &L) {
  KprobeSummaryRecord R = {};
  R.DispatchesSeen = L.number("seen", 1);
  R.DispatchesTraced = L.number("traced", R.DispatchesSeen);
  R.DispatchesByStatus[KPROBE_DISPATCH_TRACED] = R.DispatchesTraced;
  R.ChunksDropped = L.number("dropped");
  R.DispatchesPending = L.number("pending");
  Dump.plain(KPROBE_CHUNK_SUMMARY, R);
}

void Description::site(TextLine &L) {
  if (Table.Kernels.empty())
    throw std::runtime_error("a site needs a kernel");
  TableBuilder::Site S;
  S.Block = L.text("block");
  S.File = L.text("file");
  S.Record.Line = L.number32("line");
  S.Record.Column = L.number32("column");
  S.Record.LoopDepth = L.number32("depth");
  S.Record.LoopHeader = L.number32("header", KPROBE_NO_INDEX);
  S.Record.Flags = (L.flag("entry") ? KPROBE_SITE_ENTRY : 0) |
                   (L.flag("loop") ? KPROBE_SITE_LOOP_HEADER : 0) |
                   (L.flag("returns") ? KPROBE_SITE_RETURNS : 0) |
                   (L.flag("calls") ? KPROBE_SITE_CALLS : 0) |
                   (L.flag("implied") ? KPROBE_SITE_IMPLIED : 0);
  S.Record.Valu = static_cast<uint16_t>(L.number32("valu"));
  S.Anchor = L.number32("anchor", KPROBE_NO_INDEX);
  for (uint64_t Edge : L.numbers("edges"))
    S.Edges.push_back(static_cast<uint32_t>(Edge));
  for (const std::string &Frame : TextLine::split(L.text("frames"), ',')) {
    std::vector<std::string> Place = TextLine::split(Frame, '@');
    std::vector<std::string> Parts;
    if (Place.size() == 2)
      Parts = TextLine::split(Place[1], ':');
    if (Parts.size() != 3)
      throw std::runtime_error("a frame is name@file:line:column");
    S.Frames.push_back(
        {Place[0], Parts[0],
         static_cast<uint32_t>(TextLine::parseNumber(Parts[1])),
         static_cast<uint32_t>(TextLine::parseNumber(Parts[2]))});
  }
  Table.Kernels.back().Functions.back().Sites.push_back(S);
}

void Description::tableLine(TextLine &L) {
  if (L.word() == "kernel") {
    std::string Name = L.text("name", "kernel");
    Table.Kernels.push_back(
        {Name, L.text("clone", Name + KPROBE_CLONE_SUFFIX), {}});
    Table.Kernels.back().Functions.push_back(
        {Name, L.text("file"), L.number32("line"), {}});
  } else if (L.word() == "function") {
    if (Table.Kernels.empty())
      throw std::runtime_error("a function needs a kernel");
    Table.Kernels.back().Functions.push_back(
        {L.text("name", "function"), L.text("file"), L.number32("line"), {}});
  } else if (L.word() == "site") {
    site(L);
  } else if (L.word() == "end") {
    closeTable();
  } else {
    throw std::runtime_error("'" + L.word() + "' has no place in a table");
  }
}

void Description::closeTable() {
  std::vector<uint8_t> Bytes = Table.build();
  TableHashes[TableName] = tableHash(Bytes);
  Dump.chunk(KPROBE_CHUNK_SITE_TABLE, Bytes);
  In = Part::Top;
}

void Description::wave(TextLine &L) {
  closeWave();
  WaveOpen = true;
  Wave = {};
  Events.clear();
  Wave.State = L.flag("begun")    ? KPROBE_WAVE_BEGUN
               : L.flag("unused") ? KPROBE_WAVE_UNUSED
                                  : KPROBE_WAVE_ENDED;
  Wave.State = L.number32("state", Wave.State);
  Wave.WaveIndex = L.number("index", Waves.WaveCount);
  std::vector<uint64_t> Group = L.numbers("group", {Wave.WaveIndex, 0, 0});
  for (int I = 0; I < 3; ++I)
    Wave.Workgroup[I] = static_cast<uint32_t>(Group[I]);
  Wave.WaveInGroup = L.number32("ingroup");
  std::vector<uint64_t> Begin = L.numbers("begin", {0, 0});
  std::vector<uint64_t> End = L.numbers("end", {0, 0});
  Wave.BeginCycles = Begin[0];
  Wave.BeginTicks = Begin[1];
  Wave.EndCycles = End[0];
  Wave.EndTicks = End[1];
  std::vector<uint64_t> Hardware = L.numbers("hw", {0, 0});
  Wave.HardwareId[0] = static_cast<uint32_t>(Hardware[0]);
  Wave.HardwareId[1] = static_cast<uint32_t>(Hardware[1]);
  Wave.BeginExec = L.number("exec", UINT64_MAX);
  Wave.RingBytes = L.number32("ring", 64);
  ExtentFlags = L.flag("first")      ? KPROBE_EXTENT_FIRST
                : L.flag("counters") ? KPROBE_EXTENT_COUNTERS
                : Wave.State == KPROBE_WAVE_BEGUN ? KPROBE_EXTENT_RAW
                                                  : 0;
  CursorGiven = L.has("cursor");
  Wave.Cursor = L.number32("cursor");
}

void Description::closeWave() {
  if (!WaveOpen)
    return;
  uint64_t EventBytes = Events.size() * sizeof(KprobeEvent);
  if (!CursorGiven && Wave.State == KPROBE_WAVE_ENDED &&
      ExtentFlags != KPROBE_EXTENT_COUNTERS)
    Wave.Cursor = static_cast<uint32_t>(EventBytes);
  KprobeWaveExtent Extent = {EventBytes, ExtentFlags, 0};
  WavesPayload.record(Wave);
  WavesPayload.record(Extent);
  WavesPayload.raw(Events.data(), EventBytes);
  ++Waves.WaveCount;
  WaveOpen = false;
}

void Description::closeWaves() {
  closeWave();
  Waves.WaveCount += WaveCountDelta;
  Bytes Payload;
  Payload.record(Waves);
  Payload.raw(WavesPayload.Data.data(), WavesPayload.Data.size());
  Dump.chunk(KPROBE_CHUNK_WAVES, Payload.Data);
  In = Part::Top;
}

void Description::wavesLine(TextLine &L) {
  if (L.word() == "wave")
    return wave(L);
  if (L.word() == "end")
    return closeWaves();
  if (!WaveOpen)
    throw std::runtime_error("'" + L.word() + "' needs a wave");
  if (L.word() == "event" || L.word() == "events") {
    uint32_t Clock = L.number32("clock"), Step = L.number32("step");
    uint64_t Count = L.number("count", 1);
    for (uint64_t I = 0; I < Count; ++I)
      Events.push_back(makeEvent(L.number32("site"), L.number32("lanes", 64),
                                 Clock + static_cast<uint32_t>(I) * Step,
                                 L.number32("kind", KPROBE_EVENT_BLOCK)));
  } else if (L.word() == "counter") {
    KprobeCounter Counter =
        L.number("visits") << KPROBE_COUNTER_VISITS_SHIFT | L.number("lanes");
    Events.push_back({static_cast<uint32_t>(Counter),
                      static_cast<uint32_t>(Counter >> 32)});
  } else if (L.word() == "empty") {
    Events.push_back({0, 0});
  } else if (L.word() == "raw") {
    Events.push_back({L.number32("clock"), L.number32("tag")});
  } else {
    throw std::runtime_error("'" + L.word() + "' has no place in waves");
  }
}

void Description::statement(TextLine &L) {
  const std::string &Word = L.word();
  if (In == Part::Table)
    return tableLine(L);
  if (In == Part::Waves)
    return wavesLine(L);
  if (Host.statement(L))
    return;
  if (Word == "header")
    return header(L);
  if (Word == "process")
    return process(L);
  if (Word == "agent")
    return agent(L);
  if (Word == "clock")
    return clock(L);
  if (Word == "dispatch")
    return dispatch(L);
  if (Word == "machine")
    return machine(L);
  if (Word == "resources")
    return resources(L);
  if (Word == "counter")
    return counter(L);
  if (Word == "summary")
    return summary(L);
  if (Word == "table") {
    In = Part::Table;
    Table = TableBuilder();
    TableName = L.text("name", "T");
    Table.Target = L.text("target", Table.Target);
    Table.Producer = L.text("producer", Table.Producer);
    Table.WaveSize = L.number32("wavesize", Table.WaveSize);
  } else if (Word == "waves") {
    In = Part::Waves;
    Waves = {L.number("dispatch", 1), 0};
    WaveCountDelta = L.number("more");
    WavesPayload = Bytes();
    WaveOpen = false;
  } else if (Word == "message" || Word == "chunk") {
    std::string Text = L.text("text");
    Dump.chunk(Word == "message" ? uint32_t(KPROBE_CHUNK_MESSAGE)
                                 : L.number32("kind", 99),
               std::vector<uint8_t>(Text.begin(), Text.end()));
  } else if (Word == "damage") {
    Dump.ChecksumDamage = L.flag("checksum") ? 1 : 0;
    Dump.SequenceDamage = L.flag("sequence") ? 1 : 0;
  } else if (Word == "cut") {
    uint64_t Size = Dump.data().size();
    uint64_t Drop = L.number("bytes", 1);
    Dump.data().resize(Drop < Size ? Size - Drop : 0);
  } else if (Word == "flip") {
    uint64_t At = L.number("offset");
    if (At >= Dump.data().size())
      throw std::runtime_error("the dump has no such offset");
    Dump.data()[At] ^= static_cast<uint8_t>(L.number("with", 0xff));
  } else {
    throw std::runtime_error("'" + Word + "' is no statement");
  }
}

std::vector<uint8_t> Description::take() {
  if (In != Part::Top || Host.open())
    throw std::runtime_error("'end' is missing");
  return Dump.data();
}

} // namespace

bool makeDump(const std::string &Text, std::vector<uint8_t> &Out,
              std::string &Fault) {
  std::istringstream Lines(Text);
  std::string Line;
  unsigned Number = 0;
  try {
    Description D;
    while (std::getline(Lines, Line)) {
      ++Number;
      TextLine L(Line);
      if (L.word().empty())
        continue;
      D.statement(L);
      L.finish();
    }
    Out = D.take();
  } catch (const std::exception &E) {
    Fault = "line " + std::to_string(Number) + ": " + E.what();
    return false;
  }
  return true;
}

} // namespace kprobe
