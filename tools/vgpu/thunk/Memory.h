//===- Memory.h - The device's address space, as the driver keeps it --------===//
//
// Every range that ROCr allocated, registered or mapped, so that pointer queries
// can be answered and the machine can tell a wild address from a good one. Host
// and device share one address space here: an allocation is an anonymous mapping
// and its device address is its host address. Only host memory that a program
// registers has another device address (Device.h, HostAliasBit), since HIP keeps
// one table for both kinds of address and takes each out of it once.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_THUNK_MEMORY_H
#define VGPU_THUNK_MEMORY_H

#include "machine/Device.h"

#include <hsakmt.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace vgpu {

constexpr uint64_t PageSize = 4096;

/// One allocation or registration. Node lists are in the order given and are
/// handed out by pointer in HsaPointerInfo, so they only change under the lock
/// and live as long as the range.
struct MemoryRange {
  uint64_t Begin = 0, Size = 0;
  uint64_t Guard = 0; ///< Bytes behind it that are reserved, too.
  HSA_POINTER_TYPE Type = HSA_POINTER_UNKNOWN;
  HsaMemFlags Flags = {};
  uint32_t Node = 0;
  unsigned References = 1; ///< Registrations of the same range.
  void *UserData = nullptr;
  std::vector<uint32_t> RegisteredNodes, MappedNodes;

  uint64_t end() const { return Begin + Size; }
  bool contains(uint64_t Address) const { return Address >= Begin && Address - Begin < Size; }
  bool mappedTo(uint32_t Node) const;
  uint64_t deviceAddress(uint64_t Address) const {
    return Type == HSA_POINTER_REGISTERED_USER ? Address | HostAliasBit : Address;
  }
};

class MemoryRanges {
public:
  /// \p GpuNodes: node numbers that a map without a list applies to.
  void setGpuNodes(std::vector<uint32_t> GpuNodes);

  HSAKMT_STATUS allocate(uint32_t Node, uint64_t Size, HsaMemFlags Flags, void **Address);
  /// While a dispatch is running the host mapping stays until its end, because
  /// the kernel may be in the middle of an access to it; the range itself is
  /// gone at once. Its addresses are not given out again for a while, so that
  /// whoever still uses them is found out.
  HSAKMT_STATUS free(void *Address, uint64_t Size, MemoryRange *Freed);
  void beginDispatch();
  void endDispatch();

  HSAKMT_STATUS registerUser(void *Address, uint64_t Size, HsaMemFlags Flags,
                             const std::vector<uint32_t> &Nodes);
  HSAKMT_STATUS deregister(void *Address);
  /// Null \p Nodes = all GPU nodes (or those the range was registered to).
  /// Writes the device address to \p Alternate, unless that is null.
  HSAKMT_STATUS map(void *Address, uint64_t Size, const std::vector<uint32_t> *Nodes,
                    HSAuint64 *Alternate = nullptr);
  HSAKMT_STATUS unmap(void *Address);

  HSAKMT_STATUS query(const void *Pointer, HsaPointerInfo &Info);
  HSAKMT_STATUS setUserData(const void *Pointer, void *UserData);
  /// Makes host memory that the driver itself owns (mailboxes, doorbells)
  /// visible to all GPU nodes.
  void addInternal(void *Address, uint64_t Size);

  /// The widest range around \p Address that \p Node may use.
  MemoryRegion lookup(uint64_t Address, uint32_t Node);
  uint64_t generation() const { return Generation.load(std::memory_order_acquire); }
  /// Bytes allocated on \p Node, for out-of-memory checks.
  uint64_t allocatedOn(uint32_t Node);
  void setLimit(uint32_t Node, uint64_t Bytes);

  /// In the child of a fork: nobody holds the lock any more.
  void resetLockAfterFork() { new (&Lock) std::mutex; }

  /// For a person: where \p Address lies, "16 bytes past the end of a 4096-byte
  /// allocation of device memory at 0x…".
  std::string describe(uint64_t Address, uint32_t Node);

private:
  void *mapAnywhere(uint64_t Size, int Protection, int MapFlags);
  void reserve(MemoryRange Range);
  void release(uint64_t Begin, uint64_t Size);
  MemoryRange *findAllocated(uint64_t Address);
  MemoryRange *findRegistered(uint64_t Address);
  MemoryRange *find(uint64_t Address);

  std::mutex Lock;
  std::map<uint64_t, MemoryRange> Allocated; ///< By begin; disjoint.
  /// By (begin, size); may nest and overlap.
  std::map<std::pair<uint64_t, uint64_t>, MemoryRange> Registered;
  std::vector<MemoryRange> Kept; ///< Freed, but mapped until Running is 0.
  unsigned Running = 0;          ///< Dispatches.
  /// What was freed last, newest at the end; its addresses are reserved.
  std::deque<MemoryRange> Freed;
  uint64_t FreedBytes = 0;
  /// Where the next allocation goes.
  uint64_t NextAddress = FirstOwnAddress;
  std::vector<uint32_t> GpuNodes;
  std::map<uint32_t, uint64_t> Used, Limit;
  std::atomic<uint64_t> Generation{1};
};

/// What one device sees of the map.
class NodeAddressSpace final : public AddressSpace {
public:
  NodeAddressSpace(MemoryRanges &Map, uint32_t Node) : Map(Map), Node(Node) {}
  MemoryRegion lookup(uint64_t Address) override { return Map.lookup(Address, Node); }
  uint64_t generation() override { return Map.generation(); }
  std::string describe(uint64_t Address) override { return Map.describe(Address, Node); }

private:
  MemoryRanges &Map;
  uint32_t Node;
};

} // namespace vgpu
#endif
