//===- Bandwidth.h - A shared resource that serves so many a cycle ----------===//
//
// Requests do not arrive here in order of modelled time: compute units are run
// one after the other, each for a window of cycles. So a resource is not a
// "free from" time but a count for each stretch of 64 cycles, and a request
// takes the first stretch from its own time on that still has room.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_MACHINE_BANDWIDTH_H
#define VGPU_MACHINE_BANDWIDTH_H

#include <cstdint>
#include <vector>

namespace vgpu {

class Bandwidth {
public:
  /// Serves \p Capacity requests every 64 cycles.
  explicit Bandwidth(unsigned Capacity) : Capacity(Capacity), Ring(Stretches) {}

  void reset() {
    Ring.assign(Stretches, Stretch());
    FullFrom = FullTo = 0;
  }

  /// Takes \p Requests places at \p Time or later; returns when.
  uint64_t claim(uint64_t Time, unsigned Requests) {
    uint64_t Number = Time >> 6;
    if (Number >= FullFrom && Number < FullTo)
      Number = FullTo;
    const uint64_t First = Number;
    for (;; ++Number) {
      Stretch &S = Ring[Number & (Stretches - 1)];
      if (S.Number != Number) {
        if (S.Number > Number) // Older than the ring remembers.
          return Time;
        S = {Number, 0};
      }
      if (S.Used < Capacity) {
        S.Used += Requests;
        break;
      }
    }
    if (Number != First || First != Time >> 6) {
      if (FullTo != First || FullFrom > Time >> 6)
        FullFrom = Time >> 6;
      FullTo = Number;
    }
    return Number == Time >> 6 ? Time : Number << 6;
  }

private:
  static constexpr unsigned Stretches = 4096;
  struct Stretch {
    uint64_t Number = 0;
    uint32_t Used = 0;
  };
  unsigned Capacity;
  std::vector<Stretch> Ring;
  uint64_t FullFrom = 0, FullTo = 0; ///< Stretches known to be full: [From, To).
};

} // namespace vgpu
#endif
