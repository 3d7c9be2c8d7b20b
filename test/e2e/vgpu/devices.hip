// Several devices of different targets, and one target twice, in one process:
// each says what it is, runs its own code of the fat binary, and exchanges memory
// with every other one.
// REQUIRES: vgpu
// RUN: %hipcc_all -O3 -x hip %s -o %t
// RUN: kprobe-vgpu --vgpu=gfx906,gfx90a,gfx1030,gfx90a -- %t | FileCheck %s
// RUN: env ROCR_VISIBLE_DEVICES=2 kprobe-vgpu --vgpu=gfx906,gfx90a,gfx1030 -- %t \
// RUN:     | FileCheck --check-prefix=ONE %s
// CHECK: devices 4
// CHECK-NEXT: gfx906{{.*}} wave 64, units 60, LDS 65536, engine 1800 MHz, 906
// CHECK-NEXT: gfx90a:sramecc+:xnack- wave 64, units 110, LDS 65536, engine 1700 MHz, 910
// CHECK-NEXT: gfx1030 wave 32, units 40, LDS 65536, engine 2250 MHz, 1030
// CHECK-NEXT: gfx90a:sramecc+:xnack- wave 64, units 110, LDS 65536, engine 1700 MHz, 910
// CHECK-NEXT: passed
// ONE: devices 1
// ONE-NEXT: gfx1030 wave 32
// ONE-NEXT: passed
#include "Inputs/check.h"

#include <string>
#include <vector>

/// Which code of the binary runs.
__device__ int codeNumber() {
#if defined(__gfx906__)
  return 906;
#elif defined(__gfx90a__)
  return 910;
#elif defined(__gfx1030__)
  return 1030;
#else
  return 0;
#endif
}

__global__ void fill(int *Out, int Seed, int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    Out[I] = Seed * 1000000 + I * 3 + codeNumber();
}

/// Reads another device's memory.
__global__ void gather(int *Out, const int *In, int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    Out[I] = In[N - 1 - I] + 1;
}

int main() {
  constexpr int N = 5000, Blocks = (N + 255) / 256;
  int Count = 0;
  HIP(hipGetDeviceCount(&Count));
  std::printf("devices %d\n", Count);
  std::vector<int *> Memory(Count), Spare(Count);
  std::vector<int> Code(Count);
  for (int D = 0; D < Count; ++D) {
    hipDeviceProp_t P;
    HIP(hipGetDeviceProperties(&P, D));
    std::printf("%s wave %d, units %d, LDS %zu, engine %d MHz, %d\n", P.gcnArchName, P.warpSize,
                P.multiProcessorCount, P.sharedMemPerBlock, P.clockRate / 1000, P.gcnArch);
    HIP(hipSetDevice(D));
    HIP(hipMalloc(&Memory[D], N * 4));
    HIP(hipMalloc(&Spare[D], N * 4));
    fill<<<Blocks, 256>>>(Memory[D], D + 1, N);
    HIP(hipGetLastError());
    int First = 0;
    HIP(hipMemcpy(&First, Memory[D], 4, hipMemcpyDeviceToHost));
    Code[D] = First - (D + 1) * 1000000;
    const std::string Name(P.gcnArchName);
    const int Expected = Name.find("gfx906") == 0 ? 906 : Name.find("gfx90a") == 0 ? 910 : 1030;
    EXPECT(Code[D] == Expected, "device %d ran the code for %d", D, Code[D]);
  }
  std::vector<int> Host(N);
  for (int From = 0; From < Count; ++From)
    for (int To = 0; To < Count; ++To) {
      if (From == To)
        continue;
      HIP(hipSetDevice(To));
      HIP(hipMemcpyPeer(Spare[To], To, Memory[From], From, N * 4));
      HIP(hipMemcpy(Host.data(), Spare[To], N * 4, hipMemcpyDeviceToHost));
      for (int I = 0; I < N; ++I)
        EXPECT(Host[I] == (From + 1) * 1000000 + I * 3 + Code[From], "%d to %d, item %d: %d", From,
               To, I, Host[I]);
      int Can = 0;
      HIP(hipDeviceCanAccessPeer(&Can, To, From));
      EXPECT(Can == 1, "%d to %d", To, From);
      HIP(hipDeviceEnablePeerAccess(From, 0));
      gather<<<Blocks, 256>>>(Spare[To], Memory[From], N);
      HIP(hipGetLastError());
      HIP(hipMemcpy(Host.data(), Spare[To], N * 4, hipMemcpyDeviceToHost));
      for (int I = 0; I < N; ++I)
        EXPECT(Host[I] == (From + 1) * 1000000 + (N - 1 - I) * 3 + Code[From] + 1,
               "%d reads %d, item %d: %d", To, From, I, Host[I]);
    }
  return passed();
}
