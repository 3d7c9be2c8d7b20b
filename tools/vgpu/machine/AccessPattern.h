//===- AccessPattern.h - What the lanes of one access have in common --------===//
//
// Which lines a vector memory operation touches, and how often lanes of an LDS
// operation are in each other's way. Both depend on the addresses alone.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_MACHINE_ACCESSPATTERN_H
#define VGPU_MACHINE_ACCESSPATTERN_H

#include <cstdint>

namespace vgpu {

/// The lines one vector memory operation touches, each once.
struct LineSet {
  unsigned Count = 0;
  uint64_t Line[64 * 2];
  uint8_t Lanes[64 * 2]; ///< How many lanes touch it.

  /// Lines are of 1 << \p LineShift bytes, at least 64.
  explicit LineSet(unsigned LineShift = 6) : LineShift(LineShift) {}

  /// \p Bytes from each active lane's address on; at most 64.
  void collect(const uint64_t *Address, uint64_t Exec, unsigned Bytes);
  /// All lanes side by side: Total bytes from Begin on, Bytes a lane.
  void consecutive(uint64_t Begin, unsigned Total, unsigned Bytes) {
    Count = 0;
    for (uint64_t L = Begin >> LineShift; L <= (Begin + Total - 1) >> LineShift; ++L) {
      Line[Count] = L;
      Lanes[Count++] = uint8_t((1u << LineShift) / Bytes);
    }
  }

  unsigned LineShift;

private:
  void add(uint64_t Number, unsigned Times);
};

/// Lanes from the first on that an access with this EXEC can involve.
inline unsigned lanesOf(uint64_t Exec) { return Exec >> 32 ? 64 : 32; }

/// Of the lanes' accesses, a bit a lane.
struct LinePattern {
  uint64_t Begins = 0;    ///< Another line than the lane before.
  uint64_t Straddles = 0; ///< More than one line.
};

/// \p Lanes is 32 or 64; all have an address, active or not. The second one is for
/// hosts that have AVX2.
LinePattern linePattern(const uint64_t *Address, unsigned Lanes, unsigned Bytes, unsigned LineShift);
LinePattern linePatternAvx2(const uint64_t *Address, unsigned Lanes, unsigned Bytes,
                            unsigned LineShift);

/// Bank conflicts, remembered by instruction: one that has conflicts mostly has the
/// same pattern again and again, moved as a whole.
class ConflictMemo {
public:
  /// Cycles beyond the conflict-free ones that LDS needs for these lanes.
  unsigned ldsConflicts(uint64_t Pc, const uint32_t *Address, uint64_t Exec, unsigned Dwords);

private:
  static constexpr unsigned Entries = 64;
  struct Entry {
    uint64_t Pc = 0, Exec = 0;
    uint32_t Low = 0, Dwords = 0, Cycles = 0; ///< Low: address bits 1..0 of lane 0.
    alignas(64) uint32_t Delta[64];
  };
  Entry Known[Entries];
};

} // namespace vgpu
#endif
