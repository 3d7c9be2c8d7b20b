// Memory that is written from one end to the other and must not cost a page
// fault every 4 KiB: under a hypervisor one can take more than ten
// microseconds, which is more than all else that is done for an event.
#ifndef KPROBE_RUNTIME_LARGEPAGES_H
#define KPROBE_RUNTIME_LARGEPAGES_H

#include <cstddef>
#include <cstdint>

namespace kprobe {

// Asks Linux to back the whole 2 MiB pages in there as such. No matter if it
// cannot: device memory, or a system without.
void askForLargePages(void *Memory, size_t Bytes);

// Anonymous zeroed memory, reserved only as it is touched.
//
//   Begin                2 MiB boundary
//     |  small pages       |  large pages          …
//     '--- LittleBytes ----'
//
// Who writes little touches a few small pages; who writes much, large ones.
class TouchedInOrder {
public:
  static constexpr size_t LittleBytes = 64u << 10;

  TouchedInOrder() = default;
  // Null in Begin when there is no memory.
  explicit TouchedInOrder(size_t Bytes);
  void unmap();

  uint8_t *Begin = nullptr;

private:
  void *Map = nullptr;
  size_t MapBytes = 0;
};

} // namespace kprobe

#endif
