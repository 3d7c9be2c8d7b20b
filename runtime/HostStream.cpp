// The slow ends of a stream: padding, and cutting it into whole events.
#include "HostStream.h"

#include <cstring>

namespace kprobe {

// Bytes of an event is 16 bits wide; padding is cut to fit.
void HostStream::pad(uint64_t Place, uint64_t Count) {
  constexpr uint64_t Most = 0xfff8;
  while (Count > 0) {
    uint64_t Piece = Count < Most ? Count : Most;
    const uint16_t Head[4] = {uint16_t(Piece), KPROBE_HOST_PADDING, 0, 0};
    std::memcpy(Ring + Place, Head, sizeof(Head));
    Place += Piece;
    Count -= Piece;
  }
}

HostStream::Span HostStream::readable(size_t Most) const {
  uint64_t Begin = Tail.load(std::memory_order_relaxed);
  uint64_t End = Head.load(std::memory_order_acquire);
  uint64_t Place = Begin & (Bytes - 1);
  uint64_t Limit = Bytes - Place;
  if (End - Begin < Limit)
    Limit = End - Begin;
  uint64_t Taken = 0;
  while (Taken < Limit && Taken < Most) {
    uint16_t Size;
    std::memcpy(&Size, Ring + Place + Taken, sizeof(Size));
    Taken += Size;
  }
  return {Ring + Place, size_t(Taken)};
}

} // namespace kprobe
