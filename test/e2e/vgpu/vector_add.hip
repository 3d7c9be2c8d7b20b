// An unmodified hipcc program computes on the virtual GPU: vectors of sizes
// around those of waves and workgroups, one and several workgroups.
// REQUIRES: vgpu
// RUN: %hipcc_all -O3 -x hip %s -o %t
// RUN: kprobe-vgpu --vgpu=gfx906 -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx1030 -- %t | FileCheck %s
// CHECK: virtual
// CHECK: passed
#include "Inputs/check.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

__global__ void add(const float *A, const float *B, float *C, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    C[I] = A[I] + B[I];
}

int main() {
  hipDeviceProp_t Properties;
  HIP(hipGetDeviceProperties(&Properties, 0));
  std::string Name = Properties.name;
  std::transform(Name.begin(), Name.end(), Name.begin(), ::tolower);
  std::printf("%s\n", Name.c_str());
  for (int N : {1, 63, 64, 65, 255, 256, 257, 10000}) {
    std::vector<float> A(N), B(N), C(N, -1);
    for (int I = 0; I < N; ++I) {
      A[I] = I * 0.5f;
      B[I] = 3.0f - I;
    }
    const size_t Bytes = N * sizeof(float);
    float *DeviceA, *DeviceB, *DeviceC;
    HIP(hipMalloc(&DeviceA, Bytes));
    HIP(hipMalloc(&DeviceB, Bytes));
    HIP(hipMalloc(&DeviceC, Bytes));
    HIP(hipMemcpy(DeviceA, A.data(), Bytes, hipMemcpyHostToDevice));
    HIP(hipMemcpy(DeviceB, B.data(), Bytes, hipMemcpyHostToDevice));
    add<<<(N + 255) / 256, 256>>>(DeviceA, DeviceB, DeviceC, N);
    HIP(hipGetLastError());
    HIP(hipMemcpy(C.data(), DeviceC, Bytes, hipMemcpyDeviceToHost));
    for (int I = 0; I < N; ++I)
      EXPECT(C[I] == A[I] + B[I], "N %d, C[%d] is %g", N, I, C[I]);
    HIP(hipFree(DeviceA));
    HIP(hipFree(DeviceB));
    HIP(hipFree(DeviceC));
  }
  return passed();
}
