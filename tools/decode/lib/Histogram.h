// Counts of 32-bit values in logarithmic buckets, for medians and percentiles
// in constant memory.
//
// Values below 256 have a bucket each; above, every power of two is divided in
// 128, so that a percentile is off by at most 1/256 (0.4 %). Percentiles are
// the nearest rank: the median of an even count is the lower one.
#ifndef KPROBE_DECODE_HISTOGRAM_H
#define KPROBE_DECODE_HISTOGRAM_H

#include <array>
#include <cstdint>

namespace kprobe {

class Histogram {
public:
  static constexpr unsigned Parts = 128; ///< of a power of two
  static constexpr unsigned Buckets = 26 * Parts;

  static unsigned bucketOf(uint32_t Value) {
    // "| Parts" makes the small values a case of the general one: no branch.
    unsigned Shift = 24 - static_cast<unsigned>(__builtin_clz(Value | Parts));
    return Shift * Parts + (Value >> Shift);
  }

  /// The value in the middle of a bucket, the lower one of two.
  static uint32_t middleOf(unsigned Bucket) {
    if (Bucket < 2 * Parts)
      return Bucket;
    unsigned Shift = Bucket / Parts - 1;
    uint64_t Low = uint64_t(Bucket - Shift * Parts) << Shift;
    return static_cast<uint32_t>(Low + ((uint64_t(1) << Shift) - 1) / 2);
  }

  void add(uint32_t Value) { ++Counts[bucketOf(Value)]; }

  /// The smallest value that \p Permille of \p Total values do not exceed.
  uint32_t percentile(uint64_t Total, unsigned Permille) const {
    uint64_t Rank = (Total * Permille + 999) / 1000;
    uint64_t Seen = 0;
    for (unsigned B = 0; B < Buckets; ++B) {
      Seen += Counts[B];
      if (Seen >= Rank && Seen != 0)
        return middleOf(B);
    }
    return 0;
  }

private:
  std::array<uint64_t, Buckets> Counts = {};
};

} // namespace kprobe

#endif
