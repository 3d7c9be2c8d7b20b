// Streams are ordered within and by events across; event times of a stream do
// not run backwards; callbacks run; a null-stream launch waits for the others.
// REQUIRES: vgpu
// RUN: %hipcc_all -O3 -x hip %s -o %t
// RUN: kprobe-vgpu --vgpu=gfx906 -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx1030 -- %t | FileCheck %s
// RUN: timeout 120 kprobe-vgpu --vgpu=gfx906 --threads 2 -- %t | FileCheck %s
// RUN: timeout 120 kprobe-vgpu --vgpu=gfx1030 --threads 4 -- %t | FileCheck %s
// CHECK: passed
#include "Inputs/check.h"

#include <atomic>
#include <vector>

__global__ void step(unsigned *Cell, unsigned Expected, unsigned *Errors) {
  if (*Cell != Expected)
    atomicAdd(Errors, 1);
  *Cell = Expected + 1;
}

__global__ void spinABit(unsigned *Cell, int N) {
  unsigned Value = *Cell;
  for (int I = 0; I < N; ++I)
    Value = Value * 1664525u + 1013904223u;
  if (Value == 12345)
    *Cell = Value;
}

static std::atomic<int> Called{0};

int main() {
  constexpr int Count = 6, Steps = 10;
  hipStream_t Streams[Count];
  unsigned *Cells, *Errors;
  HIP(hipMalloc(&Cells, 256 * Count));
  HIP(hipMalloc(&Errors, 4));
  HIP(hipMemset(Cells, 0, 256 * Count));
  HIP(hipMemset(Errors, 0, 4));
  HIP(hipDeviceSynchronize());
  for (hipStream_t &Stream : Streams)
    HIP(hipStreamCreateWithFlags(&Stream, hipStreamNonBlocking));
  for (unsigned Step = 0; Step < Steps; ++Step)
    for (int I = 0; I < Count; ++I)
      step<<<1, 1, 0, Streams[I]>>>(Cells + 64 * I, Step, Errors);
  HIP(hipDeviceSynchronize());

  // One cell, written by all streams in turn, each behind the other's event.
  HIP(hipMemset(Cells, 0, 4));
  HIP(hipDeviceSynchronize());
  hipEvent_t Previous = nullptr;
  std::vector<hipEvent_t> Events;
  for (unsigned Step = 0; Step < 24; ++Step) {
    hipStream_t Stream = Streams[Step % Count];
    if (Previous)
      HIP(hipStreamWaitEvent(Stream, Previous, 0));
    spinABit<<<1, 64, 0, Stream>>>(Cells + 64, 500);
    step<<<1, 1, 0, Stream>>>(Cells, Step, Errors);
    hipEvent_t Event;
    HIP(hipEventCreate(&Event));
    HIP(hipEventRecord(Event, Stream));
    Events.push_back(Event);
    Previous = Event;
  }
  HIP(hipEventSynchronize(Previous));
  for (size_t I = 1; I < Events.size(); ++I) {
    float Milliseconds = -1;
    HIP(hipEventElapsedTime(&Milliseconds, Events[I - 1], Events[I]));
    EXPECT(Milliseconds >= 0, "event %zu: %g ms", I, Milliseconds);
  }

  // A stop event behind a kernel is later than the start event before it.
  hipEvent_t Start, Stop;
  HIP(hipEventCreate(&Start));
  HIP(hipEventCreate(&Stop));
  HIP(hipEventRecord(Start, Streams[0]));
  spinABit<<<4, 64, 0, Streams[0]>>>(Cells + 64, 2000);
  HIP(hipEventRecord(Stop, Streams[0]));
  HIP(hipStreamAddCallback(
      Streams[0], [](hipStream_t, hipError_t, void *) { ++Called; }, nullptr,
      0));
  HIP(hipStreamSynchronize(Streams[0]));
  float Milliseconds = 0;
  HIP(hipEventElapsedTime(&Milliseconds, Start, Stop));
  EXPECT(Milliseconds > 0, "%g ms", Milliseconds);
  EXPECT(Called == 1, "%d calls", int(Called));
  EXPECT(hipStreamQuery(Streams[0]) == hipSuccess, "stream is not idle");

  unsigned ErrorCount = ~0u;
  HIP(hipMemcpy(&ErrorCount, Errors, 4, hipMemcpyDeviceToHost));
  EXPECT(ErrorCount == 0, "%u steps out of order", ErrorCount);
  for (hipStream_t Stream : Streams)
    HIP(hipStreamDestroy(Stream));
  return passed();
}
