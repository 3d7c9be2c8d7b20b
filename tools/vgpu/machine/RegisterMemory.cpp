//===- RegisterMemory.cpp - Where the vector registers of waves lie ----------===//
#include "machine/RegisterMemory.h"

#include <new>
#include <sys/mman.h>

// AddressSanitizer finds a register beyond a wave's: places are as large as was asked
// for, and have one between them that nobody may touch.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
static constexpr unsigned Granule = 1, Between = 1;
#else
#define ASAN_POISON_MEMORY_REGION(Begin, Bytes)
#define ASAN_UNPOISON_MEMORY_REGION(Begin, Bytes)
static constexpr unsigned Granule = 4, Between = 0; ///< 4: as hardware's.
#endif

namespace vgpu {

static constexpr size_t Stretch = size_t(2) << 20;

RegisterMemory::~RegisterMemory() {
  for (void *S : Stretches) {
    ASAN_UNPOISON_MEMORY_REGION(S, Stretch);
    munmap(S, Stretch);
  }
}

/// Stretch bytes that begin at a multiple of it.
static void *mapStretch() {
  void *Raw = mmap(nullptr, 2 * Stretch, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (Raw == MAP_FAILED)
    throw std::bad_alloc();
  auto *From = static_cast<char *>(Raw);
  const size_t Before = -reinterpret_cast<size_t>(From) % Stretch;
  if (Before)
    munmap(From, Before);
  munmap(From + Before + Stretch, Stretch - Before);
  madvise(From + Before, Stretch, MADV_HUGEPAGE); // Without them it is only slower.
  ASAN_POISON_MEMORY_REGION(From + Before, Stretch);
  return From + Before;
}

Vreg *RegisterMemory::take(unsigned &Count) {
  const unsigned Granules = (Count + Granule - 1) / Granule;
  Count = Granules * Granule;
  if (Granules < Free.size() && !Free[Granules].empty()) {
    Vreg *Place = Free[Granules].back();
    Free[Granules].pop_back();
    ASAN_UNPOISON_MEMORY_REGION(Place, Count * sizeof(Vreg));
    return Place;
  }
  if (size_t(End - Next) < Count + Between) {
    Next = static_cast<Vreg *>(mapStretch());
    End = Next + Stretch / sizeof(Vreg);
    Stretches.push_back(Next);
  }
  Vreg *Place = Next;
  Next += Count + Between;
  ASAN_UNPOISON_MEMORY_REGION(Place, Count * sizeof(Vreg));
  return Place;
}

void RegisterMemory::give(Vreg *Place, unsigned Count) {
  ASAN_POISON_MEMORY_REGION(Place, Count * sizeof(Vreg));
  const unsigned Granules = Count / Granule;
  if (Free.size() <= Granules)
    Free.resize(Granules + 1);
  Free[Granules].push_back(Place);
}

} // namespace vgpu
