// A kernel reads and writes host memory that the device may see: pinned,
// registered (mapped by its host address and by its device address) and managed.
// REQUIRES: vgpu
// RUN: %hipcc_all -O3 -x hip %s -o %t
// RUN: kprobe-vgpu --vgpu=gfx906 -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx1030 -- %t | FileCheck %s
// CHECK: passed
#include "Inputs/check.h"

#include <vector>

__global__ void triple(int *Cells, int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    Cells[I] *= 3;
}

static void check(int *Host, int *Device, int N, const char *What) {
  for (int I = 0; I < N; ++I)
    Host[I] = I;
  triple<<<(N + 127) / 128, 128>>>(Device, N);
  HIP(hipGetLastError());
  HIP(hipDeviceSynchronize());
  for (int I = 0; I < N; ++I)
    EXPECT(Host[I] == 3 * I, "%s: cell %d is %d", What, I, Host[I]);
}

int main() {
  constexpr int N = 5000;
  int *Pinned, *Mapped, *Managed;
  HIP(hipHostMalloc(&Pinned, N * 4, hipHostMallocMapped));
  HIP(hipHostGetDevicePointer(reinterpret_cast<void **>(&Mapped), Pinned, 0));
  check(Pinned, Mapped, N, "pinned");

  std::vector<int> Registered(N);
  HIP(hipHostRegister(Registered.data(), N * 4, hipHostRegisterDefault));
  HIP(hipHostGetDevicePointer(reinterpret_cast<void **>(&Mapped),
                              Registered.data(), 0));
  check(Registered.data(), Mapped, N, "registered");
  HIP(hipHostUnregister(Registered.data()));

  HIP(hipMallocManaged(&Managed, N * 4));
  check(Managed, Managed, N, "managed");

  hipPointerAttribute_t Attributes;
  HIP(hipPointerGetAttributes(&Attributes, Pinned + 10));
  EXPECT(Attributes.memoryType == hipMemoryTypeHost, "type %d",
         int(Attributes.memoryType));
  HIP(hipFree(Managed));
  HIP(hipHostFree(Pinned));
  return passed();
}
