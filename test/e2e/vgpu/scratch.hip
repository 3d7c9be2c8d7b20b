// Private arrays that the compiler cannot keep in registers live in scratch, and are
// indexed from both ends (by an offset that is negative without its constant part);
// ROCr grows a queue's scratch when a kernel needs more than it has, and takes
// very large scratch back after the dispatch.
// REQUIRES: vgpu
// RUN: %hipcc_all -O3 -x hip %s -o %t
// RUN: kprobe-vgpu --vgpu=gfx906 -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx1030 -- %t | FileCheck %s
// CHECK: passed
#include "Inputs/check.h"

#include <vector>

template <int Size> __global__ void shuffle(const int *Order, int *Out, int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  int Private[Size];
  for (int J = 0; J < Size; ++J)
    Private[J] = I * 3 + J;
  int Sum = 0;
  for (int J = 0; J < 16; ++J) {
    const int K = Order[(I + J) % N] % Size;
    Sum += Private[K] ^ Private[Size - 1 - K];
    Private[(K * 7 + 1) % Size] ^= J;
  }
  Out[I] = Sum;
}

template <int Size> static int expected(const std::vector<int> &Order, int I) {
  std::vector<int> Private(Size);
  for (int J = 0; J < Size; ++J)
    Private[J] = I * 3 + J;
  int Sum = 0;
  for (int J = 0; J < 16; ++J) {
    const int K = Order[(I + J) % Order.size()] % Size;
    Sum += Private[K] ^ Private[Size - 1 - K];
    Private[(K * 7 + 1) % Size] ^= J;
  }
  return Sum;
}

template <int Size> static void check(int Blocks, int Threads) {
  const int N = Blocks * Threads;
  std::vector<int> Order(N), Out(N);
  for (int I = 0; I < N; ++I)
    Order[I] = int((unsigned(I) * 1103515245u + 12345u) >> 1);
  int *DeviceOrder, *DeviceOut;
  HIP(hipMalloc(&DeviceOrder, N * 4));
  HIP(hipMalloc(&DeviceOut, N * 4));
  HIP(hipMemcpy(DeviceOrder, Order.data(), N * 4, hipMemcpyHostToDevice));
  shuffle<Size><<<Blocks, Threads>>>(DeviceOrder, DeviceOut, N);
  HIP(hipGetLastError());
  HIP(hipMemcpy(Out.data(), DeviceOut, N * 4, hipMemcpyDeviceToHost));
  for (int I = 0; I < N; ++I)
    EXPECT(Out[I] == expected<Size>(Order, I), "size %d, item %d: %d for %d",
           Size, I, Out[I], expected<Size>(Order, I));
  HIP(hipFree(DeviceOrder));
  HIP(hipFree(DeviceOut));
}

int main() {
  check<50>(3, 100);
  check<50>(70, 256);
  check<500>(4, 64);
  check<50>(2, 64); // Less than the queue now has.
  check<9000>(2, 64);
  return passed();
}
