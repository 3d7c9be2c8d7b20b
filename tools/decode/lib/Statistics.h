// Sink that adds up events: per kernel, per block, and what was lost.
//
// Counting happens in wave(), the hot loop of the decoder; everything that is
// slow (names, sorting, clock fits) waits for the report. One object may
// collect several dumps: kernels with the same site table are one kernel.
#ifndef KPROBE_DECODE_STATISTICS_H
#define KPROBE_DECODE_STATISTICS_H

#include "ApiStatistics.h"
#include "Histogram.h"
#include "Trace.h"
#include "WaveEvents.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace kprobe {

struct SiteStatistics {
  uint64_t Hits = 0;
  uint64_t Lanes = 0;  ///< sum over hits
  uint64_t Timed = 0;  ///< hits whose time is known
  uint64_t Cycles = 0; ///< sum over timed hits
  uint32_t Min = UINT32_MAX;
  uint32_t Max = 0;
  std::unique_ptr<Histogram> Times;

  /// Percentile of the time, kept inside what was really seen.
  uint32_t percentile(unsigned Permille) const;
};

/// Sums of WaveAccount.
struct EventTotals {
  uint64_t Written = 0, Kept = 0, Overwritten = 0, Dropped = 0, Missing = 0,
           Empty = 0, Damaged = 0;
  void add(const WaveAccount &A);
  void add(const EventTotals &T);
  uint64_t lost() const { return Overwritten + Dropped + Missing + Damaged; }
};

struct WaveTotals {
  uint64_t InGrid = 0; ///< of traced dispatches
  uint64_t Slots = 0;  ///< of those, had a slot
  uint64_t Ended = 0, Begun = 0, Unused = 0, Damaged = 0;
  uint64_t Incomplete = 0; ///< of Begun: may have written more than was seen
  uint64_t Ambiguous = 0;  ///< clock gap of 2^32 cycles or more
  void add(const WaveTotals &T);
  uint64_t traced() const { return Ended + Begun; }
  /// Slots that no WAVES chunk reports.
  uint64_t absent() const {
    uint64_t Seen = Ended + Begun + Unused + Damaged;
    return Slots > Seen ? Slots - Seen : 0;
  }
};

/// Rates of sampling among the traced dispatches of a kernel, as shifts.
struct SampleRates {
  uint8_t Least = UINT8_MAX, Most = 0; ///< Least > Most: none
  void add(uint8_t Shift) {
    Least = std::min(Least, Shift);
    Most = std::max(Most, Shift);
  }
};

struct KernelStatistics {
  std::string Name;
  const SiteTable *Table = nullptr; ///< null: never seen with one
  const KprobeKernelRecord *Kernel = nullptr;
  bool Virtual = false;
  uint64_t Dispatches = 0;
  uint64_t DispatchesByStatus[16] = {};
  SampleRates WaveRates, GroupRates;
  /// Traced dispatches by mode, and by why another mode was refused.
  std::map<uint8_t, uint64_t> Modes, Refusals;
  WaveTotals Waves;
  EventTotals Events;
  std::vector<SiteStatistics> Sites; ///< by local site
  std::vector<const Dispatch *> Runs;
  std::vector<uint64_t> TimesNs; ///< sorted; filled by finish()
  uint64_t TotalNs = 0;
  uint64_t BlockCycles = 0; ///< of all sites; filled by finish()
  uint64_t WaveCycles = 0;  ///< of waves that ended
  std::optional<KprobeResourcesRecord> Resources;
  uint64_t LdsBytes = 0;   ///< most of a traced dispatch, dynamic included
  uint64_t GroupWaves = 0; ///< waves of its workgroups

  /// The kernel's time with and without probes where the same grid ran both
  /// ways: medians, of the grid that ran so most often. Filled by finish().
  struct Comparison {
    uint64_t Probed = 0, Plain = 0; ///< dispatches
    uint64_t ProbedNs = 0, PlainNs = 0;
  };
  std::optional<Comparison> Compared;

  /// Share of the waves' cycles in which the probes' instructions issue, by a
  /// usual probe: what they cost at the least. None where it is not known.
  std::optional<double> probeShare() const;
  /// Of the original and of the clone.
  std::optional<uint32_t> occupancy(const KprobeKernelNeeds &Needs) const;
};

class Statistics final : public TraceSink {
public:
  /// Starts another dump. The Trace must live as long as this object.
  Trace &open();

  Error dispatch(const Dispatch &D) override;
  Error wave(const Dispatch &D, const WaveView &View) override;
  Error hostEvents(const HostThread &Thread, const ByteReader &Events) override;

  /// Call once after the last dump.
  void finish();

  const std::vector<std::unique_ptr<Trace>> &traces() const { return Traces; }
  /// In order of first appearance, by falling total time after finish().
  const std::vector<std::unique_ptr<KernelStatistics>> &kernels() const {
    return Kernels;
  }
  const ApiStatistics &api() const { return Api; }
  EventTotals eventTotals() const;
  WaveTotals waveTotals() const;

private:
  struct Span {
    uint64_t First = UINT64_MAX, Last = 0; ///< real-time ticks
  };
  KernelStatistics &kernelOf(const Dispatch &D);
  bool kernelTime(const Dispatch &D, uint64_t &Ns) const;
  void compare(KernelStatistics &K) const;

  std::vector<std::unique_ptr<Trace>> Traces;
  ApiStatistics Api;
  std::vector<std::unique_ptr<KernelStatistics>> Kernels;
  std::map<std::pair<uint64_t, uint32_t>, KernelStatistics *> ByTable;
  std::map<std::string, KernelStatistics *> ByName;
  std::unordered_map<const Dispatch *, Span> Spans;
  const Dispatch *LastDispatch = nullptr; ///< owner of LastKernel
  KernelStatistics *LastKernel = nullptr;
};

} // namespace kprobe

#endif
