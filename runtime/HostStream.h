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
// A signal handler may record while its own thread does, at any instruction: it
// takes the room behind, in one instruction, and its event is published together
// with the one that it interrupted:
//
//   thread   open A .......................... publish A --> Head is behind B
//   handler          open B .. publish B
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

  // Room for an event, or null (which is counted). Each room is published.
  uint8_t *open(uint64_t EventBytes, uint64_t Spare) {
    ++Depth;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    uint64_t From = Writing, Place, Padding;
    do {
      Place = From & (Bytes - 1);
      Padding = Place + EventBytes > Bytes ? Bytes - Place : 0;
      uint64_t Needed = From + Padding + EventBytes + Spare - Bytes;
      if (int64_t(Needed - TailSeen) > 0) {
        TailSeen = Tail.load(std::memory_order_acquire);
        if (int64_t(Needed - TailSeen) > 0) {
          Lost.fetch_add(1, std::memory_order_relaxed);
          leave();
          return nullptr;
        }
      }
    } while (!advance(From, From + Padding + EventBytes));
    if (Padding) {
      pad(Place, Padding);
      Place = 0;
    }
    return Ring + Place;
  }

  // The event that open() made room for is whole. True when the drain should
  // be woken.
  bool publish() {
    if (!leave() || Writing - WokenAt < Bytes / 4)
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
  // Writing = To if nobody has come between; else From is what it became. One
  // instruction; only this thread's handlers count, so it need not lock the bus.
  bool advance(uint64_t &From, uint64_t To) {
#if defined(__x86_64__)
    bool Done;
    asm volatile("cmpxchgq %[To], %[Writing]"
                 : "=@cce"(Done), "+a"(From), [Writing] "+m"(Writing)
                 : [To] "r"(To)
                 : "memory");
    return Done;
#else
    return __atomic_compare_exchange_n(&Writing, &From, To, false,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
  }

  // Only who began to write alone publishes: what it interrupted is not whole.
  // False for the others.
  bool leave() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (Depth > 1) {
      --Depth;
      return false;
    }
    for (;;) {
      uint64_t End = Writing;
      Head.store(End, std::memory_order_release);
      std::atomic_signal_fence(std::memory_order_seq_cst);
      Depth = 0;
      std::atomic_signal_fence(std::memory_order_seq_cst);
      // A handler that came before Depth was 0 has left its event to us.
      if (Writing == End)
        return true;
      Depth = 1;
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
  }
  void pad(uint64_t Place, uint64_t Count);

  uint32_t Depth = 0; // of those who write: this thread, its handlers
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
