// Counts of a wave, and where a ring begins.
#include "WaveEvents.h"

namespace kprobe {

WaveAccount openWave(const WaveView &View) {
  const KprobeWaveHeader &H = View.Header;
  WaveAccount Account;
  uint64_t Capacity = H.RingBytes / sizeof(KprobeEvent);
  bool RingIsSane = H.RingBytes >= 64 && (H.RingBytes & (H.RingBytes - 1)) == 0;
  if (H.State == KPROBE_WAVE_UNUSED) {
    Account.Fate = WaveFate::Unused;
    return Account;
  }
  if (!RingIsSane || View.EventCount > Capacity)
    return Account;
  if (H.State == KPROBE_WAVE_ENDED) {
    if (H.Cursor % sizeof(KprobeEvent) != 0 || H.EndCycles < H.BeginCycles)
      return Account;
    uint64_t Written = H.Cursor / sizeof(KprobeEvent);
    bool First = View.Extent.Flags & KPROBE_EXTENT_FIRST;
    uint64_t Expected = std::min(Written, First ? Capacity - 1 : Capacity);
    if (View.EventCount > Expected)
      return Account;
    Account.Fate = WaveFate::Ended;
    Account.Written = Written;
    (First ? Account.Dropped : Account.Overwritten) = Written - Expected;
    Account.Missing = Expected - View.EventCount;
    return Account;
  }
  if (H.State == KPROBE_WAVE_BEGUN) {
    Account.Fate = WaveFate::Begun;
    Account.Written = View.EventCount;
    Account.LowerBound = View.EventCount == Capacity;
    return Account;
  }
  return Account;
}

KprobeCounter counterOf(const WaveView &View, uint64_t LocalSite) {
  const KprobeEvent &Words = View.Events[LocalSite];
  return KprobeCounter(Words.Tag) << 32 | Words.Clock;
}

Block &detail::longest(Block &First, std::vector<Block> &Others,
                       const EventRules &Rules,
                       std::vector<uint64_t> &Weights) {
  Weights.resize(Rules.SiteCount);
  for (const Block &Each : Others)
    Weights[Each.LocalSite] += Rules.weight(Each.LocalSite);
  uint64_t Most = Rules.weight(First.LocalSite);
  Block *Longest = &First;
  for (Block &Each : Others)
    if (Weights[Each.LocalSite] > Most) {
      Most = Weights[Each.LocalSite];
      Longest = &Each;
    }
  for (const Block &Each : Others)
    Weights[Each.LocalSite] = 0;
  return *Longest;
}

uint64_t findRingStart(const KprobeEvent *Ring, uint64_t Count) {
  // The newest event is the one that nothing kept is later than. Differences
  // are taken as signed, which holds while a ring spans less than 2^31 cycles.
  // Among equal clocks it is the last of a run: the place before a step back.
  uint64_t Newest = Count;
  for (uint64_t I = 0; I < Count; ++I) {
    if (Ring[I].Tag == 0 || Ring[I].Tag & KPROBE_EVENT_UNTIMED)
      continue;
    if (Newest == Count) {
      Newest = I;
      continue;
    }
    int32_t Ahead = static_cast<int32_t>(Ring[I].Clock - Ring[Newest].Clock);
    if (Ahead > 0 || (Ahead == 0 && I == Newest + 1))
      Newest = I;
  }
  // Events without a clock count themselves. Those that follow are newer still
  // if they lead up to the highest number.
  uint64_t Last = Count;
  for (uint64_t I = 0; I < Count; ++I)
    if (Ring[I].Tag & KPROBE_EVENT_UNTIMED &&
        (Last == Count || Ring[I].Clock > Ring[Last].Clock))
      Last = I;
  if (Newest == Count)
    Newest = Last;
  for (uint64_t Step = 1; Last != Count && Step < Count; ++Step) {
    uint64_t I = (Newest + Step) % Count;
    if (!(Ring[I].Tag & KPROBE_EVENT_UNTIMED))
      break;
    if (I == Last) {
      Newest = Last;
      break;
    }
  }
  return Newest >= Count || Newest + 1 == Count ? 0 : Newest + 1;
}

uint64_t anchorAtEnd(const WaveView &View, const EventRules &Rules) {
  // Walk back from the end: the sum of steps between neighbours is the time
  // from the oldest kept event to the end.
  uint64_t Now = View.Header.EndCycles;
  for (uint64_t I = View.EventCount; I-- > 0;) {
    if (!Rules.accepts(View.Events[I].Tag) ||
        View.Events[I].Tag & KPROBE_EVENT_UNTIMED)
      continue;
    uint32_t Step = static_cast<uint32_t>(Now) - View.Events[I].Clock;
    if (Step <= 0x7fffffff && Step <= Now - View.Header.BeginCycles)
      Now -= Step;
  }
  return Now;
}

} // namespace kprobe
