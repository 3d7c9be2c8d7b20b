//===- RegisterMemory.h - Where the vector registers of waves lie ------------===//
//
// A full device has thousands of waves with some KiB of registers each, and a
// program's first kernels are often over before they have used them twice. From
// the allocator each would be a system call and a page fault for every page of
// the host; so they come from stretches of one huge page, where the host has them.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_MACHINE_REGISTERMEMORY_H
#define VGPU_MACHINE_REGISTERMEMORY_H

#include "core/Wave.h"

#include <vector>

namespace vgpu {

class RegisterMemory {
public:
  RegisterMemory() = default;
  RegisterMemory(const RegisterMemory &) = delete;
  RegisterMemory &operator=(const RegisterMemory &) = delete;
  ~RegisterMemory();

  /// A place for \p Count registers or more, which it is set to; of any contents.
  Vreg *take(unsigned &Count);
  /// Gives back a place for \p Count registers, as take() set it.
  void give(Vreg *Place, unsigned Count);

private:
  std::vector<std::vector<Vreg *>> Free; ///< By size, in what sizes are multiples of.
  std::vector<void *> Stretches;
  Vreg *Next = nullptr, *End = nullptr; ///< What is left of the newest stretch.
};

} // namespace vgpu
#endif
