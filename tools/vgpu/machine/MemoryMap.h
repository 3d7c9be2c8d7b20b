//===- MemoryMap.h - Address checks that cost almost nothing ----------------===//
//
// Every device access is checked against the regions that AddressSpace knows.
// Asking it each time would cost more than the access, so the last few answers
// are kept until a region goes away (AddressSpace::generation).
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_MACHINE_MEMORYMAP_H
#define VGPU_MACHINE_MEMORYMAP_H

#include "machine/Device.h"

namespace vgpu {

class MemoryMap {
public:
  explicit MemoryMap(AddressSpace &Space) : Space(Space) {}

  /// Forgets cached regions if any may have gone. Called between dispatches and
  /// now and then within one (a host thread may free memory at any time).
  void refresh() {
    uint64_t Now = Space.generation();
    if (Now == Generation)
      return;
    Generation = Now;
    for (MemoryRegion &Region : Recent)
      Region = MemoryRegion();
  }

  /// True when all of [Begin, End) may be read (and written, if \p Write).
  bool allows(uint64_t Begin, uint64_t End, bool Write) {
    const MemoryRegion &First = Recent[0];
    if (Begin >= First.Begin && End <= First.End && Begin < End)
      return !Write || First.Writable;
    return allowsSlow(Begin, End, Write);
  }

  /// The same as far as it is known without asking; false says nothing.
  bool knownToAllow(uint64_t Begin, uint64_t End, bool Write) const {
    for (const MemoryRegion &Region : Recent)
      if (Begin >= Region.Begin && End <= Region.End)
        return Begin < End && (!Write || Region.Writable);
    return false;
  }

  /// AddressSpace::describe.
  std::string describe(uint64_t Address) { return Space.describe(hostAddress(Address)); }

private:
  bool allowsSlow(uint64_t Begin, uint64_t End, bool Write);

  static constexpr unsigned Slots = 8;
  AddressSpace &Space;
  uint64_t Generation = 0;
  MemoryRegion Recent[Slots]; ///< Most recently used first.
};

} // namespace vgpu
#endif
