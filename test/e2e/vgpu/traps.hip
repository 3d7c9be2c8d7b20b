// What ends a kernel before its time, ends the program through ROCr's queue
// error: abort(), a failed assert with its text, an instruction that does not
// exist (named by its encoding) and a kernel that would never end.
// REQUIRES: vgpu
// RUN: %hipcc_all -O3 -x hip %s -o %t
// RUN: for on in gfx906 gfx90a gfx1030; do \
// RUN:   not --crash kprobe-vgpu --vgpu=$on -- %t abort 2>&1 | FileCheck --check-prefix=ABORT %s && \
// RUN:   not --crash kprobe-vgpu --vgpu=$on -- %t assert 2>&1 | FileCheck --check-prefix=ASSERT %s && \
// RUN:   not --crash kprobe-vgpu --vgpu=$on -- %t illegal 2>&1 | FileCheck --check-prefix=ILLEGAL %s && \
// RUN:   not --crash kprobe-vgpu --vgpu=$on --max-cycles 100000 -- %t endless 2>&1 \
// RUN:     | FileCheck --check-prefix=ENDLESS %s || exit 1; done
// ABORT: trap
// ABORT: kernel aborts()
// ABORT: HSA_STATUS_ERROR_EXCEPTION
// ASSERT: traps.hip:[[#@LINE+16]]: {{.*}}Device-side assertion `threadIdx.x < 60' failed.
// ASSERT: kernel asserts()
// ILLEGAL: illegal instruction: {{.*}}encoding 7eadbeef
// ILLEGAL: kernel illegal()
// ILLEGAL: HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION
// ENDLESS: cycle limit exceeded
// ENDLESS: kernel endless(int*)
#undef NDEBUG
#include "Inputs/check.h"

#include <cassert>
#include <cstring>

__global__ void aborts() { abort(); }

__global__ void asserts() {
  assert(threadIdx.x < 60);
}

__global__ void illegal() { asm volatile(".long 0x7eadbeef"); }

__global__ void endless(int *Cell) {
  while (__atomic_load_n(Cell, __ATOMIC_RELAXED) == 0)
    ;
}

int main(int, char **Args) {
  int *Cell;
  HIP(hipMalloc(&Cell, 4));
  HIP(hipMemset(Cell, 0, 4));
  if (std::strcmp(Args[1], "abort") == 0)
    aborts<<<1, 64>>>();
  else if (std::strcmp(Args[1], "assert") == 0)
    asserts<<<1, 64>>>();
  else if (std::strcmp(Args[1], "illegal") == 0)
    illegal<<<1, 64>>>();
  else
    endless<<<1, 64>>>(Cell);
  HIP(hipDeviceSynchronize());
  return passed();
}
