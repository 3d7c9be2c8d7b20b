// A template kernel in an anonymous namespace: each file that includes this has
// its own kernel of the same name. The constant differs per file, so that a
// launch of the wrong one shows in the result.
#ifndef KPROBE_BENCHMARKS_ANONYMOUS_H
#define KPROBE_BENCHMARKS_ANONYMOUS_H

#include "check.h"

namespace {

template <typename T, int Factor>
__global__ void scale(T *Values, T Add, int Count) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  for (int Round = 0; I < Count && Round < Factor; ++Round)
    Values[I] = Values[I] * T(2) + Add + T(ANONYMOUS_CONSTANT);
}

template <typename T, int Factor> size_t runScale(int Count, T Add) {
  std::vector<T> Values(Count);
  for (int I = 0; I < Count; ++I)
    Values[I] = T(I % 19);
  DeviceArray<T> Device(Values);
  scale<T, Factor><<<(Count + 127) / 128, 128>>>(Device, Add, Count);
  HIP_CHECK(hipGetLastError());
  std::vector<T> Result = Device.toHost();
  size_t Mismatches = 0;
  for (int I = 0; I < Count; ++I) {
    T Expected = Values[I];
    for (int Round = 0; Round < Factor; ++Round)
      Expected = Expected * T(2) + Add + T(ANONYMOUS_CONSTANT);
    Mismatches += Result[I] != Expected;
  }
  return Mismatches;
}

} // namespace

#endif
