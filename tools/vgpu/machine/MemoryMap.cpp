//===- MemoryMap.cpp - The slow half of the address check -------------------===//
//
// Apart from the header so that the fast half stays small enough to inline.
//
//===----------------------------------------------------------------------===//
#include "machine/MemoryMap.h"

namespace vgpu {

bool MemoryMap::allowsSlow(uint64_t Begin, uint64_t End, bool Write) {
  if (Begin >= End) // Wraps around the address space.
    return false;
  while (Begin < End) {
    unsigned Slot = 0;
    while (Slot < Slots && !(Begin >= Recent[Slot].Begin && Begin < Recent[Slot].End))
      ++Slot;
    MemoryRegion Found;
    if (Slot < Slots) {
      Found = Recent[Slot];
    } else {
      Found = Space.lookup(Begin);
      if (!Found || Begin < Found.Begin || Begin >= Found.End)
        return false;
      Slot = Slots - 1;
    }
    for (; Slot > 0; --Slot)
      Recent[Slot] = Recent[Slot - 1];
    Recent[0] = Found;
    if (Write && !Found.Writable)
      return false;
    Begin = Found.End; // An access may span neighbouring regions.
  }
  return true;
}

} // namespace vgpu
