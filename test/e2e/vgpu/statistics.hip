// Counters of each dispatch, as a table with sums and as JSON: numbers that follow
// from the kernels are exactly those, the JSON is whole however the program ends,
// and a faulted dispatch is in it, too.
// REQUIRES: vgpu
// RUN: %hipcc -O3 -x hip %s -o %t
// RUN: rm -f %t.json %t.txt
// RUN: kprobe-vgpu --stats=%t.txt --stats-json=%t.json -- %t return | FileCheck --check-prefix=PASSED %s
// PASSED: passed
// RUN: FileCheck %s < %t.txt
// RUN: %python %S/check_statistics.py %t.json completed
// CHECK: dispatch {{[0-9]+}} of queue {{[0-9]+}}: _Z4someiPi
// CHECK-NEXT: modelled-cycles {{ *[1-9]}}
// CHECK-NEXT: workgroups {{ *}}3{{$}}
// CHECK-NEXT: waves {{ *}}6{{$}}
// CHECK: atomic-lanes {{ *}}30{{$}}
// CHECK: barrier {{ *}}6{{$}}
// CHECK: waves-per-simd {{ *[0-9]+}} (limit: {{[a-z]+}})
// CHECK: totals (cycles are modelled)
// CHECK: {{^ +}}2 {{.*}}  _Z4someiPi
// CHECK: (all)
//
// RUN: kprobe-vgpu --stats-json=%t.json -- %t exit; test $? -eq 7
// RUN: %python %S/check_statistics.py %t.json completed
// RUN: kprobe-vgpu --stats-json=%t.json -- %t _exit; test $? -eq 8
// RUN: %python %S/check_statistics.py %t.json completed
// RUN: not --crash kprobe-vgpu --stats-json=%t.json -- %t fault 2> %t.err
// RUN: %python %S/check_statistics.py %t.json "memory fault"
#include "Inputs/check.h"

#include <cstring>
#include <unistd.h>

__global__ void some(int Lanes, int *Cell) {
  if (threadIdx.x % 64 < Lanes)
    atomicAdd(Cell + threadIdx.x, 1);
  __syncthreads();
  if (threadIdx.x == 0)
    Cell[200] = Cell[0];
}
__global__ void wild(int *Cell) { *Cell = 1; }

int main(int, char **Args) {
  int *Cells;
  HIP(hipMalloc(&Cells, 4096));
  HIP(hipMemset(Cells, 0, 4096));
  some<<<3, 128>>>(5, Cells); // 6 waves of 5 lanes each.
  some<<<3, 128>>>(5, Cells);
  HIP(hipDeviceSynchronize());
  if (!std::strcmp(Args[1], "exit"))
    exit(7);
  if (!std::strcmp(Args[1], "_exit"))
    _exit(8);
  if (!std::strcmp(Args[1], "fault")) {
    wild<<<1, 64>>>(reinterpret_cast<int *>(0x1234560000));
    HIP(hipDeviceSynchronize());
  }
  return passed();
}
