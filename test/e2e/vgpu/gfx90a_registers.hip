// More live values than the 256 architectural registers of a wave: the compiler
// parks the rest in accumulation registers.
// REQUIRES: vgpu
// RUN: hipcc --offload-arch=gfx90a -O2 -x hip %s -o %t
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t | FileCheck %s
// RUN: %kprobe_src/tools/hipclang 19 --offload-arch=gfx90a -O2 \
// RUN:     -x hip %s -o %t.19
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t.19 | FileCheck %s
// RUN: hipcc --offload-arch=gfx90a -O2 -x hip %s -S --offload-device-only \
// RUN:     -o - | FileCheck %s --check-prefix=CODE
// CODE: v_accvgpr_write_b32
// CODE: v_accvgpr_read_b32
// CHECK: wrong 0
#include <hip/hip_runtime.h>

#include <cstdio>

constexpr int Values = 180, Rounds = 2;

__device__ __host__ inline unsigned step(unsigned X, unsigned Y) {
  return (X ^ (Y << 7)) * 2654435761u + (Y >> 3);
}

/// Every value takes part in every round with its neighbours: all stay alive.
template <class Load> __device__ __host__ inline unsigned mix(Load In) {
  unsigned V[Values];
#pragma unroll
  for (int I = 0; I < Values; ++I)
    V[I] = In(I);
#pragma unroll
  for (int R = 0; R < Rounds; ++R)
#pragma unroll
    for (int I = 0; I < Values; ++I)
      V[I] = step(V[I], V[(I + 83) % Values]);
  unsigned Sum = 0;
#pragma unroll
  for (int I = 0; I < Values; ++I)
    Sum = step(Sum, V[I]);
  return Sum;
}

__global__ void __launch_bounds__(256)
    kernel(const unsigned *In, unsigned *Out, int Stride) {
  const int T = threadIdx.x;
  Out[T] = mix([&](int I) { return In[I * Stride + T]; });
}

int main() {
  unsigned *In = nullptr, *Out = nullptr;
  if (hipMallocManaged(&In, Values * 256 * 4) != hipSuccess ||
      hipMallocManaged(&Out, 256 * 4) != hipSuccess)
    return 1;
  for (int I = 0; I < Values * 256; ++I)
    In[I] = unsigned(I) * 40503u + 77u;
  kernel<<<1, 256>>>(In, Out, 256);
  int Wrong = hipDeviceSynchronize() != hipSuccess;
  for (int T = 0; T < 256; ++T)
    Wrong += Out[T] != mix([&](int I) { return In[I * 256 + T]; });
  std::printf("wrong %d\n", Wrong);
  return 0;
}
