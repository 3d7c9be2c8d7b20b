// Included before a Rodinia source that binds textures without asking for their
// offset: ROCm 5.2.3's runtime writes it all the same, through the null pointer.
#ifndef KPROBE_BENCHMARKS_TEXTURE_OFFSET_H
#define KPROBE_BENCHMARKS_TEXTURE_OFFSET_H

#include <hip/hip_runtime.h>

template <class Texture>
static hipError_t bindTexture(size_t *Offset, Texture &Bound,
                              const void *Pointer, size_t Bytes) {
  size_t Unasked;
  return hipBindTexture(Offset ? Offset : &Unasked, Bound, Pointer, Bytes);
}
#define hipBindTexture bindTexture

#endif
