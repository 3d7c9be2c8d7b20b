// The legal order of records, and the references between them.
#include "DumpVerifier.h"

#include <algorithm>

namespace kprobe {
namespace {

bool frequencyIsSane(uint64_t Hz) {
  return Hz >= MinFrequencyHz && Hz <= MaxFrequencyHz;
}

/// Text of the runtime for one line of a terminal: no control characters.
std::string oneLine(std::string_view Text) {
  std::string Line(Text);
  std::replace_if(
      Line.begin(), Line.end(),
      [](unsigned char C) { return C < 0x20 || C == 0x7f; }, ' ');
  while (!Line.empty() && Line.back() == ' ')
    Line.pop_back();
  return Line;
}

std::string numbered(const char *What, uint64_t Number) {
  return std::string(What) + " " + std::to_string(Number);
}

} // namespace

Error DumpVerifier::enter(uint64_t Offset, const char *What) {
  if (Now == State::Start)
    return Error::at(Offset, std::string(What) + " comes before the process");
  Now = State::Open;
  return Error::success();
}

Error DumpVerifier::process(const KprobeProcessRecord &Record,
                            std::string_view Executable,
                            std::string_view Command, std::string_view Version,
                            uint64_t Offset) {
  if (Now != State::Start)
    return Error::at(Offset, "a second process in one dump");
  Now = State::Open;
  Out.Owner =
      Process{Record, oneLine(Executable), oneLine(Command), oneLine(Version)};
  return Sink.process(*Out.Owner);
}

Error DumpVerifier::agent(const KprobeAgentRecord &Record,
                          std::string_view Target, std::string_view Name,
                          uint64_t Offset) {
  if (Error E = enter(Offset, "agent"))
    return E;
  if (!frequencyIsSane(Record.TickHz))
    return Error::at(Offset, numbered("agent", Record.Agent) +
                                 " has an impossible tick frequency of " +
                                 std::to_string(Record.TickHz) + " Hz");
  if (Record.CycleHz != 0 && !frequencyIsSane(Record.CycleHz))
    return Error::at(Offset, numbered("agent", Record.Agent) +
                                 " has an impossible shader clock of " +
                                 std::to_string(Record.CycleHz) + " Hz");
  auto [Place, New] = Out.Agents.try_emplace(Record.Agent);
  if (!New)
    return Error::at(Offset,
                     numbered("agent", Record.Agent) + " is described twice");
  Place->second.Record = Record;
  Place->second.Target = oneLine(Target);
  Place->second.Name = oneLine(Name);
  return Sink.agent(Place->second);
}

Error DumpVerifier::siteTable(const ByteReader &Bytes) {
  if (Error E = enter(Bytes.offset(), "site table"))
    return E;
  auto Table = std::make_unique<SiteTable>();
  if (Error E = Table->parse(Bytes))
    return E;
  // The same code object may be loaded twice.
  auto [Place, New] = Out.Tables.try_emplace(Table->hash());
  if (!New)
    return Error::success();
  Place->second = std::move(Table);
  Out.TablesInOrder.push_back(Place->second.get());
  return Sink.table(*Place->second);
}

Error DumpVerifier::clock(const KprobeClockRecord &Record, uint64_t Offset) {
  if (Error E = enter(Offset, "clock"))
    return E;
  auto Place = Out.Agents.find(Record.Agent);
  if (Place == Out.Agents.end())
    return Error::at(Offset, numbered("clock of unknown agent", Record.Agent));
  // The runtime could not read its clocks: there is nothing to learn from it.
  if (Record.MonotonicNs == 0)
    return Error::success();
  if (!frequencyIsSane(Record.SystemHz))
    return Error::at(Offset, "clock has an impossible system frequency of " +
                                 std::to_string(Record.SystemHz) + " Hz");
  Place->second.Clocks.push_back(Record);
  return Error::success();
}

Error DumpVerifier::dispatch(const KprobeDispatchRecord &Record,
                             std::string_view Name, uint64_t Offset) {
  if (Error E = enter(Offset, "dispatch"))
    return E;
  std::string Who = numbered("dispatch", Record.Dispatch);
  auto Where = Out.Agents.find(Record.Agent);
  if (Where == Out.Agents.end())
    return Error::at(Offset, Who + " runs on unknown agent " +
                                 std::to_string(Record.Agent));
  const SiteTable *Table = nullptr;
  const KprobeKernelRecord *Kernel = nullptr;
  if (Record.TableHash != 0) {
    auto Found = Out.Tables.find(Record.TableHash);
    if (Found == Out.Tables.end())
      return Error::at(Offset, Who + " refers to a site table that is missing");
    Table = Found->second.get();
    if (Record.Kernel >= Table->kernels().size())
      return Error::at(Offset, Who + " refers to a kernel that its site table "
                                     "does not have");
    Kernel = &Table->kernels()[Record.Kernel];
  }
  if (Record.Status == KPROBE_DISPATCH_TRACED && !Kernel)
    return Error::at(Offset, Who + " is traced without a site table");
  auto [Place, New] = Out.Dispatches.try_emplace(Record.Dispatch);
  if (!New)
    return Error::at(Offset, Who + " appears twice");
  Dispatch &D = Place->second;
  D.Record = Record;
  D.Name = oneLine(Name);
  D.Where = &Where->second;
  D.Table = Table;
  D.Kernel = Kernel;
  return Sink.dispatch(D);
}

Error DumpVerifier::waves(const KprobeWavesRecord &Record, uint64_t Offset) {
  if (Error E = enter(Offset, "waves"))
    return E;
  auto Place = Out.Dispatches.find(Record.Dispatch);
  if (Place == Out.Dispatches.end())
    return Error::at(Offset,
                     numbered("waves of unknown dispatch", Record.Dispatch));
  Current = &Place->second;
  if (Current->Record.Status != KPROBE_DISPATCH_TRACED)
    return Error::at(Offset, numbered("waves of dispatch", Record.Dispatch) +
                                 ", which was not traced");
  if (Record.WaveCount > Current->Record.SlotCount - Current->WavesSeen)
    return Error::at(Offset, numbered("dispatch", Record.Dispatch) +
                                 " has more waves than slots");
  return Error::success();
}

Error DumpVerifier::wave(const WaveView &View, uint64_t) {
  ++Current->WavesSeen;
  return Sink.wave(*Current, View);
}

Error DumpVerifier::summary(const KprobeSummaryRecord &Record,
                            uint64_t Offset) {
  if (Error E = enter(Offset, "summary"))
    return E;
  Out.Summary = Record;
  Now = State::Closed;
  return Error::success();
}

Error DumpVerifier::message(std::string_view Text, uint64_t Offset) {
  if (Error E = enter(Offset, "message"))
    return E;
  Out.Messages.push_back(oneLine(Text));
  return Error::success();
}

Error DumpVerifier::apiTable(const ByteReader &Bytes) {
  if (Error E = enter(Bytes.offset(), "API table"))
    return E;
  ApiTable Table;
  if (Error E = Table.parse(Bytes))
    return E;
  uint32_t Domain = Table.domain();
  if (!Out.Apis.try_emplace(Domain, std::move(Table)).second)
    return Error::at(Bytes.offset(),
                     numbered("API", Domain) + " is described twice");
  return Error::success();
}

Error DumpVerifier::thread(const KprobeThreadRecord &Record,
                           std::string_view Name, uint64_t Offset) {
  if (Error E = enter(Offset, "thread"))
    return E;
  HostThread &T = Out.Threads[Record.Thread];
  T.Record = Record;
  T.Name = oneLine(Name);
  return Error::success();
}

/// Stacks and code of Python: their lists lie inside the event.
Error DumpVerifier::stackEvent(const HostEvent &Event) {
  uint64_t Needed = 0;
  if (Event.Head.Kind == KPROBE_HOST_PYTHON_CODE) {
    auto R = Event.as<KprobePythonCode>();
    Needed = sizeof(R) + uint64_t(R.NameBytes) + R.FileBytes + R.LineTableBytes;
  } else {
    auto R = Event.as<KprobeHostStack>();
    Needed = sizeof(R) + R.Native * sizeof(uint64_t) +
             R.Python * sizeof(KprobePythonFrame);
  }
  return Needed <= Event.Bytes.size()
             ? Error::success()
             : Error::at(Event.Bytes.offset(),
                         std::string(hostEventText(Event.Head.Kind)) +
                             ": event is too short for what it lists");
}

Error DumpVerifier::hostEvent(const HostThread &Thread,
                              const HostEvent &Event) {
  uint64_t Offset = Event.Bytes.offset();
  if (Event.Head.Kind == KPROBE_HOST_SUBMIT) {
    Out.Causes[Event.as<KprobeHostSubmit>().Dispatch] = {Event.Head.Call,
                                                         Thread.Record.Thread};
    return Error::success();
  }
  if (Event.Head.Kind == KPROBE_HOST_SAMPLE) {
    uint32_t Number = Event.as<KprobeHostSample>().Counter;
    return Out.Counters.count(Number)
               ? Error::success()
               : Error::at(Offset,
                           numbered("sample of unknown counter", Number));
  }
  if (Event.Head.Kind >= KPROBE_HOST_STACK_SAMPLE &&
      Event.Head.Kind <= KPROBE_HOST_STACK_SUBMIT)
    return stackEvent(Event);
  bool Begin = Event.Head.Kind == KPROBE_HOST_CALL_BEGIN;
  if (!Begin && Event.Head.Kind != KPROBE_HOST_CALL_END)
    return Error::success();
  const ApiFunction *Function = Out.functionOf(Event.Head);
  if (!Function)
    return Error::at(Offset, "call of a function that no API table has");
  ByteReader Values = Event.values();
  // An end has its out parameters or none.
  if ((Begin || Values.size() != 0) &&
      !valuesFit(Begin ? Function->In : Function->Out, Values))
    return Error::at(Offset, "call of " + Function->Name +
                                 " is too short for its arguments");
  return Error::success();
}

Error DumpVerifier::hostEvents(const KprobeHostEventsRecord &Record,
                               const ByteReader &Events, uint64_t Offset) {
  if (Error E = enter(Offset, "host events"))
    return E;
  auto Place = Out.Threads.find(Record.Thread);
  if (Place == Out.Threads.end())
    return Error::at(Offset,
                     numbered("events of unknown thread", Record.Thread));
  Place->second.Lost = Record.Lost;
  HostEventReader Reader(Events);
  HostEvent Event;
  std::optional<Error> Fault;
  while (Reader.next(Event, Fault))
    if (Error E = hostEvent(Place->second, Event))
      return E;
  if (Fault)
    return *Fault;
  return Sink.hostEvents(Place->second, Events);
}

Error DumpVerifier::machine(const KprobeMachineRecord &Record,
                            std::string_view HostName, std::string_view System,
                            uint64_t Offset) {
  if (Error E = enter(Offset, "machine"))
    return E;
  Out.Where = Machine{Record, oneLine(HostName), oneLine(System)};
  return Error::success();
}

Error DumpVerifier::counter(const KprobeCounterRecord &Record,
                            std::string_view Name, std::string_view Unit,
                            uint64_t Offset) {
  if (Error E = enter(Offset, "counter"))
    return E;
  if (!Out.Counters
           .try_emplace(Record.Counter, Counter{oneLine(Name), oneLine(Unit)})
           .second)
    return Error::at(Offset, numbered("counter", Record.Counter) +
                                 " is described twice");
  return Error::success();
}

Error DumpVerifier::module(const KprobeModuleRecord &Record,
                           std::string_view Path, std::string_view BuildId,
                           uint64_t Offset) {
  if (Error E = enter(Offset, "module"))
    return E;
  if (Record.Begin >= Record.End)
    return Error::at(Offset, "module ends before it begins");
  Out.Modules.push_back({Record, oneLine(Path), std::string(BuildId)});
  return Error::success();
}

Error DumpVerifier::resources(const KprobeResourcesRecord &Record,
                              uint64_t Offset) {
  if (Error E = enter(Offset, "resources"))
    return E;
  auto Table = Out.Tables.find(Record.TableHash);
  if (Table == Out.Tables.end())
    return Error::at(Offset, "resources come before their site table");
  if (Record.Kernel >= Table->second->kernels().size())
    return Error::at(Offset, "resources of kernel " +
                                 std::to_string(Record.Kernel) +
                                 ", which its site table does not have");
  Out.Resources[{Record.TableHash, Record.Kernel}] = Record;
  return Error::success();
}

Error DumpVerifier::unknownChunk(uint32_t, uint64_t Offset) {
  if (Error E = enter(Offset, "chunk"))
    return E;
  ++Out.UnknownChunks;
  return Error::success();
}

Error DumpVerifier::end(uint64_t Offset) {
  if (Now == State::Start)
    return Error::at(Offset, "dump ends before its process");
  if (Now == State::Open)
    return Error::at(Offset, "dump ends without a summary: tracing was cut "
                             "short, later losses are unknown");
  return Error::success();
}

Error readTrace(ByteSource &Source, Trace &Out, TraceSink &Sink) {
  DumpVerifier Verifier(Out, Sink);
  return readDump(Source, Verifier);
}

} // namespace kprobe
