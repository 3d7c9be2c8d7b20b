// Launches that cannot be are errors, not faults: too large groups, too much LDS,
// an empty grid. What the device and its kernels say of themselves: limits,
// attributes, occupancy, launch bounds. And a device that was reset works again.
// REQUIRES: vgpu
// RUN: %hipcc_all -O3 -x hip %s -o %t
// RUN: kprobe-vgpu --vgpu=gfx906 -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx1030 -- %t | FileCheck %s
// CHECK: passed
#include "Inputs/check.h"

__global__ void one(int *Cell) {
  if (threadIdx.x == 0)
    atomicAdd(Cell, 1);
}
__global__ __launch_bounds__(64) void narrow(int *Cell) {
  if (threadIdx.x == 63)
    atomicAdd(Cell, 1);
}
__global__ __launch_bounds__(1024) void wide(int *Cell) { atomicAdd(Cell, 1); }
__global__ void shared(int *Cell) {
  __shared__ int Kept[1000];
  Kept[threadIdx.x] = threadIdx.x;
  __syncthreads();
  atomicAdd(Cell, Kept[blockDim.x - 1 - threadIdx.x]);
}

static int read(int *Cell) {
  int Value = -1;
  HIP(hipMemcpy(&Value, Cell, 4, hipMemcpyDeviceToHost));
  return Value;
}

static void badLaunches(int *Cell) {
  HIP(hipMemset(Cell, 0, 4));
  one<<<1, 1025>>>(Cell);
  EXPECT(hipGetLastError() != hipSuccess, "1025 work items");
  one<<<1, dim3(1, 1, 1025)>>>(Cell);
  EXPECT(hipGetLastError() != hipSuccess, "1025 deep");
  one<<<0, 64>>>(Cell);
  EXPECT(hipGetLastError() != hipSuccess, "no group");
  one<<<1, 0>>>(Cell);
  EXPECT(hipGetLastError() != hipSuccess, "no work item");
  one<<<1, 64, 64 * 1024 + 4>>>(Cell);
  EXPECT(hipGetLastError() != hipSuccess, "too much LDS");
  EXPECT(hipPeekAtLastError() == hipSuccess, "the error stays");
  narrow<<<1, 128>>>(Cell);
  EXPECT(hipGetLastError() != hipSuccess, "beyond launch bounds");
  HIP(hipDeviceSynchronize());
  EXPECT(read(Cell) == 0, "a bad launch ran: %d", read(Cell));
  // The largest ones that are good.
  one<<<1, 1024>>>(Cell);
  HIP(hipGetLastError());
  one<<<dim3(3, 2, 2), dim3(16, 8, 8)>>>(Cell);
  one<<<1, 64, 64 * 1024>>>(Cell);
  HIP(hipGetLastError());
  narrow<<<2, 64>>>(Cell);
  wide<<<1, 1024>>>(Cell);
  HIP(hipGetLastError());
  EXPECT(read(Cell) == 1 + 12 * 8 * 8 + 1 + 2 + 1024, "%d", read(Cell));
  EXPECT(hipSetDevice(99) == hipErrorInvalidDevice, "device 99");
  EXPECT(hipMemcpy(Cell, nullptr, 4, hipMemcpyHostToDevice) != hipSuccess, "null source");
  (void)hipGetLastError();
}

static void attributes(int *Cell) {
  hipFuncAttributes Attributes;
  HIP(hipFuncGetAttributes(&Attributes, reinterpret_cast<const void *>(narrow)));
  EXPECT(Attributes.maxThreadsPerBlock == 64, "%d", Attributes.maxThreadsPerBlock);
  HIP(hipFuncGetAttributes(&Attributes, reinterpret_cast<const void *>(shared)));
  EXPECT(Attributes.sharedSizeBytes == 4000, "%zu", Attributes.sharedSizeBytes);
  EXPECT(Attributes.numRegs > 0 && Attributes.numRegs < 32, "%d", Attributes.numRegs);
  hipDeviceProp_t P;
  HIP(hipGetDeviceProperties(&P, 0));
  EXPECT(P.maxThreadsPerBlock == 1024, "%d", P.maxThreadsPerBlock);
  EXPECT(P.sharedMemPerBlock == 64 * 1024, "%zu", P.sharedMemPerBlock);
  EXPECT(P.warpSize == 64 || P.warpSize == 32, "%d", P.warpSize);
  int Value = 0;
  HIP(hipDeviceGetAttribute(&Value, hipDeviceAttributeMultiprocessorCount, 0));
  EXPECT(Value == P.multiProcessorCount && Value > 0, "%d", Value);

  int Groups = 0, MinGrid = 0, Best = 0;
  HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&Groups, shared, 64, 0));
  // LDS allows 64 KiB / 4000 bytes (rounded up to the granule).
  EXPECT(Groups > 0 && Groups <= 16, "%d groups", Groups);
  int Fewer = 0;
  HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&Fewer, shared, 64, 30000));
  EXPECT(Fewer == 1, "%d groups", Fewer);
  HIP(hipOccupancyMaxPotentialBlockSize(&MinGrid, &Best, shared, 0, 0));
  EXPECT(Best >= 64 && Best <= 1024 && MinGrid > 0, "%d of %d", MinGrid, Best);
  HIP(hipMemset(Cell, 0, 4));
  shared<<<2, 100>>>(Cell);
  EXPECT(read(Cell) == 2 * 99 * 100 / 2, "%d", read(Cell));
}

int main() {
  int *Cell;
  HIP(hipMalloc(&Cell, 4));
  badLaunches(Cell);
  attributes(Cell);
  int Least, Greatest;
  HIP(hipDeviceGetStreamPriorityRange(&Least, &Greatest));
  EXPECT(Greatest <= Least, "%d %d", Least, Greatest);
  hipStream_t Urgent;
  HIP(hipStreamCreateWithPriority(&Urgent, hipStreamNonBlocking, Greatest));
  HIP(hipMemset(Cell, 0, 4));
  one<<<3, 64, 0, Urgent>>>(Cell);
  HIP(hipStreamSynchronize(Urgent));
  EXPECT(read(Cell) == 3, "%d", read(Cell));
  HIP(hipStreamDestroy(Urgent));

  HIP(hipDeviceReset());
  HIP(hipMalloc(&Cell, 4));
  HIP(hipMemset(Cell, 0, 4));
  one<<<5, 64>>>(Cell);
  EXPECT(read(Cell) == 5, "after a reset: %d", read(Cell));
  return passed();
}
