/* The contract is C11 as well: this file only has to compile, and to pack an
 * event as WireTest.cpp unpacks it. */
#include "kprobe/wire.h"

uint32_t kprobeTestTagInC(uint32_t Site, uint32_t Lanes);

uint32_t kprobeTestTagInC(uint32_t Site, uint32_t Lanes) {
  return KPROBE_TAG_BASE(KPROBE_EVENT_BLOCK, Site) +
         (Lanes << KPROBE_TAG_LANES_SHIFT);
}
