// Wave-wide and bit intrinsics against the same arithmetic on the host, for full
// and partial waves, at the device's own wave size.
// REQUIRES: vgpu
// RUN: %hipcc_all -O3 -x hip %s -o %t
// RUN: kprobe-vgpu --vgpu=gfx906 -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx1030 -- %t | FileCheck %s
// CHECK: passed
#include "Inputs/check.h"

#include <cstdint>
#include <vector>

constexpr int Kinds = 21;

__global__ void waveWide(const int *In, long long *Out, int N) {
  const int I = threadIdx.x;
  if (I >= N)
    return;
  const int V = In[I];
  long long *O = Out + I * Kinds;
  int K = 0;
  O[K++] = __shfl(V, 3);
  O[K++] = __shfl(V, V);
  O[K++] = __shfl(V, 1, 8);
  O[K++] = __shfl_up(V, 2);
  O[K++] = __shfl_down(V, 5);
  O[K++] = __shfl_xor(V, 9);
  O[K++] = __shfl_xor(V, 1, 4);
  O[K++] = (long long)__ballot(V & 1);
  O[K++] = __any(V == 7);
  O[K++] = __all(V > -1);
  O[K++] = __popc(V);
  O[K++] = __popcll((unsigned long long)V << 20 | 5);
  O[K++] = __clz(V);
  O[K++] = __ffs(V);
  O[K++] = __brev(V);
  O[K++] = __mul24(V, -3);
  O[K++] = __umulhi(V, 0x90000001u);
  O[K++] = __mulhi(-V, 0x10000001);
  O[K++] = __byte_perm(V, 0xa1b2c3d4, 0x5140);
  O[K++] = __sad(V, 100, 7u);
  O[K++] = (long long)(__lane_id());
}

static int down(int Lane, int Delta, int Width) {
  return (Lane & (Width - 1)) + Delta < Width ? Lane + Delta : Lane;
}

static void check(int WaveSize, int N) {
  std::vector<int> In(256, 0);
  uint32_t Seed = 77;
  for (int I = 0; I < N; ++I) {
    Seed = Seed * 1664525u + 1013904223u;
    In[I] = I % 9 == 4 ? 0 : int(Seed >> (I % 3 ? 24 : 4));
  }
  int *Device;
  long long *Results;
  HIP(hipMalloc(&Device, 256 * 4));
  HIP(hipMalloc(&Results, 256 * Kinds * 8));
  HIP(hipMemcpy(Device, In.data(), 256 * 4, hipMemcpyHostToDevice));
  waveWide<<<1, 256>>>(Device, Results, N);
  std::vector<long long> Out(256 * Kinds);
  HIP(hipMemcpy(Out.data(), Results, Out.size() * 8, hipMemcpyDeviceToHost));
  for (int I = 0; I < N; ++I) {
    const int Base = I / WaveSize * WaveSize, Lane = I - Base;
    const int Lanes = N - Base < WaveSize ? N - Base : WaveSize;
    const int V = In[I];
    const uint32_t U = uint32_t(V);
    uint64_t Ballot = 0;
    bool Any = false, All = true;
    for (int L = 0; L < Lanes; ++L) {
      Ballot |= uint64_t(In[Base + L] & 1) << L;
      Any |= In[Base + L] == 7;
      All &= In[Base + L] > -1;
    }
    uint32_t Reversed = 0;
    for (int B = 0; B < 32; ++B)
      Reversed |= (U >> B & 1) << (31 - B);
    const uint64_t Both = uint64_t(0xa1b2c3d4u) << 32 | U;
    auto Byte = [&](int Select) { return uint32_t(Both >> (8 * Select) & 255); };
    // Where the source lane does not run, the result is not defined: -1.
    auto From = [&](int L) -> long long { return L < Lanes ? In[Base + L] : -1; };
    const long long Expected[Kinds] = {
        From(3),
        From(V & (WaveSize - 1)),
        From((Lane & ~7) + 1),
        Lane >= 2 ? From(Lane - 2) : V,
        From(down(Lane, 5, WaveSize)),
        From(Lane ^ 9),
        From(Lane ^ 1),
        (long long)Ballot,
        Any,
        All,
        __builtin_popcount(U),
        __builtin_popcountll((uint64_t)(int64_t)V << 20 | 5),
        U ? __builtin_clz(U) : 32,
        __builtin_ffs(V),
        (long long)Reversed,
        (int(U << 8) >> 8) * -3,
        (long long)(uint64_t(U) * 0x90000001u >> 32),
        (int64_t(-V) * 0x10000001) >> 32,
        (long long)(Byte(0) | Byte(4) << 8 | Byte(1) << 16 | Byte(5) << 24),
        (V > 100 ? V - 100 : 100 - V) + 7,
        Lane,
    };
    for (int K = 0; K < Kinds; ++K) {
      const long long Got = Out[I * Kinds + K];
      const bool Signed = K == 14 || K == 16 || K == 18 || K == 19;
      if (Expected[K] == -1 && K < 7)
        continue;
      EXPECT(Signed ? uint32_t(Got) == uint32_t(Expected[K]) : Got == Expected[K],
             "N %d, item %d, kind %d: %llx, expected %llx", N, I, K, Got, Expected[K]);
    }
  }
}

int main() {
  hipDeviceProp_t P;
  HIP(hipGetDeviceProperties(&P, 0));
  for (int N : {256, 64, 200, 37})
    check(P.warpSize, N);
  return passed();
}
