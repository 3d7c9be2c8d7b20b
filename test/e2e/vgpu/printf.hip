// printf in a kernel reaches stdout, through ROCm's host call thread: the wave
// raises a signal and waits for the host's answer while it runs.
// REQUIRES: vgpu
// RUN: %hipcc_all -O3 -x hip %s -o %t
// RUN: kprobe-vgpu --vgpu=gfx906 -- %t > %t.out
// RUN: FileCheck %s < %t.out
// RUN: grep -c "^block" %t.out | FileCheck --check-prefix=COUNT %s
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t > %t.out
// RUN: FileCheck %s < %t.out
// RUN: grep -c "^block" %t.out | FileCheck --check-prefix=COUNT %s
// RUN: kprobe-vgpu --vgpu=gfx1030 -- %t > %t.out
// RUN: FileCheck %s < %t.out
// RUN: grep -c "^block" %t.out | FileCheck --check-prefix=COUNT %s
// CHECK-DAG: block 0 lane 0: 0.50 text
// CHECK-DAG: block 1 lane 2: 3.50 text
// CHECK-DAG: block 2 lane 1: 3.50 text
// CHECK: passed
// COUNT: {{^}}9{{$}}
#include "Inputs/check.h"

__global__ void speak() {
  if (threadIdx.x < 3)
    printf("block %d lane %d: %.2f %s\n", int(blockIdx.x), int(threadIdx.x),
           double(blockIdx.x + threadIdx.x) + 0.5, "text");
}

int main() {
  speak<<<3, 64>>>();
  HIP(hipGetLastError());
  HIP(hipDeviceSynchronize());
  return passed();
}
