// malloc and free in a kernel: each lane's memory is its own, can be used by
// another kernel, freed there, and given out again.
// REQUIRES: vgpu
// RUN: %hipcc_all -O3 -x hip %s -o %t
// RUN: kprobe-vgpu --vgpu=gfx906 -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx1030 -- %t | FileCheck %s
// CHECK: passed
#include "Inputs/check.h"

__global__ void make(int **Lists, int Round) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  const int Length = 1 + I % 37;
  int *List = static_cast<int *>(malloc(Length * sizeof(int)));
  Lists[I] = List;
  if (List)
    for (int K = 0; K < Length; ++K)
      List[K] = I * 100 + K + Round;
}
__global__ void sum(int **Lists, int *Sums) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  int Sum = 0;
  for (int K = 0; Lists[I] && K < 1 + I % 37; ++K)
    Sum += Lists[I][K];
  Sums[I] = Sum;
  free(Lists[I]);
}

int main() {
  constexpr int N = 512;
  int **Lists, *Sums, Host[N];
  HIP(hipMalloc(&Lists, N * sizeof(int *)));
  HIP(hipMalloc(&Sums, N * 4));
  for (int Round = 0; Round < 6; ++Round) {
    make<<<N / 128, 128>>>(Lists, Round);
    sum<<<N / 64, 64>>>(Lists, Sums);
    HIP(hipMemcpy(Host, Sums, N * 4, hipMemcpyDeviceToHost));
    for (int I = 0; I < N; ++I) {
      const int Length = 1 + I % 37;
      EXPECT(Host[I] == Length * (I * 100 + Round) + Length * (Length - 1) / 2, "round %d, %d: %d",
             Round, I, Host[I]);
    }
  }
  return passed();
}
