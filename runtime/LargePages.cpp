// mmap and madvise.
#include "LargePages.h"

#include <sys/mman.h>

namespace kprobe {

static constexpr uintptr_t Large = 2u << 20;

static uintptr_t roundedUp(uintptr_t Address) {
  return (Address + Large - 1) & ~(Large - 1);
}

void askForLargePages(void *Memory, size_t Bytes) {
  const auto Begin = reinterpret_cast<uintptr_t>(Memory);
  const uintptr_t First = roundedUp(Begin);
  const uintptr_t End = (Begin + Bytes) & ~(Large - 1);
  if (First < End)
    madvise(reinterpret_cast<void *>(First), End - First, MADV_HUGEPAGE);
}

TouchedInOrder::TouchedInOrder(size_t Bytes) {
  // The last large page may reach past the end.
  MapBytes = Bytes < Large ? Bytes : Bytes + 2 * Large;
  Map = mmap(nullptr, MapBytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (Map == MAP_FAILED)
    return;
  Begin = static_cast<uint8_t *>(Map);
  if (Bytes < Large)
    return;
  const auto First = reinterpret_cast<uintptr_t>(Map);
  Begin += roundedUp(First + LittleBytes) - LittleBytes - First;
  askForLargePages(Begin, Bytes + Large);
}

void TouchedInOrder::unmap() { munmap(Map, MapBytes); }

} // namespace kprobe
