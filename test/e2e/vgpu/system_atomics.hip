// Host and kernel talk through pinned memory while the kernel runs: the host sees
// the kernel's atomics and stores, the kernel sees the host's answers.
// REQUIRES: vgpu
// RUN: %hipcc_all -O3 -x hip %s -o %t
// RUN: timeout 120 kprobe-vgpu --vgpu=gfx906 -- %t | FileCheck %s
// RUN: timeout 120 kprobe-vgpu --vgpu=gfx90a -- %t | FileCheck %s
// RUN: timeout 120 kprobe-vgpu --vgpu=gfx1030 -- %t | FileCheck %s
// RUN: timeout 120 kprobe-vgpu --vgpu=gfx906 --threads 2 -- %t | FileCheck %s
// RUN: timeout 120 kprobe-vgpu --vgpu=gfx1030 --threads 4 -- %t | FileCheck %s
// CHECK: passed
#include "Inputs/check.h"

#include <chrono>

struct Talk {
  unsigned Question, Answer, Arrived, Ended;
  unsigned long long Bits;
};

constexpr unsigned Rounds = 20;

__global__ void talk(Talk *Shared, unsigned *Wrong) {
  atomicAdd_system(&Shared->Arrived, 1u);
  atomicOr_system(&Shared->Bits, 1ull << (threadIdx.x & 63));
  if (blockIdx.x == 0 && threadIdx.x == 0)
    for (unsigned Round = 1; Round <= Rounds; ++Round) {
      __hip_atomic_store(&Shared->Question, Round, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
      unsigned Answer;
      while ((Answer = __hip_atomic_load(&Shared->Answer, __ATOMIC_ACQUIRE,
                                         __HIP_MEMORY_SCOPE_SYSTEM)) < Round * 10)
        __builtin_amdgcn_s_sleep(4);
      if (Answer != Round * 10)
        atomicAdd(Wrong, 1u);
    }
  __syncthreads();
  atomicMax_system(&Shared->Ended, blockIdx.x * 128 + threadIdx.x + 1);
}

int main() {
  Talk *Shared;
  unsigned *Wrong, Errors = 1;
  HIP(hipHostMalloc(&Shared, sizeof(Talk), hipHostMallocCoherent | hipHostMallocMapped));
  *Shared = Talk{};
  HIP(hipMalloc(&Wrong, 4));
  HIP(hipMemset(Wrong, 0, 4));
  talk<<<3, 128>>>(Shared, Wrong);
  const auto Start = std::chrono::steady_clock::now();
  for (unsigned Round = 1; Round <= Rounds; ++Round) {
    while (__atomic_load_n(&Shared->Question, __ATOMIC_ACQUIRE) < Round)
      EXPECT(std::chrono::steady_clock::now() - Start < std::chrono::seconds(60), "round %u", Round);
    EXPECT(Shared->Question == Round, "%u", Shared->Question);
    EXPECT(hipStreamQuery(0) == hipErrorNotReady, "the kernel is over");
    __atomic_store_n(&Shared->Answer, Round * 10, __ATOMIC_RELEASE);
  }
  HIP(hipDeviceSynchronize());
  EXPECT(Shared->Arrived == 384 && Shared->Ended == 384, "%u %u", Shared->Arrived, Shared->Ended);
  EXPECT(Shared->Bits == ~0ull, "%llx", Shared->Bits);
  HIP(hipMemcpy(&Errors, Wrong, 4, hipMemcpyDeviceToHost));
  EXPECT(Errors == 0, "%u", Errors);
  return passed();
}
