//===- Memory.cpp - The device's address space ------------------------------===//
//
// See Memory.h. Everything is under one lock; the machine asks rarely, since it
// keeps the answers until the generation changes.
//
//===----------------------------------------------------------------------===//
#include "thunk/Memory.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>

using namespace vgpu;

namespace {

uint64_t alignDown(uint64_t Value) { return Value & ~(PageSize - 1); }
uint64_t alignUp(uint64_t Value) { return alignDown(Value + PageSize - 1); }
/// Behind each allocation lie addresses that nobody gets, so that running over its
/// end is not running into the next one.
constexpr uint64_t GuardBytes = PageSize;
/// The kernel allows a process some 65000 mappings; a guard costs two.
constexpr size_t MostGuarded = 16384;
/// Allocations of that size and more begin at a multiple of it, as the real driver
/// has it. The device libraries' malloc relies on that.
constexpr uint64_t HugePageSize = uint64_t(2) << 20;
/// Freed addresses stay reserved, without memory, until there are so many.
constexpr size_t MostFreed = 4096;
constexpr uint64_t MostFreedBytes = uint64_t(1) << 40;

/// ROCr may name registered memory by either of its addresses.
uint64_t toAddress(const void *Pointer) { return hostAddress(reinterpret_cast<uint64_t>(Pointer)); }

} // namespace

bool MemoryRange::mappedTo(uint32_t Node) const {
  return std::find(MappedNodes.begin(), MappedNodes.end(), Node) != MappedNodes.end();
}

void MemoryRanges::setGpuNodes(std::vector<uint32_t> Nodes) {
  std::lock_guard<std::mutex> Guard(Lock);
  GpuNodes = std::move(Nodes);
}

void MemoryRanges::setLimit(uint32_t Node, uint64_t Bytes) {
  std::lock_guard<std::mutex> Guard(Lock);
  Limit[Node] = Bytes;
}

uint64_t MemoryRanges::allocatedOn(uint32_t Node) {
  std::lock_guard<std::mutex> Guard(Lock);
  return Used[Node];
}

/// Maps at the next place of the driver's part of the address space. Where that place
/// is taken, the kernel's choice will do. Large allocations begin at a huge page.
void *MemoryRanges::mapAnywhere(uint64_t Size, int Protection, int MapFlags) {
  const uint64_t Alignment = Size < HugePageSize ? PageSize : HugePageSize;
  auto Align = [&](uint64_t Address) { return (Address + Alignment - 1) & ~(Alignment - 1); };
  if (NextAddress > LastOwnAddress - std::min(Size, LastOwnAddress))
    NextAddress = FirstOwnAddress;
  void *Own = reinterpret_cast<void *>(Align(NextAddress));
  void *Mapped = mmap(Own, Size, Protection, MapFlags | MAP_FIXED_NOREPLACE, -1, 0);
  if (Mapped != MAP_FAILED) {
    NextAddress = reinterpret_cast<uint64_t>(Mapped) + Size;
    return Mapped;
  }
  const uint64_t Spare = Alignment - PageSize;
  Mapped = mmap(nullptr, Size + Spare, Protection, MapFlags, -1, 0);
  if (Mapped == MAP_FAILED || !Spare)
    return Mapped;
  const uint64_t Begin = reinterpret_cast<uint64_t>(Mapped), Aligned = Align(Begin);
  if (Aligned != Begin)
    munmap(Mapped, Aligned - Begin);
  if (Aligned - Begin != Spare)
    munmap(reinterpret_cast<void *>(Aligned + Size), Spare - (Aligned - Begin));
  return reinterpret_cast<void *>(Aligned);
}

HSAKMT_STATUS MemoryRanges::allocate(uint32_t Node, uint64_t Size, HsaMemFlags Flags,
                                     void **Address) {
  if (!Address || Size == 0 || Size % PageSize != 0)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  // Scratch is address space that a driver backs on demand, so it does not
  // count as memory of the node.
  const bool Counted = !Flags.ui32.Scratch;
  std::lock_guard<std::mutex> Guard(Lock);
  auto Max = Limit.find(Node);
  if (Counted && Max != Limit.end() && (Size > Max->second || Used[Node] > Max->second - Size))
    return HSAKMT_STATUS_NO_MEMORY;

  int Protection = PROT_READ | PROT_WRITE;
  if (Flags.ui32.ExecuteAccess)
    Protection |= PROT_EXEC;
  int MapFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void *Wanted = nullptr;
  if (Flags.ui32.FixedAddress) {
    Wanted = *Address;
    MapFlags |= MAP_FIXED_NOREPLACE;
  }
  if (Wanted)
    release(toAddress(Wanted), Size);
  const uint64_t Behind = Wanted || Allocated.size() >= MostGuarded ? 0 : GuardBytes;
  void *Mapped = Wanted ? mmap(Wanted, Size, Protection, MapFlags, -1, 0)
                        : mapAnywhere(Size + Behind, Protection, MapFlags);
  if (Mapped == MAP_FAILED)
    return HSAKMT_STATUS_NO_MEMORY;
  if (Behind)
    mprotect(static_cast<char *>(Mapped) + Size, Behind, PROT_NONE);

  MemoryRange Range;
  Range.Begin = toAddress(Mapped);
  Range.Size = Size;
  Range.Guard = Behind;
  Range.Type = HSA_POINTER_ALLOCATED;
  Range.Flags = Flags;
  Range.Node = Node;
  if (Flags.ui32.Scratch)
    Range.MappedNodes = GpuNodes;
  Allocated[Range.Begin] = std::move(Range);
  if (Counted)
    Used[Node] += Size;
  *Address = Mapped;
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS MemoryRanges::free(void *Address, uint64_t Size, MemoryRange *Freed) {
  std::lock_guard<std::mutex> Guard(Lock);
  auto It = Allocated.find(toAddress(Address));
  if (It == Allocated.end())
    return HSAKMT_STATUS_MEMORY_NOT_REGISTERED;
  if (Size != 0 && alignUp(Size) != It->second.Size)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  MemoryRange Range = std::move(It->second);
  Allocated.erase(It);
  if (!Range.Flags.ui32.Scratch)
    Used[Range.Node] -= Range.Size;
  // Before the mapping goes: who looks at the generation first and at the
  // address after must not find the old answer still good.
  Generation.fetch_add(1, std::memory_order_release);
  if (Freed)
    *Freed = Range;
  if (Running)
    Kept.push_back(std::move(Range));
  else
    reserve(std::move(Range));
  return HSAKMT_STATUS_SUCCESS;
}

/// Gives up reserved ranges that touch [Begin, Begin + Size).
void MemoryRanges::release(uint64_t Begin, uint64_t Size) {
  for (auto Range = Freed.begin(); Range != Freed.end();) {
    if (Range->Begin >= Begin + Size || Range->end() + Range->Guard <= Begin) {
      ++Range;
      continue;
    }
    munmap(reinterpret_cast<void *>(Range->Begin), Range->Size + Range->Guard);
    FreedBytes -= Range->Size + Range->Guard;
    Range = Freed.erase(Range);
  }
}

/// Gives the memory of a freed range back, but keeps its addresses for a while.
void MemoryRanges::reserve(MemoryRange Range) {
  void *Address = reinterpret_cast<void *>(Range.Begin);
  const uint64_t Size = Range.Size + Range.Guard;
  // At an address that the program chose, it may want to choose it again.
  if (Range.Flags.ui32.FixedAddress ||
      mmap(Address, Size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
           0) == MAP_FAILED) {
    munmap(Address, Size);
    return;
  }
  FreedBytes += Size;
  Freed.push_back(std::move(Range));
  while (Freed.size() > MostFreed || FreedBytes > MostFreedBytes) {
    const MemoryRange &Oldest = Freed.front();
    munmap(reinterpret_cast<void *>(Oldest.Begin), Oldest.Size + Oldest.Guard);
    FreedBytes -= Oldest.Size + Oldest.Guard;
    Freed.pop_front();
  }
}

void MemoryRanges::beginDispatch() {
  std::lock_guard<std::mutex> Guard(Lock);
  ++Running;
}

void MemoryRanges::endDispatch() {
  std::lock_guard<std::mutex> Guard(Lock);
  if (--Running > 0)
    return;
  for (MemoryRange &Range : Kept)
    reserve(std::move(Range));
  Kept.clear();
}

void MemoryRanges::addInternal(void *Address, uint64_t Size) {
  std::lock_guard<std::mutex> Guard(Lock);
  MemoryRange Range;
  Range.Begin = toAddress(Address);
  Range.Size = Size;
  Range.Type = HSA_POINTER_UNKNOWN; // Not an allocation a program could query.
  Range.MappedNodes = GpuNodes;
  Registered[{Range.Begin, Range.Size}] = std::move(Range);
}

HSAKMT_STATUS MemoryRanges::registerUser(void *Address, uint64_t Size, HsaMemFlags Flags,
                                         const std::vector<uint32_t> &Nodes) {
  if (!Address || Size == 0)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  const uint64_t Begin = toAddress(Address);
  std::lock_guard<std::mutex> Guard(Lock);
  // Memory of this driver needs no pinning; ROCr may still ask.
  if (findAllocated(Begin))
    return HSAKMT_STATUS_MEMORY_ALREADY_REGISTERED;
  auto [It, New] = Registered.try_emplace({Begin, Size});
  MemoryRange &Range = It->second;
  if (!New) {
    ++Range.References;
    return HSAKMT_STATUS_SUCCESS;
  }
  Range.Begin = Begin;
  Range.Size = Size;
  Range.Type = HSA_POINTER_REGISTERED_USER;
  Range.Flags = Flags;
  Range.RegisteredNodes = Nodes;
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS MemoryRanges::deregister(void *Address) {
  std::lock_guard<std::mutex> Guard(Lock);
  auto It = Registered.lower_bound({toAddress(Address), 0});
  if (It == Registered.end() || It->first.first != toAddress(Address))
    return HSAKMT_STATUS_MEMORY_NOT_REGISTERED;
  if (--It->second.References > 0)
    return HSAKMT_STATUS_SUCCESS;
  Registered.erase(It);
  Generation.fetch_add(1, std::memory_order_release);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS MemoryRanges::map(void *Address, uint64_t Size, const std::vector<uint32_t> *Nodes,
                                HSAuint64 *Alternate) {
  std::lock_guard<std::mutex> Guard(Lock);
  const uint64_t Begin = toAddress(Address);
  MemoryRange *Range = nullptr;
  auto Exact = Registered.find({Begin, Size});
  if (Exact != Registered.end())
    Range = &Exact->second;
  if (!Range)
    Range = find(Begin);
  if (!Range)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  if (Alternate)
    *Alternate = Range->deviceAddress(Begin);
  if (Range->Flags.ui32.Scratch)
    return HSAKMT_STATUS_SUCCESS; // Sub-ranges; always mapped, see allocate().
  std::vector<uint32_t> Target;
  if (Nodes)
    Target = *Nodes;
  else
    Target = Range->RegisteredNodes.empty() ? GpuNodes : Range->RegisteredNodes;
  if (Target != Range->MappedNodes) {
    Range->MappedNodes = std::move(Target);
    Generation.fetch_add(1, std::memory_order_release);
  }
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS MemoryRanges::unmap(void *Address) {
  std::lock_guard<std::mutex> Guard(Lock);
  MemoryRange *Range = find(toAddress(Address));
  if (!Range)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  if (Range->Flags.ui32.Scratch)
    return HSAKMT_STATUS_SUCCESS;
  if (Range->References > 1)
    return HSAKMT_STATUS_SUCCESS; // Another registration still needs it.
  Range->MappedNodes.clear();
  Generation.fetch_add(1, std::memory_order_release);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS MemoryRanges::query(const void *Pointer, HsaPointerInfo &Info) {
  std::memset(&Info, 0, sizeof(Info));
  std::lock_guard<std::mutex> Guard(Lock);
  MemoryRange *Range = find(toAddress(Pointer));
  if (!Range || Range->Type == HSA_POINTER_UNKNOWN || Range->Flags.ui32.Scratch) {
    Info.Type = HSA_POINTER_UNKNOWN;
    return HSAKMT_STATUS_ERROR;
  }
  Info.Type = Range->Type;
  Info.Node = Range->Node;
  Info.MemFlags = Range->Flags;
  Info.CPUAddress = reinterpret_cast<void *>(Range->Begin);
  Info.GPUAddress = Range->deviceAddress(Range->Begin);
  Info.SizeInBytes = Range->Size;
  Info.NRegisteredNodes = uint32_t(Range->RegisteredNodes.size());
  Info.RegisteredNodes = Range->RegisteredNodes.data();
  Info.NMappedNodes = uint32_t(Range->MappedNodes.size());
  Info.MappedNodes = Range->MappedNodes.data();
  Info.UserData = Range->UserData;
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS MemoryRanges::setUserData(const void *Pointer, void *UserData) {
  std::lock_guard<std::mutex> Guard(Lock);
  MemoryRange *Range = find(toAddress(Pointer));
  if (!Range || Range->Type == HSA_POINTER_UNKNOWN)
    return HSAKMT_STATUS_ERROR;
  Range->UserData = UserData;
  return HSAKMT_STATUS_SUCCESS;
}

MemoryRange *MemoryRanges::findAllocated(uint64_t Address) {
  auto It = Allocated.upper_bound(Address);
  if (It == Allocated.begin())
    return nullptr;
  --It;
  return It->second.contains(Address) ? &It->second : nullptr;
}

MemoryRange *MemoryRanges::findRegistered(uint64_t Address) {
  // Ranges may nest, so the nearest begin need not be the one that reaches far
  // enough; registrations are few.
  MemoryRange *Best = nullptr;
  for (auto &[Key, Range] : Registered) {
    if (Key.first > Address)
      break;
    if (Range.contains(Address) && (!Best || Range.Size < Best->Size))
      Best = &Range;
  }
  return Best;
}

MemoryRange *MemoryRanges::find(uint64_t Address) {
  if (MemoryRange *Range = findAllocated(Address))
    return Range;
  return findRegistered(Address);
}

MemoryRegion MemoryRanges::lookup(uint64_t Address, uint32_t Node) {
  Address = hostAddress(Address);
  std::lock_guard<std::mutex> Guard(Lock);
  if (MemoryRange *Range = findAllocated(Address)) {
    if (!Range->mappedTo(Node))
      return {};
    return {Range->Begin, Range->end(), !Range->Flags.ui32.ReadOnly};
  }
  // The device maps whole pages of registered memory, as pinning does.
  MemoryRegion Widest;
  for (auto &[Key, Range] : Registered) {
    const uint64_t Begin = alignDown(Range.Begin), End = alignUp(Range.end());
    if (Begin > Address)
      break;
    if (Address < End && Range.mappedTo(Node) && End - Begin > Widest.End - Widest.Begin)
      Widest = {Begin, End, !Range.Flags.ui32.ReadOnly};
  }
  return Widest;
}

namespace {

std::string count(uint64_t Bytes, const char *Before) {
  return std::to_string(Bytes) + (Bytes == 1 ? " byte " : " bytes ") + Before;
}

/// "a 4096-byte allocation of device memory at 0x7f…". Sizes are whole pages:
/// ROCr has rounded them up before this driver sees them.
std::string rangeText(const MemoryRange &Range) {
  char Text[160];
  const bool Registered = Range.Type == HSA_POINTER_REGISTERED_USER;
  std::snprintf(Text, sizeof Text, "a %llu-byte %s at 0x%llx",
                static_cast<unsigned long long>(Range.Size),
                Registered                     ? "range of registered host memory"
                : Range.Flags.ui32.Scratch     ? "block of scratch memory"
                : Range.Flags.ui32.ExecuteAccess && Range.Node ? "block of loaded code"
                : Range.Node                   ? "allocation of device memory"
                                               : "allocation of host memory",
                static_cast<unsigned long long>(Range.deviceAddress(Range.Begin)));
  return Text;
}

} // namespace

std::string MemoryRanges::describe(uint64_t Address, uint32_t Node) {
  constexpr uint64_t Farthest = uint64_t(1) << 30; // What lies farther off tells nothing.
  Address = hostAddress(Address);
  std::lock_guard<std::mutex> Guard(Lock);
  if (const MemoryRange *Range = find(Address)) {
    const std::string Inside = count(Address - Range->Begin, "into ") + rangeText(*Range);
    if (!Range->mappedTo(Node))
      return Inside + ", which is not mapped to this device";
    return Range->Flags.ui32.ReadOnly ? Inside + ", which is read-only" : Inside;
  }
  auto FreedText = [&](const MemoryRange &Range) {
    return count(Address - Range.Begin, "into ") + rangeText(Range) + ", which has been freed";
  };
  for (const MemoryRange &Range : Kept)
    if (Range.contains(Address))
      return FreedText(Range);
  for (const MemoryRange &Range : Freed)
    if (Range.contains(Address))
      return FreedText(Range);

  const MemoryRange *Before = nullptr, *After = nullptr;
  auto Consider = [&](const MemoryRange &Range) {
    if (Range.Type == HSA_POINTER_UNKNOWN)
      return; // The driver's own.
    if (Range.end() <= Address && (!Before || Range.end() > Before->end()))
      Before = &Range;
    if (Range.Begin > Address && (!After || Range.Begin < After->Begin))
      After = &Range;
  };
  for (const auto &[Begin, Range] : Allocated)
    Consider(Range);
  for (const auto &[Key, Range] : Registered)
    Consider(Range);
  const uint64_t Past = Before ? Address - Before->end() : Farthest;
  const uint64_t Ahead = After ? After->Begin - Address : Farthest;
  if (std::min(Past, Ahead) >= Farthest)
    return "no allocation is near";
  if (Past <= Ahead)
    return count(Past, "past the end of ") + rangeText(*Before);
  return count(Ahead, "before ") + rangeText(*After);
}
