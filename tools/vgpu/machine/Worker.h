//===- Worker.h - What a host thread that runs waves has to itself ----------===//
//
// Compute units belong to a worker for good. What remembers something from one
// access to the next is here, a copy for each worker, so that it needs no lock.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_MACHINE_WORKER_H
#define VGPU_MACHINE_WORKER_H

#include "core/CodeCache.h"
#include "machine/MemoryMap.h"
#include "machine/MemoryTiming.h"

namespace vgpu {

struct Worker final : CodeMemory {
  Worker(unsigned Number, AddressSpace &Space, Decoder &Decode)
      : Number(Number), Memory(Space), Code(Decode, *this) {}

  size_t fetchCode(uint64_t Addr, void *Dst, size_t N) override;

  const unsigned Number; ///< Worker 0 is on the thread that drives the device.
  MemoryMap Memory;
  CodeCache Code;
  ConflictMemo Conflicts;
  double Seconds = 0; ///< Processor time that no dispatch has been charged yet.
};

/// Processor time of the calling thread.
double processorSeconds();

} // namespace vgpu
#endif
