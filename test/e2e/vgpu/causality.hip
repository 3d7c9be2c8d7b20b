// Cause comes before effect on the host's clock: kernels begin after they were
// launched, also those that were launched while the one before them was being
// computed (which takes much longer than its modelled time), end before the host
// hears of it, and after their predecessor in the stream.
// REQUIRES: vgpu
// RUN: %hipcc -O3 -x hip %s -o %t
// RUN: timeout 120 kprobe-vgpu -- %t | FileCheck %s
// RUN: timeout 120 kprobe-vgpu --vgpu=gfx906,gfx906 -- %t | FileCheck %s
// CHECK: passed
#include "Inputs/check.h"

#include <time.h>
#include <unistd.h>

struct Times {
  unsigned long long Begin, End; ///< Ticks of 10 ns.
};

__global__ void work(Times *T, float *Out, int Rounds) {
  const unsigned long long Begin = __builtin_amdgcn_s_memrealtime();
  float Value = threadIdx.x;
  for (int I = 0; I < Rounds; ++I)
    Value = Value * 0.5f + 1.0f;
  Out[blockIdx.x * blockDim.x + threadIdx.x] = Value;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    T->Begin = Begin;
    T->End = __builtin_amdgcn_s_memrealtime();
  }
}

static unsigned long long ticks(bool Up) {
  timespec T;
  clock_gettime(CLOCK_MONOTONIC, &T);
  return (T.tv_sec * 1000000000ull + T.tv_nsec + (Up ? 9 : 0)) / 10;
}

int main() {
  constexpr int Streams = 2, Launches = 12;
  int Devices = 0;
  HIP(hipGetDeviceCount(&Devices));
  hipStream_t Stream[Streams];
  Times *T[Streams];
  float *Out[Streams];
  for (int S = 0; S < Streams; ++S) {
    HIP(hipSetDevice(S % Devices));
    HIP(hipStreamCreateWithFlags(&Stream[S], hipStreamNonBlocking));
    HIP(hipHostMalloc(&T[S], Launches * sizeof(Times), 0));
    HIP(hipMalloc(&Out[S], 480 * 256 * 4));
  }
  unsigned long long Before[Streams][Launches];
  for (int L = 0; L < Launches; ++L) {
    for (int S = 0; S < Streams; ++S) {
      HIP(hipSetDevice(S % Devices));
      Before[S][L] = ticks(false);
      work<<<L == 0 ? 480 : 4, 256, 0, Stream[S]>>>(T[S] + L, Out[S], 200);
    }
    usleep(200);
  }
  for (int S = 0; S < Streams; ++S) {
    HIP(hipStreamSynchronize(Stream[S]));
    const unsigned long long After = ticks(true);
    for (int L = 0; L < Launches; ++L) {
      EXPECT(Before[S][L] <= T[S][L].Begin, "stream %d, launch %d: begins %lld ticks early", S, L,
             (long long)(Before[S][L] - T[S][L].Begin));
      EXPECT(T[S][L].End <= After, "stream %d, launch %d: ends %lld ticks late", S, L,
             (long long)(T[S][L].End - After));
      EXPECT(L == 0 || T[S][L - 1].End <= T[S][L].Begin, "stream %d, launch %d", S, L);
    }
  }
  return passed();
}
