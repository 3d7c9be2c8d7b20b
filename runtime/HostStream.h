// One thread's stream of host events: a ring that the thread writes and the
// drain thread empties, without a lock or a wait on either side.
//
//   Tail                     Head                          Head + Bytes
//    |  published events      |  free, of which Reserved    |
//    '--- drain reads --------'--- thread writes -----------'
//
// Head and Tail only grow; a place is `Head & (Bytes - 1)`. An event never
// crosses the ring's end: padding fills what is left there. The thread stores
// Head with release after an event is whole, the drain loads it with acquire;
// the drain stores Tail with release when it has copied, the thread loads it
// with acquire before it writes there again.
//
// Whoever records the begin of a call can record its end: room for that is set
// aside. Everything else that finds no room is dropped and counted.
#ifndef KPROBE_RUNTIME_HOSTSTREAM_H
#define KPROBE_RUNTIME_HOSTSTREAM_H

#include "LargePages.h"

#include "kprobe/wire.h"

#include <atomic>
#include <cstddef>
#include <ctime>

namespace kprobe {

class HostStream {
public:
  // Bytes of an end with all its out parameters; twice, for the padding.
  static constexpr uint64_t MostEndBytes = 256;
  static constexpr uint64_t EndReserve = 2 * MostEndBytes;

  // Bytes: a power of two.
  HostStream(uint8_t *Ring, uint64_t Bytes, uint32_t Number, uint32_t ThreadId)
      : Ring(Ring), Bytes(Bytes), Number(Number), ThreadId(ThreadId) {}

  // -------------------------------------------------- only on its own thread

  // Room for an event, or null (which is counted). Until publish() the stream
  // is busy: a signal handler that records meanwhile gets null.
  uint8_t *open(uint64_t EventBytes, uint64_t Spare) {
    if (Busy) {
      Lost.fetch_add(1, std::memory_order_relaxed);
      return nullptr;
    }
    Busy = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    uint64_t Place = Writing & (Bytes - 1);
    uint64_t Padding = Place + EventBytes > Bytes ? Bytes - Place : 0;
    uint64_t Needed = Writing + Padding + EventBytes + Spare - Bytes;
    if (int64_t(Needed - TailSeen) > 0) {
      TailSeen = Tail.load(std::memory_order_acquire);
      if (int64_t(Needed - TailSeen) > 0) {
        Lost.fetch_add(1, std::memory_order_relaxed);
        leave();
        return nullptr;
      }
    }
    if (Padding) {
      pad(Place, Padding);
      Writing += Padding;
      Place = 0;
    }
    Writing += EventBytes;
    return Opened = Ring + Place;
  }
  // The event that open() made room for last.
  const uint8_t *opened() const { return Opened; }

  // The event that open() made room for is whole. True when the drain should
  // be woken.
  bool publish() {
    Head.store(Writing, std::memory_order_release);
    leave();
    if (Writing - WokenAt < Bytes / 4)
      return false;
    WokenAt = Writing;
    return true;
  }

  // An event that was not even tried.
  void lose() { Lost.fetch_add(1, std::memory_order_relaxed); }

  uint64_t Current = 0;  // innermost call that is recorded
  uint64_t Calls = 0;    // recorded so far
  uint64_t Reserved = 0; // for ends of calls that are open

  // ----------------------------------------------------- only on the drain's

  struct Span {
    const uint8_t *Data;
    size_t Bytes;
  };
  // Whole events from the oldest on, at most about Most bytes, contiguous.
  Span readable(size_t Most) const;
  void consume(size_t Count) {
    Tail.store(Tail.load(std::memory_order_relaxed) + Count,
               std::memory_order_release);
  }
  // Whether there ever was an event, written or lost.
  bool used() const {
    return Head.load(std::memory_order_relaxed) != 0 || lost() != 0;
  }
  uint64_t lost() const { return Lost.load(std::memory_order_relaxed); }

  uint8_t *const Ring;
  const uint64_t Bytes;
  const uint32_t Number;
  const uint32_t ThreadId;
  TouchedInOrder Memory; // that Ring is in
  bool Announced = false;
  uint64_t LostTold = 0;
  uint64_t NameReadNs = 0;
  char Name[16] = {};

  // Set with release by the dying thread behind its last event and its name.
  std::atomic<bool> Closed{false};
  char LastName[16] = {};

private:
  void leave() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    Busy = false;
  }
  void pad(uint64_t Place, uint64_t Count);

  bool Busy = false;
  uint8_t *Opened = nullptr;
  uint64_t Writing = 0;
  uint64_t TailSeen = 0;
  uint64_t WokenAt = 0;
  alignas(64) std::atomic<uint64_t> Head{0};
  std::atomic<uint64_t> Lost{0};
  alignas(64) std::atomic<uint64_t> Tail{0};
};

inline uint64_t hostNowNs() {
  struct timespec Now;
  clock_gettime(CLOCK_MONOTONIC, &Now);
  return uint64_t(Now.tv_sec) * 1000000000ull + uint64_t(Now.tv_nsec);
}

} // namespace kprobe

#endif
