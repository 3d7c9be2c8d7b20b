// Every work item runs exactly once and knows its place: workgroups of 1 to 1024
// work items, grids in one to three dimensions, many workgroups.
// REQUIRES: vgpu
// RUN: %hipcc_all -O3 -x hip %s -o %t
// RUN: kprobe-vgpu --vgpu=gfx906 -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx1030 -- %t | FileCheck %s
// CHECK: passed
#include "Inputs/check.h"

#include <vector>

__global__ void place(unsigned *Count, unsigned *Sum) {
  const unsigned X = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned Y = blockIdx.y * blockDim.y + threadIdx.y;
  const unsigned Z = blockIdx.z * blockDim.z + threadIdx.z;
  const unsigned Width = gridDim.x * blockDim.x;
  const unsigned Height = gridDim.y * blockDim.y;
  const unsigned I = (Z * Height + Y) * Width + X;
  atomicAdd(&Count[I], 1);
  Sum[I] = X + 1000 * Y + 100000 * Z;
}

static void check(dim3 Grid, dim3 Block) {
  const unsigned Width = Grid.x * Block.x, Height = Grid.y * Block.y,
                 Depth = Grid.z * Block.z;
  const size_t N = size_t(Width) * Height * Depth;
  unsigned *Count, *Sum;
  HIP(hipMalloc(&Count, N * 4));
  HIP(hipMalloc(&Sum, N * 4));
  HIP(hipMemset(Count, 0, N * 4));
  HIP(hipMemset(Sum, 0xff, N * 4));
  place<<<Grid, Block>>>(Count, Sum);
  HIP(hipGetLastError());
  HIP(hipDeviceSynchronize());
  std::vector<unsigned> Counts(N), Sums(N);
  HIP(hipMemcpy(Counts.data(), Count, N * 4, hipMemcpyDeviceToHost));
  HIP(hipMemcpy(Sums.data(), Sum, N * 4, hipMemcpyDeviceToHost));
  for (unsigned Z = 0; Z < Depth; ++Z)
    for (unsigned Y = 0; Y < Height; ++Y)
      for (unsigned X = 0; X < Width; ++X) {
        const size_t I = (size_t(Z) * Height + Y) * Width + X;
        EXPECT(Counts[I] == 1 && Sums[I] == X + 1000 * Y + 100000 * Z,
               "grid %u %u %u, block %u %u %u: (%u, %u, %u) ran %u times, sum %u",
               Grid.x, Grid.y, Grid.z, Block.x, Block.y, Block.z, X, Y, Z,
               Counts[I], Sums[I]);
      }
  HIP(hipFree(Count));
  HIP(hipFree(Sum));
}

int main() {
  // 2^32 work items in one direction: more than a packet can say.
  place<<<dim3(1u << 22), dim3(1024)>>>(nullptr, nullptr);
  const hipError_t Refused = hipGetLastError();
  EXPECT(Refused == hipErrorInvalidConfiguration, "%s", hipGetErrorString(Refused));
  for (unsigned Block : {1, 2, 31, 63, 64, 65, 100, 128, 255, 256, 512, 1000, 1024})
    check(dim3(3), dim3(Block));
  for (unsigned Grid : {1, 2, 59, 60, 61, 241, 1024})
    check(dim3(Grid), dim3(64));
  check(dim3(5, 3), dim3(8, 8));
  check(dim3(2, 3, 4), dim3(4, 2, 3));
  check(dim3(1, 1, 7), dim3(1, 16, 5));
  check(dim3(3, 1, 2), dim3(32, 4, 8));
  check(dim3(1, 2, 1), dim3(10, 10, 10));
  return passed();
}
