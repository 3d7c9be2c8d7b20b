// Merging waves into one order of time.
#include "Timeline.h"

#include "AgentClocks.h"
#include "DumpVerifier.h"
#include "Names.h"

#include <algorithm>

namespace kprobe {

/// No trace is longer: 2^53 ns are 104 days, and doubles of viewers end there.
constexpr int64_t LongestTraceNs = int64_t(1) << 53;

class Timeline::Index final : public TraceSink {
public:
  explicit Index(Timeline &T) : T(T) {}
  Error wave(const Dispatch &D, const WaveView &View) override {
    const KprobeWaveHeader &H = View.Header;
    // Clocks are fitted through all of them; only those wanted are walked.
    bool Wanted = T.wants(D) && T.Cut.Wave.value_or(H.WaveIndex) == H.WaveIndex;
    WaveFate Fate = openWave(View).Fate;
    if (Fate != WaveFate::Ended && Fate != WaveFate::Begun)
      return Error::success();
    if (Wanted)
      if (Error E = T.Waves.add(
              {&D, View.EventsOffset, View.EventCount, H.BeginTicks}))
        return E;
    uint64_t &First = T.FirstTick.try_emplace(&D, H.BeginTicks).first->second;
    First = std::min(First, H.BeginTicks);
    if (Fate == WaveFate::Ended && H.EndTicks > H.BeginTicks) {
      CycleSums &S = T.Sums[D.Where];
      S.Cycles += H.EndCycles - H.BeginCycles;
      S.Ticks += H.EndTicks - H.BeginTicks;
    }
    return Error::success();
  }

  Error hostEvents(const HostThread &Thread,
                   const ByteReader &Events) override {
    T.Host.add(Thread, Events.offset(), Events.size());
    return Error::success();
  }

private:
  Timeline &T;
};

Error Timeline::open(ByteSource &Input) {
  Source = &Input;
  Index Sink(*this);
  Error E = readTrace(Input, Contents, Sink);
  if (Contents.Owner) {
    const KprobeProcessRecord &P = Contents.Owner->Record;
    Begin = static_cast<int64_t>(
        std::min<uint64_t>(P.StartMonotonicNs, INT64_MAX - LongestTraceNs));
    RealtimeOffset = static_cast<int64_t>(
                         std::min<uint64_t>(P.StartRealtimeNs, INT64_MAX / 2)) -
                     Begin;
  }
  fitClocks();
  if (Error Full = collectStarts())
    return Full;
  if (Error Unreadable = Host.start(Input))
    return Unreadable;
  return E;
}

const AgentClock &Timeline::clockOf(const Agent &A) const {
  static const AgentClock Unknown;
  auto Found = Clocks.find(&A);
  return Found == Clocks.end() ? Unknown : Found->second;
}

/// The device counter could not be read: take the moments at which kernels
/// began for it, or as a last resort the begin of the trace.
void Timeline::alignWithoutReadings(const Agent &A, AgentClock &C) {
  std::vector<ClockReading> Readings;
  if (C.System.quality() != ClockFit::Quality::None) {
    C.How = Alignment::Dispatches;
    for (const auto &[D, Tick] : FirstTick)
      if (D->Where == &A && D->Record.BeginSystem != 0)
        Readings.push_back(
            {Tick, static_cast<uint64_t>(std::max<int64_t>(
                       0, C.System.toMonotonicNs(D->Record.BeginSystem)))});
  }
  std::sort(Readings.begin(), Readings.end(),
            [](const ClockReading &X, const ClockReading &Y) {
              return X.Ticks < Y.Ticks;
            });
  if (Readings.empty()) {
    C.How = Alignment::None;
    uint64_t First = UINT64_MAX;
    for (const auto &[D, Tick] : FirstTick)
      if (D->Where == &A)
        First = std::min(First, Tick);
    if (First != UINT64_MAX)
      Readings.push_back({First, static_cast<uint64_t>(Begin)});
  }
  C.Ticks = ClockFit(std::move(Readings), A.Record.TickHz);
}

void Timeline::fitClocks() {
  for (const auto &[Number, A] : Contents.Agents) {
    AgentClock &C = Clocks[&A];
    C.System = systemClock(A);
    C.Ticks = deviceClock(A);
    C.How = Alignment::Readings;
    if (C.Ticks.quality() == ClockFit::Quality::None)
      alignWithoutReadings(A, C);
    const CycleSums &S = Sums[&A];
    C.CycleHz = A.Record.CycleHz;
    if (S.Ticks != 0 && S.Cycles != 0)
      C.CycleHz = static_cast<uint64_t>(std::clamp<unsigned __int128>(
          S.Cycles * A.Record.TickHz / S.Ticks, 1, MaxFrequencyHz));
  }
}

bool Timeline::kernelTimed(const Dispatch &D) const {
  return D.Record.BeginSystem != 0 &&
         clockOf(*D.Where).System.quality() != ClockFit::Quality::None;
}

static int64_t submitNs(const KprobeDispatchRecord &R) {
  return static_cast<int64_t>(std::min<uint64_t>(R.SubmitNs, INT64_MAX));
}

int64_t Timeline::clamped(int64_t Ns) const {
  return std::clamp(Ns, Begin, Begin + LongestTraceNs);
}
int64_t Timeline::clamp(int64_t Ns) {
  int64_t Result = clamped(Ns);
  Clamped += Result != Ns;
  return Result;
}

int64_t Timeline::cutFrom() const { return Begin + Cut.FromNs; }
int64_t Timeline::cutTo() const {
  return Cut.ToNs < INT64_MAX - Begin ? Begin + Cut.ToNs : INT64_MAX;
}

bool Timeline::hasArrow(const Dispatch &D) const {
  const KprobeDispatchRecord &R = D.Record;
  if (!Contents.causeOf(R.Dispatch) || R.SubmitNs == 0 || !kernelTimed(D) ||
      !wants(D))
    return false;
  const ClockFit &System = clockOf(*D.Where).System;
  int64_t Submit = clamped(submitNs(R));
  int64_t KernelFrom = clamped(System.toMonotonicNs(R.BeginSystem));
  int64_t KernelTo = R.EndSystem < R.BeginSystem
                         ? KernelFrom
                         : clamped(System.toMonotonicNs(R.EndSystem));
  return Submit >= cutFrom() && Submit <= cutTo() && KernelFrom <= cutTo() &&
         KernelTo >= cutFrom();
}

Error Timeline::collectStarts() {
  std::vector<const Dispatch *> InOrder;
  for (const auto &Entry : Contents.Dispatches)
    InOrder.push_back(&Entry.second);
  std::sort(InOrder.begin(), InOrder.end(),
            [](const Dispatch *A, const Dispatch *B) {
              return A->Record.Dispatch < B->Record.Dispatch;
            });
  using Kind = TimelineItem::Kind;
  for (const Dispatch *D : InOrder) {
    if (!wants(*D))
      continue;
    const KprobeDispatchRecord &R = D->Record;
    if (R.SubmitNs != 0) {
      int64_t Ns = clamp(submitNs(R));
      if (Error E = Starts.add({Ns, Ns, Kind::Submit, D, 0, 0}))
        return E;
    }
    if (!kernelTimed(*D))
      continue;
    const ClockFit &System = Clocks[D->Where].System;
    int64_t From = clamp(System.toMonotonicNs(R.BeginSystem));
    int64_t To = From;
    if (R.EndSystem < R.BeginSystem)
      ++Clamped;
    else
      To = std::max(From, clamp(System.toMonotonicNs(R.EndSystem)));
    // A kernel that begins and ends at once does so in this order.
    if (Error E = Starts.add({From, To, Kind::KernelBegin, D, 0, 0}))
      return E;
    if (Error E = Starts.add({To, To, Kind::KernelEnd, D, 0, 0}))
      return E;
  }
  if (Error E = collectWaves())
    return E;
  return Starts.finish();
}

Error Timeline::collectWaves() {
  if (Error E = Waves.finish())
    return E;
  while (const WaveRecord *W = Waves.head()) {
    const ClockFit &Ticks = Clocks[W->Owner->Where].Ticks;
    int64_t Ns = clamp(Ticks.toMonotonicNs(W->BeginTicks));
    if (Error E = Starts.add({Ns, Ns, TimelineItem::Kind::WaveBegin, W->Owner,
                              W->Offset, W->EventCount}))
      return E;
    if (Error E = Waves.step())
      return E;
  }
  return Error::success();
}

/// \p Amount x \p Numerator / \p Denominator without overflow.
static int64_t scale(uint64_t Amount, uint64_t Numerator,
                     uint64_t Denominator) {
  unsigned __int128 Product =
      static_cast<unsigned __int128>(Amount) * Numerator / Denominator;
  return static_cast<int64_t>(
      std::min<unsigned __int128>(Product, LongestTraceNs));
}

void Timeline::mapBlocks(TimelineWave &W, const AgentClock &Clock) {
  const KprobeWaveHeader &H = W.Header;
  bool Ended = W.Account.Fate == WaveFate::Ended;
  // The two clock pairs of the wave give its own rate; where they cannot (it
  // never ended, or lived less than a tick), the agent's rate stands in.
  uint64_t CycleSpan = Ended ? H.EndCycles - H.BeginCycles : 0;
  int64_t EndNs = W.BeginNs;
  bool OwnRate = Ended && H.EndTicks > H.BeginTicks && CycleSpan != 0;
  if (Ended && H.EndTicks < H.BeginTicks)
    ++Clamped;
  uint64_t AgentHz = Clock.CycleHz != 0 ? Clock.CycleHz : 1000000000;
  if (OwnRate)
    EndNs = std::max(W.BeginNs, clamp(Clock.Ticks.toMonotonicNs(H.EndTicks)));
  else if (Ended)
    EndNs = W.BeginNs + scale(CycleSpan, 1000000000, AgentHz);
  uint64_t NsSpan = static_cast<uint64_t>(EndNs - W.BeginNs);
  auto at = [&](uint64_t Cycle) {
    uint64_t Since = Cycle - H.BeginCycles;
    return W.BeginNs + (OwnRate ? scale(Since, NsSpan, CycleSpan)
                                : scale(Since, 1000000000, AgentHz));
  };
  for (TimelineBlock &B : W.Blocks) {
    B.BeginNs = at(B.Cycles.Begin);
    if (!Ended)
      EndNs = std::max(EndNs, B.BeginNs);
  }
  EndNs = std::min(EndNs, Begin + LongestTraceNs);
  // Rounding is monotonic; the bounds make it so for damaged clocks too.
  int64_t Next = EndNs;
  for (size_t I = W.Blocks.size(); I-- > 0;) {
    TimelineBlock &B = W.Blocks[I];
    B.BeginNs = std::clamp(B.BeginNs, W.BeginNs, Next);
    B.EndNs = Next;
    Next = B.BeginNs;
  }
  W.EndNs = EndNs;
}

const Track *Timeline::assignTrack(const TimelineWave &W) {
  const Agent &A = *W.Owner->Where;
  std::optional<HardwarePlace> Place =
      decodePlace(A.Target, W.Header.HardwareId);
  PlaceKey Key = {A.Record.Agent, 0, 0};
  if (Place)
    Key = {A.Record.Agent,
           uint64_t(Place->Xcc) << 48 | uint64_t(Place->ShaderEngine) << 32 |
               uint64_t(Place->ShaderArray) << 16 | Place->ComputeUnit,
           uint64_t(Place->Simd) << 32 | Place->Slot};
  else
    Key = {A.Record.Agent, W.Header.HardwareId[0], W.Header.HardwareId[1]};
  std::vector<std::unique_ptr<Lane>> &Lanes = Places[Key];
  for (std::unique_ptr<Lane> &L : Lanes)
    if (L->LastEnd <= W.BeginNs) {
      L->LastEnd = W.EndNs;
      return &L->Drawn;
    }
  Track Drawn = {&A,
                 Place,
                 {W.Header.HardwareId[0], W.Header.HardwareId[1]},
                 static_cast<uint32_t>(Lanes.size()),
                 TrackCount++};
  Lanes.push_back(std::make_unique<Lane>(Lane{Drawn, W.EndNs}));
  return &Lanes.back()->Drawn;
}

Error Timeline::beginWave(const Start &S, TimelineItem &Item) {
  auto W = std::make_unique<TimelineWave>();
  W->Owner = S.Owner;
  if (Error E = Source->readAt(S.Offset - sizeof(KprobeWaveExtent) -
                                   sizeof(KprobeWaveHeader),
                               &W->Header, sizeof(KprobeWaveHeader)))
    return E;
  W->BeginNs = S.Ns;
  EventBuffer.resize(S.EventCount);
  if (Error E = Source->readAt(S.Offset, EventBuffer.data(),
                               S.EventCount * sizeof(KprobeEvent)))
    return E;
  WaveView View;
  View.Header = W->Header;
  if (Error E = Source->readAt(S.Offset - sizeof(KprobeWaveExtent),
                               &View.Extent, sizeof(KprobeWaveExtent)))
    return E;
  View.Events = EventBuffer.data();
  View.EventCount = S.EventCount;
  W->Blocks.reserve(S.EventCount);
  W->Account = forEachBlock(View, EventRules(*S.Owner), [&](const Block &B) {
    W->Blocks.push_back({B, 0, 0});
  });
  DamagedEvents += W->Account.Damaged;
  mapBlocks(*W, Clocks[S.Owner->Where]);
  W->Where = assignTrack(*W);
  auto Run = std::make_unique<Running>();
  Run->Wave = std::move(W);
  Run->NextBlock = 0;
  Run->Order = Begun++;
  Item = {TimelineItem::Kind::WaveBegin,
          S.Ns,
          S.Ns,
          S.Owner,
          Run->Wave.get(),
          nullptr};
  pushHeap({Run->ns(), Run->Order, Run.get()});
  uint64_t Order = Run->Order;
  Active.emplace(Order, std::move(Run));
  return Error::success();
}

void Timeline::pushHeap(HeapEntry Entry) {
  size_t At = Heap.size();
  Heap.push_back(Entry);
  for (; At > 0 && Entry.before(Heap[(At - 1) / 2]); At = (At - 1) / 2)
    Heap[At] = Heap[(At - 1) / 2];
  Heap[At] = Entry;
}

/// Puts \p Entry in the place of the first one.
void Timeline::siftDown(HeapEntry Entry) {
  size_t At = 0;
  for (size_t Child = 1; Child < Heap.size(); Child = 2 * At + 1) {
    if (Child + 1 < Heap.size() && Heap[Child + 1].before(Heap[Child]))
      ++Child;
    if (!Heap[Child].before(Entry))
      break;
    Heap[At] = Heap[Child];
    At = Child;
  }
  Heap[At] = Entry;
}

int64_t Timeline::nextDeviceNs() const {
  int64_t Ns = Heap.empty() ? INT64_MAX : Heap[0].Ns;
  const Start *S = Starts.head();
  return S ? std::min(Ns, S->Ns) : Ns;
}

bool Timeline::wants(const Dispatch &D) const {
  if (Cut.Dispatch.value_or(D.Record.Dispatch) != D.Record.Dispatch)
    return false;
  return Cut.Kernel.empty() ||
         kernelName(D).find(Cut.Kernel) != std::string::npos;
}

bool Timeline::wanted(const TimelineItem &Item) {
  using Kind = TimelineItem::Kind;
  int64_t From = cutFrom(), To = cutTo();
  bool Inside = Item.Ns >= From && Item.Ns <= To;
  switch (Item.What) {
  case Kind::Submit:
  case Kind::Host:
    return Inside;
  // What ends has begun here or was left out there.
  case Kind::CallBegin:
    if (!Inside)
      CutCalls.insert(Item.Host->Event.Head.Call);
    return Inside;
  case Kind::CallEnd:
    return CutCalls.erase(Item.Host->Event.Head.Call) == 0;
  case Kind::KernelBegin:
    if (Item.Ns <= To && Item.EndNs >= From)
      return true;
    CutKernels.insert(Item.Owner);
    return false;
  case Kind::KernelEnd:
    return CutKernels.erase(Item.Owner) == 0;
  case Kind::WaveBegin:
    if (Item.Ns <= To && Item.Wave->EndNs >= From)
      return true;
    CutWaves.insert(Item.Wave);
    return false;
  case Kind::WaveEnd:
    return CutWaves.erase(Item.Wave) == 0;
  case Kind::Block:
    return Item.Ns <= To && Item.EndNs >= From && !CutWaves.count(Item.Wave);
  }
  return true;
}

Error Timeline::next(TimelineItem &Item, bool &Done) {
  do {
    if (Error E = nextOfAll(Item, Done))
      return E;
    if (Watch)
      Watch(given(), toGive());
  } while (!Done && !wanted(Item));
  return Error::success();
}

Error Timeline::nextOfAll(TimelineItem &Item, bool &Done) {
  if (HostGiven)
    if (Error E = Host.step())
      return E;
  HostGiven = false;
  const HostItem *H = Host.head();
  if (!H)
    return nextDevice(Item, Done);
  // A call contains what has its own begin or end as time.
  bool End = H->Event.Head.Kind == KPROBE_HOST_CALL_END;
  int64_t Ns = std::clamp(
      static_cast<int64_t>(std::min<uint64_t>(H->Event.Head.Ns, INT64_MAX)),
      Begin, Begin + LongestTraceNs);
  int64_t Device = nextDeviceNs();
  if (Device < Ns || (Device == Ns && End))
    return nextDevice(Item, Done);
  Done = false;
  HostGiven = true;
  using Kind = TimelineItem::Kind;
  Item = {End                                            ? Kind::CallEnd
          : H->Event.Head.Kind == KPROBE_HOST_CALL_BEGIN ? Kind::CallBegin
                                                         : Kind::Host,
          Ns,
          Ns,
          nullptr,
          nullptr,
          nullptr,
          H};
  return Error::success();
}

Error Timeline::nextDevice(TimelineItem &Item, bool &Done) {
  Done = false;
  Retired.reset();
  const Start *Next = Starts.head();
  // At equal times what runs goes on before something new begins.
  if (!Heap.empty() && (!Next || Heap[0].Ns <= Next->Ns)) {
    Running &Run = *Heap[0].Run;
    TimelineWave &W = *Run.Wave;
    if (Run.NextBlock < W.Blocks.size()) {
      const TimelineBlock &B = W.Blocks[Run.NextBlock++];
      Item = {TimelineItem::Kind::Block, B.BeginNs, B.EndNs, W.Owner, &W, &B};
      siftDown({Run.ns(), Run.Order, &Run});
      return Error::success();
    }
    Item = {
        TimelineItem::Kind::WaveEnd, W.EndNs, W.EndNs, W.Owner, &W, nullptr};
    auto Owned = Active.find(Run.Order);
    Retired = std::move(Owned->second);
    Active.erase(Owned);
    HeapEntry Last = Heap.back();
    Heap.pop_back();
    if (!Heap.empty())
      siftDown(Last);
    return Error::success();
  }
  if (!Next) {
    Done = true;
    return Error::success();
  }
  const Start S = *Next;
  if (Error E = Starts.step())
    return E;
  if (S.What == TimelineItem::Kind::WaveBegin)
    return beginWave(S, Item);
  Item = {S.What, S.Ns, S.EndNs, S.Owner, nullptr, nullptr};
  return Error::success();
}

} // namespace kprobe
