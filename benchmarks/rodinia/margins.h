// Included before a Rodinia source whose kernels also read just outside their
// arrays and make no use of it: a margin of zeros belongs to each array. Hardware
// maps memory in such large pieces that nobody notices; the virtual GPU does.
#ifndef KPROBE_BENCHMARKS_MARGINS_H
#define KPROBE_BENCHMARKS_MARGINS_H

#include <hip/hip_runtime.h>

static const size_t Margin = 64 * 1024;

static hipError_t mallocWithMargins(void **Pointer, size_t Bytes) {
  char *Begin = nullptr;
  hipError_t Status =
      hipMalloc(reinterpret_cast<void **>(&Begin), Bytes + 2 * Margin);
  if (Status == hipSuccess)
    Status = hipMemset(Begin, 0, Bytes + 2 * Margin);
  *Pointer = Begin ? Begin + Margin : nullptr;
  return Status;
}
static hipError_t freeWithMargins(void *Pointer) {
  return hipFree(Pointer ? static_cast<char *>(Pointer) - Margin : nullptr);
}
#define hipMalloc mallocWithMargins
#define hipFree freeWithMargins

#endif
