//===- CacheModel.h - Which lines a cache would hold ------------------------===//
//
// A set-associative tag store with least-recently-used replacement. It holds no
// data: memory is read and written at once, and the tags only decide how long
// that would have taken.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_MACHINE_CACHEMODEL_H
#define VGPU_MACHINE_CACHEMODEL_H

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vgpu {

class CacheModel {
public:
  /// \p Bytes, \p LineBytes and \p Ways give a power-of-two number of sets.
  CacheModel(unsigned Bytes, unsigned LineBytes, unsigned Ways) : Ways(Ways) {
    LineShift = 0;
    while ((1u << LineShift) < LineBytes)
      ++LineShift;
    unsigned Sets = Bytes / LineBytes / Ways;
    assert(Sets && (Sets & (Sets - 1)) == 0 && "sets must be a power of two");
    SetMask = Sets - 1;
    Tags.assign(size_t(Sets) * Ways, Empty);
  }

  unsigned lineShift() const { return LineShift; }

  /// Looks \p Line up (an address shifted right by lineShift()) and makes it the
  /// most recently used of its set, bringing it in if needed. True on a hit.
  bool access(uint64_t Line) {
    uint64_t *Set = &Tags[setOf(Line) * Ways];
    if (Set[0] == Line)
      return true;
    for (unsigned Way = 1; Way < Ways; ++Way)
      if (Set[Way] == Line) {
        moveToFront(Set, Way, Line);
        return true;
      }
    moveToFront(Set, Ways - 1, Line);
    Filled = true;
    return false;
  }

  /// True when \p Line is present; changes nothing.
  bool contains(uint64_t Line) const {
    const uint64_t *Set = &Tags[setOf(Line) * Ways];
    for (unsigned Way = 0; Way < Ways; ++Way)
      if (Set[Way] == Line)
        return true;
    return false;
  }

  /// Costs nothing when there is nothing to clear.
  void clear() {
    if (Filled)
      Tags.assign(Tags.size(), Empty);
    Filled = false;
  }

  /// \p Line will be looked up soon: its set is to be in the host's cache by then.
  void prefetch(uint64_t Line) const {
    const uint64_t *Set = &Tags[setOf(Line) * Ways];
    for (unsigned Way = 0; Way < Ways; Way += 8)
      __builtin_prefetch(Set + Way, 1);
  }

private:
  static constexpr uint64_t Empty = ~uint64_t(0);

  /// Folds upper bits in, so that power-of-two strides do not meet in one set.
  size_t setOf(uint64_t Line) const { return (Line ^ (Line >> 10) ^ (Line >> 20)) & SetMask; }
  static void moveToFront(uint64_t *Set, unsigned Way, uint64_t Line) {
    for (; Way > 0; --Way)
      Set[Way] = Set[Way - 1];
    Set[0] = Line;
  }

  bool Filled = false; ///< Since the last clear().
  unsigned Ways, LineShift;
  uint64_t SetMask;
  std::vector<uint64_t> Tags;
};

} // namespace vgpu
#endif
