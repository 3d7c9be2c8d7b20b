//===- Events.h - Driver events, their mailboxes and their waiters ----------===//
//
// What a process waits on when it waits for the device. An event is set by the
// host (hsaKmtSetEvent), by the packet processor when a completion signal names
// it, or by a wave that wrote the event's mailbox and sent an interrupt.
//
// The rules are the kernel driver's: setting an auto-reset event wakes everyone
// who waits for it at that moment and leaves it reset; with nobody waiting it
// stays set for the next one who asks.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_THUNK_EVENTS_H
#define VGPU_THUNK_EVENTS_H

#include <hsakmt.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace vgpu {

class EventTable {
public:
  /// As many as the kernel driver's 4096 times 16, so that programs with many
  /// signals never fall back to polling.
  static constexpr uint32_t MaxEvents = 65536;
  /// Content of a mailbox that nobody has written to.
  static constexpr uint64_t EmptyMailbox = ~uint64_t(0);

  EventTable();
  ~EventTable();
  EventTable(const EventTable &) = delete;
  EventTable &operator=(const EventTable &) = delete;

  HSAKMT_STATUS create(const HsaEventDescriptor &Descriptor, bool ManualReset, bool IsSignaled,
                       HsaEvent **Event);
  HSAKMT_STATUS destroy(HsaEvent *Event);
  HSAKMT_STATUS set(HsaEvent *Event);
  HSAKMT_STATUS reset(HsaEvent *Event);
  /// Success when set, WAIT_TIMEOUT when not; does not reset.
  HSAKMT_STATUS query(HsaEvent *Event);
  /// Milliseconds 0 = only look, ~0 = for ever.
  HSAKMT_STATUS wait(HsaEvent *Events[], uint32_t Count, bool All, uint32_t Milliseconds);

  /// The packet processor's: the whole id is known.
  void setById(uint32_t EventId);
  /// A wave's interrupt carries at least the low eight bits of the id. The
  /// mailboxes say which of the events that agree in those bits was meant; when
  /// none does, every event whose mailbox was written.
  void interrupt(uint32_t PartialId);
  /// Sets every memory-exception event, with \p Fault as its data.
  void raiseMemoryFault(const HsaMemoryAccessFault &Fault);

  void *mailboxes() const { return Mailboxes; }
  static constexpr uint64_t mailboxBytes() { return MaxEvents * sizeof(uint64_t); }

  /// In the child of a fork: nobody holds the lock, nobody waits.
  void resetAfterFork();

private:
  struct Waiter;
  struct Object;

  Object *lookup(HsaEvent *Event);
  bool hasMail(uint32_t EventId) const;
  void clearMail(uint32_t EventId);
  void signal(Object &Target);

  std::mutex Lock;
  std::vector<Object *> Objects; ///< By event id; 0 is never given out.
  /// Handles are looked up without a look into them: they may be stale.
  std::unordered_map<const HsaEvent *, Object *> Handles;
  std::vector<uint32_t> FreeIds;
  uint64_t *Mailboxes = nullptr; ///< Waves write them: accessed atomically.
};

} // namespace vgpu
#endif
