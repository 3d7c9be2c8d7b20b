//===- Driver.h - The stand-in for the kernel driver, one per process -------===//
//
// Owns memory, events, devices and queues, and ties them together. The hsaKmt*
// functions (Api*.cpp) are a thin layer over it.
//
// Life: made at the first hsaKmtOpenKFD and never destroyed, so that no order of
// static destructors can pull it away from a thread. Its threads end when the
// process unloads this library, which is after ROCr and HIP have run their own
// clean-up (they depend on it). In the child of a fork there are no threads and
// every call fails, as the real driver does for a child that did not open it; a
// child that rings a doorbell is told so and aborted.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_THUNK_DRIVER_H
#define VGPU_THUNK_DRIVER_H

#include "machine/Device.h"
#include "thunk/CodeObjects.h"
#include "thunk/Events.h"
#include "thunk/Memory.h"
#include "thunk/Queue.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace vgpu {

class Driver;

/// A GPU node.
class GpuNode final : public PacketExecutor {
public:
  GpuNode(Driver &Owner, uint32_t Node, DeviceConfig Config);

  DispatchResult run(DispatchArgs &Args) override;
  void hold() override { device().hold(); }
  void release() override { device().release(); }
  uint64_t now() override { return device().realTimeNow(); }
  void signalChanged(uint32_t EventId) override;
  void report(const Fault &Problem) override;

  Device &device();
  const DeviceConfig &config() const { return Config; }
  uint32_t node() const { return Node; }

private:
  Driver &Owner;
  const uint32_t Node;
  const DeviceConfig Config;
  NodeAddressSpace Space;
  std::once_flag Made;
  std::unique_ptr<Device> Gpu; ///< Made when first used.
};

class Driver {
public:
  static Driver &get();

  /// Reads KPROBE_VGPU; says on stderr what is wrong with it, if anything.
  HSAKMT_STATUS open();
  HSAKMT_STATUS close();
  /// False before open() and in the child of a fork.
  bool isOpen() const { return OpenCount.load(std::memory_order_acquire) > 0 && !Forked; }
  bool isForkedChild() const { return Forked; }

  const std::vector<DeviceConfig> &gpus() const { return Configs; }
  bool isGpu(uint32_t Node) const { return Node >= 1 && Node <= Configs.size(); }
  /// \p Node must be a GPU.
  GpuNode &gpu(uint32_t Node) { return *Nodes[Node - 1]; }

  HSAKMT_STATUS createQueue(uint32_t Node, HSA_QUEUE_TYPE Type, void *Ring, uint64_t RingBytes,
                            HsaQueueResource &Resource);
  HSAKMT_STATUS destroyQueue(HSA_QUEUEID Id);
  HSAKMT_STATUS suspendQueue(HSA_QUEUEID Id, bool Suspended);
  bool hasQueue(HSA_QUEUEID Id);
  /// Gives the queue the device's global wave sync resources. One queue a device
  /// can have them, as with the real driver.
  HSAKMT_STATUS grantGlobalSync(HSA_QUEUEID Id, uint32_t Count, uint32_t *First);

  /// The program is about to wait: no queue may sleep over a packet.
  void kickQueues();
  /// Notes what has come into queues, if nobody is at them.
  void lookAtQueues();
  /// A signal changed: barrier packets may be satisfied.
  void kickWaiters();

  MemoryRanges Memory;
  EventTable Events;
  CodeObjects Code;

private:
  Driver();
  bool configure();
  void stopQueues();
  void childAfterFork();
  static void atUnload() __attribute__((destructor));

  static Driver *Instance;

  std::mutex Lock; ///< Of what follows.
  std::map<HSA_QUEUEID, std::unique_ptr<Queue>> Queues;
  std::map<HSA_QUEUEID, uint32_t> QueueNode;
  std::vector<DeviceConfig> Configs;
  std::vector<std::unique_ptr<GpuNode>> Nodes;
  std::vector<uint32_t> FreeDoorbells;
  char *Doorbells = nullptr;
  HSA_QUEUEID NextQueue = 1;
  std::atomic<unsigned> OpenCount{0};
  bool Forked = false;
};

} // namespace vgpu
#endif
