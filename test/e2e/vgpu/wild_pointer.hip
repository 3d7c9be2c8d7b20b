// A store outside every allocation ends the program through ROCr's own memory
// fault, after a message that names kernel, place and instruction. So does one
// to memory that was freed.
// REQUIRES: vgpu
// RUN: %hipcc -O3 -g -x hip %s -o %t
// RUN: not --crash kprobe-vgpu -- %t wild 2> %t.wild
// RUN: FileCheck --check-prefixes=CHECK,WILD %s < %t.wild
// RUN: not --crash kprobe-vgpu -- %t freed 2> %t.freed
// RUN: FileCheck --check-prefixes=CHECK,FREED %s < %t.freed
// WILD: memory fault: {{.*}}address 0x123456789{{0|4}}
// FREED: memory fault: {{.*}}address 0x
// CHECK-NEXT: kernel poke(int*, bool), workgroup (2, 0, 0), wave 1, lane 5
// CHECK-NEXT: pc 0x{{.*}}: {{(global|flat)}}_store_dword
// CHECK-NEXT: wild_pointer.hip:[[#@LINE+11]]
// WILD: Memory access fault by GPU node-1 {{.*}} on address 0x123456{{7|8}}000. Reason: Page not present
// FREED: Memory access fault by GPU node-1
#include "Inputs/check.h"

#include <cstring>

__global__ void poke(int *Cells, bool Never) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  // Only one lane goes wrong.
  if (I == 2 * 128 + 64 + 5 || Never)
    *Cells = I;
}

int main(int, char **Args) {
  int *Cells = reinterpret_cast<int *>(0x1234567890);
  if (std::strcmp(Args[1], "freed") == 0) {
    HIP(hipMalloc(&Cells, 16 << 20));
    HIP(hipFree(Cells));
  }
  poke<<<4, 128>>>(Cells, false);
  HIP(hipDeviceSynchronize());
  return passed();
}
