// Finds the site tables in the bytes of a code object.
//
// The bytes come from the program, so nothing in them is believed: every
// offset is checked before it is followed. Only what is needed is copied,
// because the program may free its code object as soon as it is loaded.
#ifndef KPROBE_RUNTIME_SITETABLES_H
#define KPROBE_RUNTIME_SITETABLES_H

#include "kprobe/wire.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kprobe {

struct SiteTable {
  struct Kernel {
    std::string Name;      // symbol of the original
    std::string CloneName; // symbol of the instrumented clone
    uint32_t CloneMode = KPROBE_MODE_RING; // or DROP, COUNTERS
    uint32_t SiteCount = 0;
    bool Bounded = false;   // KPROBE_KERNEL_BOUNDED
    bool HasPlaces = false; // KPROBE_KERNEL_PLACES
    bool NeedsKnown = false; // the code object says what both take
    KprobeKernelNeeds Original = {}, Clone = {};
  };
  std::vector<uint8_t> Bytes; // verbatim, for the dump
  uint64_t ContentHash = 0;
  std::vector<Kernel> Kernels; // by kernel index
};

using SiteTableList = std::vector<std::shared_ptr<const SiteTable>>;

// All tables of a code object, in section order. A code object without any is
// an empty list. A damaged table ends the list and is named in Problem.
SiteTableList readSiteTablesUntrusted(const void *Elf, size_t Bytes,
                                      std::string &Problem);

// FNV-1a 64 of a table with its ContentHash field taken as zero.
uint64_t siteTableHash(const uint8_t *Table, size_t Bytes);

} // namespace kprobe

#endif
