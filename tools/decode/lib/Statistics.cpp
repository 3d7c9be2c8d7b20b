// The hot loop, and the sums that wait for the end.
#include "Statistics.h"

#include "Names.h"
#include "Occupancy.h"

#include <algorithm>
#include <array>

namespace kprobe {

uint32_t SiteStatistics::percentile(unsigned Permille) const {
  return Timed == 0 ? 0
                    : std::clamp(Times->percentile(Timed, Permille), Min, Max);
}

void EventTotals::add(const WaveAccount &A) {
  Written += A.Written;
  Kept += A.Kept;
  Overwritten += A.Overwritten;
  Dropped += A.Dropped;
  Missing += A.Missing;
  Empty += A.Empty;
  Damaged += A.Damaged;
}

void EventTotals::add(const EventTotals &T) {
  Written += T.Written;
  Kept += T.Kept;
  Overwritten += T.Overwritten;
  Dropped += T.Dropped;
  Missing += T.Missing;
  Empty += T.Empty;
  Damaged += T.Damaged;
}

void WaveTotals::add(const WaveTotals &T) {
  InGrid += T.InGrid;
  Slots += T.Slots;
  Ended += T.Ended;
  Begun += T.Begun;
  Unused += T.Unused;
  Damaged += T.Damaged;
  Incomplete += T.Incomplete;
  Ambiguous += T.Ambiguous;
}

Trace &Statistics::open() {
  Traces.push_back(std::make_unique<Trace>());
  return *Traces.back();
}

KernelStatistics &Statistics::kernelOf(const Dispatch &D) {
  KernelStatistics *&Place =
      D.Kernel ? ByTable[{D.Record.TableHash, D.Record.Kernel}]
               : ByName[D.Name];
  if (!Place) {
    Kernels.push_back(std::make_unique<KernelStatistics>());
    Place = Kernels.back().get();
    Place->Name = kernelName(D);
    Place->Table = D.Table;
    Place->Kernel = D.Kernel;
    if (D.Kernel)
      Place->Sites.resize(D.Kernel->SiteCount);
  }
  return *Place;
}

Error Statistics::dispatch(const Dispatch &D) {
  KernelStatistics &K = kernelOf(D);
  ++K.Dispatches;
  ++K.DispatchesByStatus[D.Record.Status & 15];
  K.Virtual |= D.Where->isVirtual();
  K.Runs.push_back(&D);
  if (D.Record.Status == KPROBE_DISPATCH_TRACED) {
    K.Waves.InGrid += D.Record.WaveCount;
    K.Waves.Slots += D.Record.SlotCount;
    ++K.Modes[D.Record.Mode];
    if (D.Record.Refusal != KPROBE_REFUSAL_NONE)
      ++K.Refusals[D.Record.Refusal];
    K.WaveRates.add(D.Record.SampleShift);
    K.GroupRates.add(D.Record.GroupShift);
    if (D.Table && D.Record.LdsBytes >= K.LdsBytes) {
      const uint64_t WaveSize = std::max(1u, D.Table->header().WaveSize);
      K.LdsBytes = D.Record.LdsBytes;
      K.GroupWaves = (uint64_t(D.Record.Group[0]) * D.Record.Group[1] *
                          D.Record.Group[2] +
                      WaveSize - 1) /
                     WaveSize;
    }
  }
  return Error::success();
}

Error Statistics::wave(const Dispatch &D, const WaveView &View) {
  if (&D != LastDispatch) {
    LastDispatch = &D;
    LastKernel = &kernelOf(D);
  }
  KernelStatistics &K = *LastKernel;
  SiteStatistics *Sites = K.Sites.data();
  WaveAccount A = forEachBlock(View, EventRules(D), [Sites](const Block &B) {
    SiteStatistics &S = Sites[B.LocalSite];
    ++S.Hits;
    S.Lanes += B.Lanes;
    if (!B.TimeKnown)
      return;
    if (__builtin_expect(!S.Times, 0))
      S.Times = std::make_unique<Histogram>();
    ++S.Timed;
    S.Cycles += B.Cycles;
    if (B.Cycles < S.Min)
      S.Min = B.Cycles;
    if (B.Cycles > S.Max)
      S.Max = B.Cycles;
    S.Times->add(B.Cycles);
  });
  if (View.CounterCount != 0 &&
      !forEachCounter(View, EventRules(D),
                      [Sites](uint32_t Site, uint64_t Visits, uint64_t Lanes) {
                        Sites[Site].Hits += Visits;
                        Sites[Site].Lanes += Lanes;
                      })) {
    A.Written += View.CounterCount;
    A.Damaged += View.CounterCount;
  }
  K.Events.add(A);
  K.Waves.Ambiguous += A.ClockAmbiguous;
  switch (A.Fate) {
  case WaveFate::Ended: {
    ++K.Waves.Ended;
    K.WaveCycles += View.Header.EndCycles - View.Header.BeginCycles;
    Span &S = Spans[&D];
    S.First = std::min(S.First, View.Header.BeginTicks);
    S.Last = std::max(S.Last, View.Header.EndTicks);
    break;
  }
  case WaveFate::Begun:
    ++K.Waves.Begun;
    K.Waves.Incomplete += A.LowerBound;
    break;
  case WaveFate::Unused:
    ++K.Waves.Unused;
    break;
  case WaveFate::Damaged:
    ++K.Waves.Damaged;
    break;
  }
  return Error::success();
}

Error Statistics::hostEvents(const HostThread &Thread,
                             const ByteReader &Events) {
  Api.hostEvents(*Traces.back(), Thread, Events);
  return Error::success();
}

/// Ticks of a counter of \p Hz in nanoseconds.
static uint64_t ticksToNs(uint64_t Ticks, uint64_t Hz) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(Ticks) *
                               1000000000u / Hz);
}

/// The packet processor's stamps where there are any, else from the first
/// wave's begin to the last one's end.
bool Statistics::kernelTime(const Dispatch &D, uint64_t &Ns) const {
  const KprobeDispatchRecord &R = D.Record;
  const std::vector<KprobeClockRecord> &Clocks = D.Where->Clocks;
  if (R.BeginSystem != 0 && R.EndSystem >= R.BeginSystem && !Clocks.empty()) {
    Ns = ticksToNs(R.EndSystem - R.BeginSystem, Clocks.front().SystemHz);
    return true;
  }
  auto Found = Spans.find(&D);
  if (Found == Spans.end() || Found->second.Last < Found->second.First)
    return false;
  Ns = ticksToNs(Found->second.Last - Found->second.First,
                 D.Where->Record.TickHz);
  return true;
}

std::optional<double> KernelStatistics::probeShare() const {
  // The least that the pass's tests show: an event with a place of its own, of all
  // lanes and with a clock; a wave's begin and end.
  constexpr double PerEvent = 4, PerWave = 36;
  if (!Table || WaveCycles == 0 || Modes.count(KPROBE_MODE_COUNTERS) ||
      Table->header().EventClock != KPROBE_EVENT_CLOCK_CYCLES)
    return std::nullopt;
  // A wave of 64 lanes issues over four cycles on gfx9, over two from gfx10 on.
  const bool Gfx9 = Table->target().substr(0, 4) == "gfx9";
  const double Issue = Gfx9 ? 4 : Table->header().WaveSize == 64 ? 2 : 1;
  return Issue *
         (PerEvent * static_cast<double>(Events.Written) +
          PerWave * static_cast<double>(Waves.Ended)) /
         static_cast<double>(WaveCycles);
}

std::optional<uint32_t>
KernelStatistics::occupancy(const KprobeKernelNeeds &Needs) const {
  return wavesPerSimd(Table->target(), Table->header().WaveSize, Needs,
                      std::max<uint64_t>(LdsBytes, Needs.LdsBytes), GroupWaves);
}

/// Medians of what ran with and without probes in one shape.
void Statistics::compare(KernelStatistics &K) const {
  struct Times {
    std::vector<uint64_t> Probed, Plain;
  };
  std::map<std::array<uint32_t, 6>, Times> ByShape;
  for (const Dispatch *D : K.Runs) {
    const KprobeDispatchRecord &R = D->Record;
    uint64_t Ns = 0;
    if (!kernelTime(*D, Ns))
      continue;
    Times &T = ByShape[{R.Grid[0], R.Grid[1], R.Grid[2], R.Group[0], R.Group[1],
                        R.Group[2]}];
    (R.Status == KPROBE_DISPATCH_TRACED ? T.Probed : T.Plain).push_back(Ns);
  }
  size_t Most = 0;
  auto Median = [](std::vector<uint64_t> &Of) {
    auto Middle = Of.begin() + static_cast<std::ptrdiff_t>(Of.size() / 2);
    std::nth_element(Of.begin(), Middle, Of.end());
    return *Middle;
  };
  for (auto &[Shape, T] : ByShape) {
    size_t Pairs = std::min(T.Probed.size(), T.Plain.size());
    if (Pairs <= Most)
      continue;
    Most = Pairs;
    K.Compared = {T.Probed.size(), T.Plain.size(), Median(T.Probed),
                  Median(T.Plain)};
  }
}

void Statistics::finish() {
  for (std::unique_ptr<KernelStatistics> &K : Kernels) {
    if (K->Table)
      for (const auto &T : Traces) {
        auto Found = T->Resources.find(
            {K->Table->hash(),
             static_cast<uint32_t>(K->Kernel - K->Table->kernels().data())});
        if (Found != T->Resources.end())
          K->Resources = Found->second;
      }
    compare(*K);
    for (const Dispatch *D : K->Runs) {
      uint64_t Ns = 0;
      if (!kernelTime(*D, Ns))
        continue;
      K->TimesNs.push_back(Ns);
      K->TotalNs += Ns;
    }
    std::sort(K->TimesNs.begin(), K->TimesNs.end());
    for (const SiteStatistics &S : K->Sites)
      K->BlockCycles += S.Cycles;
  }
  std::stable_sort(
      Kernels.begin(), Kernels.end(),
      [](const auto &A, const auto &B) { return A->TotalNs > B->TotalNs; });
}

EventTotals Statistics::eventTotals() const {
  EventTotals T;
  for (const std::unique_ptr<KernelStatistics> &K : Kernels)
    T.add(K->Events);
  return T;
}

WaveTotals Statistics::waveTotals() const {
  WaveTotals T;
  for (const std::unique_ptr<KernelStatistics> &K : Kernels)
    T.add(K->Waves);
  return T;
}

} // namespace kprobe
