// Kernels of two streams run at the same time: each waits for what the other one
// writes. Eight streams at once compute what they should. Event times follow the
// model: ten kernels between two events take the sum of what each takes.
// REQUIRES: vgpu
// RUN: %hipcc -O3 -x hip %s -o %t
// RUN: timeout 120 kprobe-vgpu -- %t | FileCheck %s
// CHECK: passed
#include "Inputs/check.h"

#include <cmath>
#include <vector>

__global__ void meet(volatile int *Own, volatile int *Other) {
  *Own = 1;
  while (*Other != 1)
    __builtin_amdgcn_s_sleep(1);
}

/// Until the host says so, and 40 ms of modelled time more.
__global__ void holdBack(volatile int *Go) {
  while (*Go != 1)
    __builtin_amdgcn_s_sleep(127);
  for (int I = 0; I < 9000; ++I)
    __builtin_amdgcn_s_sleep(127);
}

__global__ void iterate(unsigned *Cells, int Rounds) {
  unsigned *Cell = Cells + blockIdx.x * blockDim.x + threadIdx.x;
  unsigned Value = *Cell;
  for (int I = 0; I < Rounds; ++I)
    Value = Value * 1664525u + 1013904223u;
  *Cell = Value;
}

static void meeting() {
  int *Flags;
  HIP(hipMalloc(&Flags, 8));
  HIP(hipMemset(Flags, 0, 8));
  HIP(hipDeviceSynchronize());
  hipStream_t One, Two;
  HIP(hipStreamCreateWithFlags(&One, hipStreamNonBlocking));
  HIP(hipStreamCreateWithFlags(&Two, hipStreamNonBlocking));
  meet<<<1, 64, 0, One>>>(Flags, Flags + 1);
  meet<<<4, 256, 0, Two>>>(Flags + 1, Flags);
  HIP(hipStreamSynchronize(One));
  HIP(hipStreamSynchronize(Two));
  HIP(hipStreamDestroy(One));
  HIP(hipStreamDestroy(Two));
  HIP(hipFree(Flags));
}

static void manyStreams() {
  constexpr int Count = 8, Launches = 12;
  constexpr size_t Items = 1024;
  hipStream_t Streams[Count];
  unsigned *Cells;
  HIP(hipMalloc(&Cells, Count * Items * 4));
  HIP(hipMemset(Cells, 0, Count * Items * 4));
  HIP(hipDeviceSynchronize());
  for (hipStream_t &Stream : Streams)
    HIP(hipStreamCreateWithFlags(&Stream, hipStreamNonBlocking));
  for (int L = 0; L < Launches; ++L)
    for (int S = 0; S < Count; ++S)
      iterate<<<4, 256, 0, Streams[S]>>>(Cells + size_t(S) * Items, 1 + S + L);
  HIP(hipDeviceSynchronize());
  std::vector<unsigned> Values(Count * Items);
  HIP(hipMemcpy(Values.data(), Cells, Count * Items * 4, hipMemcpyDeviceToHost));
  for (int S = 0; S < Count; ++S) {
    unsigned Expected = 0;
    for (int I = 0; I < Launches * (1 + S) + Launches * (Launches - 1) / 2; ++I)
      Expected = Expected * 1664525u + 1013904223u;
    for (size_t I = 0; I < Items; ++I)
      EXPECT(Values[size_t(S) * Items + I] == Expected, "stream %d, item %zu", S, I);
  }
  for (hipStream_t Stream : Streams)
    HIP(hipStreamDestroy(Stream));
  HIP(hipFree(Cells));
}

static float between(hipEvent_t From, hipEvent_t To) {
  float Milliseconds = -1;
  HIP(hipEventElapsedTime(&Milliseconds, From, To));
  return Milliseconds;
}

static void eventTimes() {
  constexpr int Kernels = 10;
  // The kernel at the head ends when all have been queued for long, in modelled
  // time too: that lags behind the host's while the model has no processor.
  int *Go;
  HIP(hipHostMalloc(&Go, sizeof(int), 0));
  *Go = 0;
  unsigned *Cells;
  HIP(hipMalloc(&Cells, 4096 * 4));
  HIP(hipMemset(Cells, 0, 4096 * 4));
  HIP(hipDeviceSynchronize());
  hipStream_t Stream;
  HIP(hipStreamCreateWithFlags(&Stream, hipStreamNonBlocking));
  hipEvent_t Events[Kernels + 1];
  for (hipEvent_t &Event : Events)
    HIP(hipEventCreate(&Event));
  holdBack<<<1, 1, 0, Stream>>>(Go);
  HIP(hipEventRecord(Events[0], Stream));
  for (int I = 0; I < Kernels; ++I) {
    iterate<<<16, 256, 0, Stream>>>(Cells, 3000);
    HIP(hipEventRecord(Events[I + 1], Stream));
  }
  *static_cast<volatile int *>(Go) = 1;
  HIP(hipStreamSynchronize(Stream));
  float Sum = 0;
  for (int I = 0; I < Kernels; ++I) {
    const float One = between(Events[I], Events[I + 1]);
    // 3000 rounds, at least a multiplication of 16 cycles each, at 1.8 GHz.
    EXPECT(One > 0.026f && One < 0.3f, "kernel %d took %g ms", I, One);
    EXPECT(I == 0 || std::fabs(One - between(Events[1], Events[2])) < 0.01f * One,
           "kernel %d took %g ms", I, One);
    Sum += One;
  }
  const float All = between(Events[0], Events[Kernels]);
  EXPECT(std::fabs(All - Sum) < 1e-3f * Sum, "%g ms, sum %g ms", All, Sum);
  HIP(hipStreamDestroy(Stream));
}

int main() {
  meeting();
  manyStreams();
  eventTimes();
  return passed();
}
