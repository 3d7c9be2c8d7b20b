// Dynamic LDS of several sizes up to the 64 KiB of a compute unit, with a
// barrier between the writer and the reader of each cell.
// REQUIRES: vgpu
// RUN: %hipcc_all -O3 -x hip %s -o %t
// RUN: kprobe-vgpu --vgpu=gfx906 -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx1030 -- %t | FileCheck %s
// CHECK: passed
#include "Inputs/check.h"

#include <vector>

__global__ void reverse(const int *In, int *Out, int N) {
  extern __shared__ int Cells[];
  const int Base = blockIdx.x * N;
  for (int I = threadIdx.x; I < N; I += blockDim.x)
    Cells[I] = In[Base + I];
  __syncthreads();
  for (int I = threadIdx.x; I < N; I += blockDim.x)
    Out[Base + I] = Cells[N - 1 - I];
}

int main() {
  constexpr int Blocks = 5;
  for (int N : {1, 64, 100, 1000, 8192, 16384}) {
    std::vector<int> In(Blocks * N), Out(Blocks * N, -1);
    for (int I = 0; I < Blocks * N; ++I)
      In[I] = I * 7 + 1;
    int *DeviceIn, *DeviceOut;
    HIP(hipMalloc(&DeviceIn, In.size() * 4));
    HIP(hipMalloc(&DeviceOut, In.size() * 4));
    HIP(hipMemcpy(DeviceIn, In.data(), In.size() * 4, hipMemcpyHostToDevice));
    reverse<<<Blocks, 256, N * 4>>>(DeviceIn, DeviceOut, N);
    HIP(hipGetLastError());
    HIP(hipMemcpy(Out.data(), DeviceOut, In.size() * 4, hipMemcpyDeviceToHost));
    for (int Block = 0; Block < Blocks; ++Block)
      for (int I = 0; I < N; ++I)
        EXPECT(Out[Block * N + I] == In[Block * N + N - 1 - I],
               "N %d, block %d, cell %d", N, Block, I);
    HIP(hipFree(DeviceIn));
    HIP(hipFree(DeviceOut));
  }
  return passed();
}
