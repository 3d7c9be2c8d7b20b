// Pairs begins with ends, thread by thread.
#include "ApiStatistics.h"

#include <algorithm>

namespace kprobe {

uint64_t FunctionStatistics::medianNs() const {
  return Ended == 0 ? 0
                    : std::clamp<uint64_t>(Times->percentile(Ended, 500), MinNs,
                                           MaxNs);
}

void ApiStatistics::hostEvents(const Trace &T, const HostThread &Thread,
                               const ByteReader &Events) {
  std::vector<OpenCall> &Calls = Open[&Thread];
  HostEventReader Reader(Events);
  HostEvent Event;
  while (Reader.next(Event)) {
    const KprobeHostEvent &H = Event.Head;
    bool Begin = H.Kind == KPROBE_HOST_CALL_BEGIN;
    if (!Begin && H.Kind != KPROBE_HOST_CALL_END)
      continue;
    const ApiTable *Table = T.tableOf(H);
    const ApiFunction *Function = T.functionOf(H);
    FunctionStatistics *&F = Known[{Table, H.Function}];
    if (!F) {
      F = &Functions[{Table->name(), Function->Name}];
      F->Api = Table->name();
      F->Name = Function->Name;
    }
    if (Begin) {
      ++F->Calls;
      Calls.push_back({H.Call, H.Ns});
      continue;
    }
    // Calls above it were left without an end (longjmp, an exception).
    size_t At = Calls.size();
    while (At > 0 && Calls[At - 1].Number != H.Call)
      --At;
    if (At == 0)
      continue;
    uint64_t Since = Calls[At - 1].Ns;
    Calls.resize(At - 1);
    uint64_t Ns = H.Ns > Since ? H.Ns - Since : 0;
    ++F->Ended;
    F->TotalNs += Ns;
    F->MinNs = std::min(F->MinNs, Ns);
    F->MaxNs = std::max(F->MaxNs, Ns);
    F->Failed += Function->ResultEnum != KPROBE_NO_INDEX &&
                 Event.as<KprobeCallEnd>().Result != 0;
    if (!F->Times)
      F->Times = std::make_unique<Histogram>();
    F->Times->add(static_cast<uint32_t>(std::min<uint64_t>(Ns, UINT32_MAX)));
  }
}

std::vector<const FunctionStatistics *> ApiStatistics::functions() const {
  std::vector<const FunctionStatistics *> Sorted;
  for (const auto &Entry : Functions)
    Sorted.push_back(&Entry.second);
  std::stable_sort(
      Sorted.begin(), Sorted.end(),
      [](const auto *A, const auto *B) { return A->TotalNs > B->TotalNs; });
  return Sorted;
}

} // namespace kprobe
