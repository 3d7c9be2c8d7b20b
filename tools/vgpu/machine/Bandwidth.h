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
  explicit Bandwidth(unsigned Capacity, unsigned Stretches = 4096)
      : Capacity(Capacity), Mask(Stretches - 1), Ring(Stretches) {}

  /// Forgets everything: what the ring holds becomes older than any request.
  void reset() {
    Era += uint64_t(1) << 40;
    FullFrom = FullTo = 0;
  }

  /// Takes \p Requests places at \p Time or later; returns when the first of
  /// them is served.
  uint64_t claim(uint64_t Time, unsigned Requests) {
    uint64_t Number = Time >> 6;
    if (Number >= FullFrom && Number < FullTo)
      Number = FullTo;
    const uint64_t First = Number;
    uint64_t Served = ~uint64_t(0);
    for (;; ++Number) {
      Stretch &S = Ring[Number & Mask];
      if (S.Number != Era + Number) {
        if (S.Number > Era + Number) // Older than the ring remembers.
          return Time;
        S = {Era + Number, 0};
      }
      if (S.Used >= Capacity)
        continue;
      if (Served == ~uint64_t(0))
        Served = Number == Time >> 6 ? Time : Number << 6;
      unsigned Taken = Requests < Capacity - S.Used ? Requests : Capacity - S.Used;
      S.Used += Taken;
      Requests -= Taken;
      if (!Requests)
        break;
    }
    // Everything passed over is full; remember it so that the next one jumps.
    if (Number != First || First != Time >> 6) {
      if (FullTo != First || FullFrom > Time >> 6)
        FullFrom = Time >> 6;
      FullTo = Number;
    }
    return Served;
  }

private:
  struct Stretch {
    uint64_t Number = 0;
    uint32_t Used = 0;
  };
  unsigned Capacity;
  uint64_t Mask;
  uint64_t Era = uint64_t(1) << 40;
  std::vector<Stretch> Ring;
  uint64_t FullFrom = 0, FullTo = 0; ///< Stretches known to be full: [From, To).
};

} // namespace vgpu
#endif
