//===- Device.h - A GPU that runs AQL dispatches ----------------------------===//
//
// The seam between the packet processor (thunk), which owns queues, signals and
// memory regions, and the machine, which executes. The packet processor hands
// over a kernel dispatch packet that is ready to run; the machine executes all
// of its work items and says how that ended. Nothing here touches a completion
// signal, an event or a queue's read index: those are the packet processor's.
//
// Every time and cycle count that comes out of here is modelled.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_MACHINE_DEVICE_H
#define VGPU_MACHINE_DEVICE_H

#include "machine/DeviceConfig.h"

#include <hsa/amd_hsa_queue.h>
#include <hsa/hsa.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace vgpu {

/// Host memory that a program registers has an address of its own on the device
/// (HIP relies on that): the host's with this bit set, which no host address
/// has. The device ignores the bit wherever it computes an address.
constexpr uint64_t HostAliasBit = uint64_t(1) << 47;
constexpr uint64_t hostAddress(uint64_t Address) { return Address & ~HostAliasBit; }

/// Where the driver puts what it allocates, the same in each run of a program, so that
/// the modelled caches behave the same. Neither programs nor the kernel's own choices
/// come near this part.
#ifdef __SANITIZE_THREAD__ // Has most of the address space for itself.
constexpr uint64_t FirstOwnAddress = uint64_t(0x7e90) << 32;
constexpr uint64_t LastOwnAddress = uint64_t(0x7f00) << 32;
#else
constexpr uint64_t FirstOwnAddress = uint64_t(0x2000) << 32;
constexpr uint64_t LastOwnAddress = uint64_t(0x4000) << 32;
#endif

/// Global wave sync resources of a device (ds_gws_*).
constexpr uint32_t GlobalSyncResources = 64;

/// A run of addresses [Begin, End) that the device may use; empty = none.
struct MemoryRegion {
  uint64_t Begin = 0, End = 0;
  bool Writable = true;
  explicit operator bool() const { return End > Begin; }
};

/// What the GPU's page tables would say. Implemented by the thunk; called from
/// threads that are in Device::run. Host pointers are device addresses.
class AddressSpace {
public:
  virtual ~AddressSpace() = default;
  /// The widest known region around \p Address, or an empty one. The machine
  /// keeps the answer until generation() changes.
  virtual MemoryRegion lookup(uint64_t Address) = 0;
  /// Must change (any other value) whenever a region was removed or shrunk.
  virtual uint64_t generation() = 0;
  /// For a person: how \p Address lies to the nearest region, "16 bytes past the
  /// end of …"; "" where nothing is known.
  virtual std::string describe(uint64_t) { return ""; }
};

/// A line of source code for an address in a kernel.
struct SourceFrame {
  std::string File, Function; ///< Function: as the linker names it; may be "".
  unsigned Line = 0, Column = 0;
};

/// What a code object's symbols and debug information say about an address.
struct CodePlace {
  std::string Function; ///< Symbol; "" if no code object has this address.
  uint64_t Begin = 0;   ///< Of that function.
  /// Innermost first; each further frame is where the one before was inlined.
  std::vector<SourceFrame> Frames;
};

enum class FaultCause {
  Memory,             ///< Address outside every region, or a store to a read-only one.
  Misaligned,         ///< Atomic on an address that is no multiple of its size.
  LocalMemory,        ///< LDS address out of the workgroup's allocation.
  Stack,              ///< Beyond the scratch memory of a work item.
  IllegalInstruction, ///< Unknown encoding, or a known one that is not modelled.
  Trap,               ///< s_trap 2: abort() or a failed assert.
  Deadlock,           ///< No wave can ever run again (barrier not reached by all).
  CycleLimit,         ///< DeviceConfig::MaxCycles exceeded.
  InvalidPacket,      ///< Packet or kernel descriptor that cannot be launched.
  Cancelled,          ///< DispatchArgs::Cancel was set.
};

/// Lower-case name, "memory fault", "illegal instruction", ….
const char *faultCauseName(FaultCause Cause);

struct Fault {
  FaultCause Cause = FaultCause::Memory;
  uint64_t Address = 0; ///< For Memory, Misaligned, LocalMemory and Stack.
  bool IsWrite = false;
  /// What the command processor or trap handler would leave in the queue's
  /// queue_inactive_signal for ROCr to read (0 for Memory: that one is reported
  /// by the memory-exception event instead). ROCr 5.2.3 decodes
  /// (AqlQueue::DynamicScratchHandler): 2 bad dimensions, 4 bad group memory,
  /// 8 bad code, 32 bad packet, 64 group too large, 128 out of registers,
  /// 0x20000000 memory violation (its trap handler's answer to TRAPSTS.MEM_VIOL,
  /// which misaligned and LDS accesses raise), 0x40000000 illegal instruction,
  /// 0x80000000 s_trap 2; it stands here for what hardware has no code for, too.
  uint64_t QueueError = 0;
  std::string Kernel;             ///< Name, or "0x…" of the kernel object.
  uint32_t Workgroup[3] = {};     ///< Workgroup id x, y, z.
  uint32_t Wave = 0;              ///< Wave in the workgroup.
  int Lane = -1;                  ///< -1: the whole wave.
  uint64_t Pc = 0, KernelPc = 0;  ///< Absolute; relative to the kernel's entry.
  std::string Disassembly;        ///< Of the instruction at Pc.
  std::vector<std::string> Lines; ///< The message for a person (FaultText.h).
};

enum class DispatchStatus {
  Completed,
  /// The kernel needs more scratch than the queue has (its private_segment_size
  /// against scratch_wave64_lane_byte_size and compute_tmpring_size). No work
  /// item has run. The packet processor does what the CP does: store 1 to the
  /// queue's queue_inactive_signal, leave the packet and the read index in
  /// place (ROCr reads the packet at the read index), wait until ROCr has stored
  /// 0 back, and call run() again with the same packet. When the value is
  /// negative (ROCr tears the queue down) it stops.
  NeedsScratch,
  Faulted,
};

struct DispatchResult {
  DispatchStatus Status = DispatchStatus::Completed;
  /// Device real-time ticks (DeviceConfig::RealTimeMHz), for start_ts/end_ts.
  uint64_t StartTick = 0, EndTick = 0;
  uint64_t Cycles = 0;         ///< Modelled engine cycles from start to end.
  uint64_t ScratchPerLane = 0; ///< With NeedsScratch: bytes a work item needs,
  bool ScratchWave32 = false;  ///< in waves of 32 lanes.
  struct Fault Fault;          ///< With Faulted.
};

struct DispatchArgs {
  const hsa_kernel_dispatch_packet_t *Packet = nullptr; ///< In the ring buffer.
  amd_queue_t *Queue = nullptr;
  uint64_t DispatchId = 0; ///< Packet index in its queue.
  uint32_t QueueId = 0;    ///< For the log only.
  /// Name for a kernel object (address of its descriptor); may be null.
  std::function<std::string(uint64_t KernelObject)> KernelName;
  /// Function and source lines of an address in code; may be null.
  std::function<CodePlace(uint64_t Pc)> Place;
  /// s_sendmsg MSG_INTERRUPT: a wave stored \p EventId (M0) in a mailbox and
  /// asks the host's driver to set that event (hostcall, device signals).
  std::function<void(uint32_t EventId)> Interrupt;
  /// When set by another thread, the dispatch ends with FaultCause::Cancelled.
  const std::atomic<bool> *Cancel = nullptr;
  /// Global wave sync resources that the queue has, from number 0 on.
  uint32_t GlobalResources = 0;
  /// Called often while the dispatch runs, from whichever thread drives the device:
  /// what happens meanwhile and has no voice of its own (doorbells) may be looked at.
  std::function<void()> Look;
  /// Tick at which the packet could begin: when it was in its queue, the packet
  /// before it had ended and what it waits for had happened. 0: when it comes.
  uint64_t ReadyTick = 0;
  /// The caller's share in Device::hold, or null: set when the dispatch has
  /// ended, and given back by the next run() that has it.
  std::atomic<bool> *Held = nullptr;
};

/// Thread-safe. Dispatches of several threads run at the same time, in modelled
/// time, as there is room: one of the threads in run() drives the machine for all.
///
/// Time and order. The real-time clock is CLOCK_MONOTONIC, and cause comes before
/// effect on it: a dispatch begins at its ReadyTick, or where the model stands if
/// that is later (then the model is slower than the device would be: the usual
/// case); run() returns no earlier than the modelled end, and modelled time does
/// not run ahead of the host's.
class Device {
public:
  /// \p Memory must outlive the device. Reads KPROBE_VGPU_LOG, KPROBE_VGPU_LOG_PCS,
  /// KPROBE_VGPU_STATS, KPROBE_VGPU_MAX_CYCLES and KPROBE_VGPU_THREADS.
  Device(DeviceConfig Config, AddressSpace &Memory);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const DeviceConfig &config() const;

  DispatchResult run(const DispatchArgs &Args);

  /// Modelled time stands still while anybody holds the device: a queue whose
  /// dispatch has ended may have another one that begins right then, and no other
  /// queue is to run ahead meanwhile. Whoever holds must soon run() or release().
  void hold();
  void release();

  /// The device's real-time clock now, in ticks: CLOCK_MONOTONIC scaled
  /// (GPUClockCounter).
  uint64_t realTimeNow() const;

  /// Writes what is still buffered of log and statistics. Also done at the end
  /// of each dispatch.
  void flush();

private:
  class Impl;
  std::unique_ptr<Impl> State;
};

} // namespace vgpu
#endif
