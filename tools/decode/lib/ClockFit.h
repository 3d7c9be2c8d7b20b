// From a counter's ticks to CLOCK_MONOTONIC, by a straight line through
// readings of both.
//
// A least-squares fit of the *deviation* from the stated frequency, so that the
// numbers stay small; the mapping itself is integer arithmetic. The fit states
// its own quality (residuals, departure from the stated rate) and falls back to
// the stated rate when the readings are too few or contradict it.
//
// A counter may stand still or be set (a device that slept or was reset): where
// one step between readings departs from all others, the line is cut. The
// pieces have one rate and an offset each. A single reading that departs from
// both its neighbours was taken badly, and is left out.
#ifndef KPROBE_DECODE_CLOCKFIT_H
#define KPROBE_DECODE_CLOCKFIT_H

#include <cstdint>
#include <vector>

namespace kprobe {

struct ClockReading {
  uint64_t Ticks;
  uint64_t MonotonicNs;
};

class ClockFit {
public:
  enum class Quality {
    None,    ///< no reading: ticks cannot be placed in time
    Nominal, ///< one usable reading, or readings that contradict the stated
             ///< frequency: its rate, the first reading's offset
    Fitted,
  };

  ClockFit() = default;
  /// \p Hz is the stated frequency of the counter, not 0.
  ClockFit(std::vector<ClockReading> Readings, uint64_t Hz);

  /// Nanoseconds of CLOCK_MONOTONIC, saturating; 0 when there is no reading.
  int64_t toMonotonicNs(uint64_t Ticks) const;

  Quality quality() const { return How; }
  uint64_t readings() const { return Count; }
  /// Readings that went back in time against the one before them in the file.
  uint64_t reversed() const { return Reversed; }
  /// The rate differed from the stated one by more than 1 % and was not used.
  bool rateRejected() const { return Rejected; }
  /// Measured rate against the stated frequency, parts per million; positive:
  /// the counter runs fast.
  double ratePpm() const { return Ppm; }
  /// CLOCK_MONOTONIC at tick 0.
  int64_t offsetNs() const { return toMonotonicNs(0); }
  double residualMaxNs() const { return ResidualMax; }
  double residualRmsNs() const { return ResidualRms; }
  /// Places at which the counter jumped, and by how much at most.
  uint64_t jumps() const { return Pieces.empty() ? 0 : Pieces.size() - 1; }
  int64_t largestJumpNs() const { return LargestJump; }
  /// Readings that were taken badly.
  uint64_t leftOut() const { return Outliers; }

private:
  /// A line from FirstTicks on, to the next piece.
  struct Piece {
    uint64_t FirstTicks;
    uint64_t BaseTicks;
    int64_t BaseNs;
  };
  void cutAndFit(const std::vector<ClockReading> &Readings,
                 long double Nominal);

  Quality How = Quality::None;
  uint64_t Count = 0;
  uint64_t Reversed = 0;
  bool Rejected = false;
  double Ppm = 0;
  double ResidualMax = 0;
  double ResidualRms = 0;
  int64_t LargestJump = 0;
  uint64_t Outliers = 0;
  std::vector<Piece> Pieces;
  int64_t NsPerTick = 0; ///< times 2^40
};

} // namespace kprobe

#endif
