// CSV of API calls: one row a call, written when it ends.
#include "Converters.h"

#include "CsvText.h"
#include "TextOutput.h"

#include <map>

namespace kprobe {
namespace {

/// A row up to the duration, and what its end needs.
struct OpenCall {
  std::string Begin, Arguments;
  int64_t Ns;
};

class CallRows {
public:
  CallRows(TextOutput &Out, Timeline &T) : Out(Out), T(T) {}
  Error write();

private:
  void begin(const TimelineItem &Item);
  void end(const TimelineItem &Item);

  TextOutput &Out;
  Timeline &T;
  std::map<uint64_t, OpenCall> Open;       ///< by number
  std::map<uint64_t, uint64_t> Dispatches; ///< submitted in an open call
};

void CallRows::begin(const TimelineItem &Item) {
  const HostItem &H = *Item.Host;
  const KprobeHostEvent &Head = H.Event.Head;
  const ApiTable &Table = *T.trace().tableOf(Head);
  const ApiFunction &F = *T.trace().functionOf(Head);
  OpenCall &C = Open[Head.Call];
  C.Ns = Item.Ns;
  C.Begin = std::to_string(T.trace().Owner->Record.Pid) + "," +
            std::to_string(H.Thread->Record.ThreadId) + "," +
            csvField(H.Thread->Name) + "," + std::to_string(Head.Call) + "," +
            std::to_string(H.Event.as<KprobeCallBegin>().Parent) + "," +
            csvField(Table.name()) + "," + csvField(F.Name) + "," +
            std::to_string(T.realtimeNs(Item.Ns)) + ",";
  C.Arguments = csvField(valuesText(Table, F.In, H.Event.values()));
}

void CallRows::end(const TimelineItem &Item) {
  const HostItem &H = *Item.Host;
  const KprobeHostEvent &Head = H.Event.Head;
  auto Found = Open.find(Head.Call);
  if (Found == Open.end())
    return;
  const ApiTable &Table = *T.trace().tableOf(Head);
  const ApiFunction &F = *T.trace().functionOf(Head);
  const OpenCall &C = Found->second;
  Out << C.Begin << Item.Ns - C.Ns << ",";
  if (!H.Left)
    Out << csvField(resultText(Table, F, H.Event.as<KprobeCallEnd>().Result));
  Out << "," << Dispatches[Head.Call] << "," << C.Arguments << ",";
  if (!H.Left)
    Out << csvField(valuesText(Table, F.Out, H.Event.values()));
  Out << "\n";
  Dispatches.erase(Head.Call);
  Open.erase(Found);
}

Error CallRows::write() {
  Error Fault = T.visit([&](const TimelineItem &Item) {
    if (Item.What == TimelineItem::Kind::CallBegin)
      begin(Item);
    else if (Item.What == TimelineItem::Kind::CallEnd)
      end(Item);
    else if (Item.What == TimelineItem::Kind::Submit)
      if (const Cause *C = T.trace().causeOf(Item.Owner->Record.Dispatch))
        ++Dispatches[C->Call];
  });
  if (Fault)
    return Fault;
  // Still open when tracing ended: no duration, no result.
  for (const auto &[Number, C] : Open)
    Out << C.Begin << ",," << Dispatches[Number] << "," << C.Arguments << ",\n";
  return Error::success();
}

} // namespace

Error writeCallsCsv(const std::vector<std::unique_ptr<Timeline>> &Inputs,
                    const std::string &Path) {
  TextOutput Out;
  if (Error E = Out.open(Path))
    return E;
  Out << "process,thread,thread_name,call,parent,api,function,begin_ns,"
         "duration_ns,result,dispatches,arguments,returned\n";
  for (const std::unique_ptr<Timeline> &T : Inputs)
    if (Error E = CallRows(Out, *T).write())
      return E;
  return Out.close();
}

} // namespace kprobe
