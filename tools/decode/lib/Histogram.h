// Counts of 32-bit values in logarithmic buckets, for medians and percentiles
// in constant memory.
//
// Values below 64 have a bucket each; above, every power of two is divided in
// 32, so that a percentile is off by at most 1/64 (1.6 %). Percentiles are the
// nearest rank: the median of an even count is the lower one.
#ifndef KPROBE_DECODE_HISTOGRAM_H
#define KPROBE_DECODE_HISTOGRAM_H

#include <array>
#include <cstdint>

namespace kprobe {

class Histogram {
public:
  static constexpr unsigned Buckets = 896;

  static unsigned bucketOf(uint32_t Value) {
    // "| 32" makes the small values a case of the general one: no branch.
    unsigned Shift = 26 - static_cast<unsigned>(__builtin_clz(Value | 32));
    return Shift * 32 + (Value >> Shift);
  }

  /// The value in the middle of a bucket, the lower one of two.
  static uint32_t middleOf(unsigned Bucket) {
    if (Bucket < 64)
      return Bucket;
    unsigned Shift = Bucket / 32 - 1;
    uint64_t Low = uint64_t(Bucket - Shift * 32) << Shift;
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
