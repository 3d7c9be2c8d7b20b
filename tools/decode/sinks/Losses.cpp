// What the statistics do not show, and why; and the order of blocks.
#include "StatisticsReport.h"

#include "Names.h"

#include <algorithm>
#include <numeric>

namespace kprobe {

std::vector<Loss> lossesOf(const Statistics &S) {
  std::vector<Loss> Losses;
  auto add = [&](std::string Key, std::string Text, uint64_t Count) {
    if (Count != 0)
      Losses.push_back({std::move(Key), std::move(Text), Count});
  };
  EventTotals E = S.eventTotals();
  WaveTotals W = S.waveTotals();
  add("events_overwritten", "events overwritten, the ring was too small",
      E.Overwritten);
  add("events_dropped", "events dropped, the ring was full", E.Dropped);
  add("events_missing", "events written, but not in the dump", E.Missing);
  add("events_damaged", "events damaged (no such site in their kernel)",
      E.Damaged);
  add("waves_not_sampled", "waves not sampled",
      W.InGrid > W.Slots ? W.InGrid - W.Slots : 0);
  add("waves_not_begun", "waves sampled that never began", W.Unused);
  add("waves_absent", "waves sampled that are not in the dump", W.absent());
  add("waves_not_ended",
      "waves that never reached their end, events recovered from the ring",
      W.Begun);
  add("waves_incomplete", "of these, had a full ring and may have lost events",
      W.Incomplete);
  add("waves_damaged", "waves with a damaged header, events not used",
      W.Damaged);
  add("waves_clock_ambiguous",
      "waves with a pause of 2^32 cycles or more, whose place is not known",
      W.Ambiguous);
  uint64_t ByStatus[16] = {};
  for (const auto &K : S.kernels())
    for (int I = 0; I < 16; ++I)
      ByStatus[I] += K->DispatchesByStatus[I];
  for (uint32_t I = 0; I < 16; ++I)
    if (I != KPROBE_DISPATCH_TRACED)
      add("dispatches_status_" + std::to_string(I),
          "dispatches not traced (" + statusText(I) + ")", ByStatus[I]);
  uint64_t Pending = 0, Dropped = 0, Unknown = 0, Unrecorded = 0;
  for (const auto &T : S.traces()) {
    Unknown += T->UnknownChunks;
    if (!T->Summary)
      continue;
    Pending += T->Summary->DispatchesPending;
    Dropped += T->Summary->ChunksDropped;
    uint64_t Recorded = T->Dispatches.size();
    if (T->Summary->DispatchesSeen > Recorded)
      Unrecorded += T->Summary->DispatchesSeen - Recorded;
  }
  add("dispatches_pending", "dispatches not completed when tracing ended",
      Pending);
  add("dispatches_unrecorded", "dispatches seen, but not in the dump",
      Unrecorded);
  for (const auto &T : S.traces())
    for (const auto &[Number, Thread] : T->Threads) {
      std::string Id = std::to_string(Thread.Record.ThreadId);
      bool Linux = Thread.isProcessor();
      add((Linux ? "host_events_processor_" : "host_events_thread_") + Id,
          (Linux ? "events of Linux on processor " : "host events of thread ") +
              Id +
              (Linux || Thread.Name.empty() ? "" : " (" + Thread.Name + ")") +
              " that found no room",
          Thread.Lost);
    }
  add("chunks_dropped", "chunks that could not be written", Dropped);
  add("chunks_unknown", "chunks of a kind this program does not know", Unknown);
  return Losses;
}

std::vector<uint32_t> sitesByShare(const KernelStatistics &K) {
  std::vector<uint32_t> Order(K.Sites.size());
  std::iota(Order.begin(), Order.end(), 0u);
  Order.erase(std::remove_if(Order.begin(), Order.end(),
                             [&](uint32_t I) { return K.Sites[I].Hits == 0; }),
              Order.end());
  std::stable_sort(Order.begin(), Order.end(), [&](uint32_t A, uint32_t B) {
    return K.Sites[A].Cycles > K.Sites[B].Cycles;
  });
  return Order;
}

} // namespace kprobe
