//===- Queue.h - One AQL queue and its packet processor ---------------------===//
//
// A queue is a thread that takes packets out of the ring buffer in order, runs
// them to their end and completes their signal, as the command processor's
// queue does. It is apart from the driver, behind PacketExecutor, so that tests
// can drive it without a device.
//
// How a packet is noticed. ROCr rings by a plain 64-bit store, so there is
// nobody to wake this thread. It looks at the doorbell: at once again while
// packets keep coming (SpinTime), then between sleeps that grow to IdlePeriod.
// A program that waits for a result enters the driver soon after, and every
// such entry calls kick(), which ends the sleep: so the long sleeps cost no
// latency to a program that waits by blocking.
// Latency and idle load are measured in tools/vgpu/thunk/README.md.
//
// What runs beside what. Packets of one queue run one after the other, whether
// they carry a barrier bit or not. Queues are separate threads; kernels of several
// queues share their device in modelled time, so a kernel may spin on memory that
// the host or a kernel of another queue writes.
//
// When a packet begins, in modelled time: when its predecessor has ended, what it
// waits for has happened (signals that the device completed carry that time) and it
// was in the queue; the latest of these. Nothing stamps the latter: it is the time
// at which somebody first saw it there (look), which is never too early and seldom
// much too late. The queue's own thread looks when it has nothing else to do, the
// one that runs the device after each compute unit, and every entry into the driver.
// While a queue is on its way from one packet to the next it holds the device
// (Device::hold), so that others do not run ahead meanwhile.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_THUNK_QUEUE_H
#define VGPU_THUNK_QUEUE_H

#include "machine/Device.h"
#include "thunk/Packets.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

namespace vgpu {

/// What a queue needs of the device and the driver around it.
class PacketExecutor {
public:
  virtual ~PacketExecutor() = default;
  /// Runs \p Args on the device to its end, or until Args.Cancel is set (then:
  /// Faulted with FaultCause::Cancelled).
  virtual DispatchResult run(DispatchArgs &Args) = 0;
  /// Device::hold and Device::release.
  virtual void hold() {}
  virtual void release() {}
  /// The device's real-time clock, in ticks.
  virtual uint64_t now() = 0;
  /// A signal was changed by the device: its event must be set, and queues
  /// whose barrier packets look at signals should look again.
  virtual void signalChanged(uint32_t EventId) = 0;
  /// Tells the user and, for a memory fault, ROCr.
  virtual void report(const Fault &Problem) = 0;
};

class Queue {
public:
  struct Config {
    uint32_t Id = 0;
    void *Ring = nullptr;
    uint64_t RingBytes = 0;
    amd_queue_t *Descriptor = nullptr;
    uint64_t *Doorbell = nullptr; ///< Holds ~0 until the first ring.
  };

  Queue(const Config &Setup, PacketExecutor &Executor);
  /// Cancels what is running and joins the thread.
  ~Queue();
  Queue(const Queue &) = delete;
  Queue &operator=(const Queue &) = delete;

  /// Notes the packets that have come and when that was. From any thread; cheap
  /// when there are none. True if there were.
  bool look();
  /// Looks, and ends a sleep if there is something to do.
  void kick();
  /// Ends a sleep of a queue that waits for a signal.
  void kickWaiter();
  /// What hsaKmtAllocQueueGWS gave this queue.
  void setGlobalResources(uint32_t Count) { GlobalResources = Count; }
  uint32_t globalResources() const { return GlobalResources; }
  /// A suspended queue takes no further packet.
  void suspend(bool Suspended);
  /// Asks the thread to end; does not wait.
  void cancel();
  /// Waits for the thread to end, at most \p Limit; true when it has. After
  /// false the thread is left alone (the process is about to end).
  bool joinFor(std::chrono::milliseconds Limit);
  /// In the child of a fork: there is no thread to join.
  void abandon();

  const Config &config() const { return Setup; }

private:
  enum class Outcome { Next, Stop };

  void work();
  char *slot(uint64_t Index) const {
    return static_cast<char *>(Setup.Ring) + Index * PacketBytes % Setup.RingBytes;
  }
  bool waitForPacket();
  bool ready();
  Outcome process(uint64_t Index);
  uint64_t seenAt(uint64_t Index);
  uint64_t arrival(uint64_t Index) { return std::max(LastTick, seenAt(Index)); }
  template <typename Condition>
  bool passSignals(const hsa_signal_t *Signals, unsigned Count, bool All, Condition Met,
                   uint64_t &Time);
  void settle();
  Outcome dispatch(uint64_t Index, hsa_kernel_dispatch_packet_t &Packet);
  bool requestScratch(bool Wave32);
  bool returnScratch();
  template <typename Condition> bool waitUntil(Condition Met);
  Outcome fail(const Fault &Problem);
  Outcome queueError(uint64_t Code, const char *What);
  void retire(uint64_t Index, void *Packet);
  void complete(hsa_signal_t Handle, uint64_t Start, uint64_t End);
  void storeInactive(int64_t Value);
  void sleepFor(std::chrono::nanoseconds Time);
  void wake();

  Config Setup;
  PacketExecutor &Executor;
  uint64_t ReadIndex = 0;
  uint64_t LastTick = 0; ///< When the packet before this one ended.

  /// Packets below Before, and from the last arrival's on, were seen at Tick.
  struct Arrival {
    uint64_t Before, Tick;
  };
  std::mutex LookLock;           ///< Of the next two.
  uint64_t Limit = 0;            ///< Packets below this one were rung for.
  std::deque<Arrival> Arrivals;  ///< Of packets from ReadIndex on.
  std::atomic<uint64_t> Seen{0}; ///< Packets below this one have come.
  std::atomic<bool> Incomplete{false}; ///< One below Limit is reserved, not written.
  std::atomic<bool> Held{false}; ///< This queue holds the device.
  std::atomic<uint64_t> LastBell{~uint64_t(0)};
  std::atomic<uint32_t> WakeWord{0}; ///< Futex.
  std::atomic<bool> Asleep{false}, WaitsForSignal{false};
  std::atomic<bool> Stop{false}, Suspended{false};
  std::atomic<bool> Ended{false};
  std::atomic<uint32_t> GlobalResources{0};
  std::thread Thread;
};

} // namespace vgpu
#endif
