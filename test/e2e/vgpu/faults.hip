// A fault is reported as a debugger would show it: what and whose, the
// instruction, the source line with what it was inlined into, the registers that
// made the address, what lies next to the address, and the code around it. That
// holds without optimisation, with line tables only and without debug
// information (then without source lines); and the program ends through ROCr.
// faults_gfx90a.test and faults_gfx1030.test run the same there.
// REQUIRES: vgpu
// RUN: %hipcc -O0 -g -x hip %s -o %t.0
// RUN: %hipcc -O3 -gline-tables-only -x hip %s -o %t.3
// RUN: %hipcc -O3 -x hip %s -o %t.n
//
// RUN: not --crash kprobe-vgpu -- %t.0 wild 2>&1 | FileCheck -DLANES=64 -DWAVE=1 --check-prefixes=WILD,WILD0 %s
// RUN: not --crash kprobe-vgpu -- %t.3 wild 2>&1 | FileCheck -DLANES=64 -DWAVE=1 --check-prefixes=WILD,WILD3 %s
// RUN: not --crash kprobe-vgpu -- %t.n wild 2>&1 | FileCheck -DLANES=64 -DWAVE=1 --check-prefixes=WILD,WILDN %s
// RUN: not --crash kprobe-vgpu -- %t.0 past 2>&1 | FileCheck -DLANES=64 -DWAVE=1 --check-prefixes=PAST %s
// RUN: not --crash kprobe-vgpu -- %t.3 past 2>&1 | FileCheck -DLANES=64 -DWAVE=1 --check-prefixes=PAST,PAST3 %s
// RUN: not --crash kprobe-vgpu -- %t.n past 2>&1 | FileCheck -DLANES=64 -DWAVE=1 --check-prefixes=PAST %s
// RUN: not --crash kprobe-vgpu -- %t.0 freed 2>&1 | FileCheck -DLANES=64 -DWAVE=1 --check-prefixes=FREED %s
// RUN: not --crash kprobe-vgpu -- %t.3 freed 2>&1 | FileCheck -DLANES=64 -DWAVE=1 --check-prefixes=FREED %s
// RUN: not --crash kprobe-vgpu -- %t.3 atomic 2>&1 | FileCheck -DLANES=64 -DWAVE=1 --check-prefixes=ATOMIC %s
// RUN: not --crash kprobe-vgpu -- %t.3 local 2>&1 | FileCheck -DLANES=64 -DWAVE=1 --check-prefixes=LOCAL %s
// RUN: not --crash kprobe-vgpu -- %t.n local 2>&1 | FileCheck -DLANES=64 -DWAVE=1 --check-prefixes=LOCALN %s
// RUN: not --crash kprobe-vgpu -- %t.0 stack 2>&1 | FileCheck -DLANES=64 -DWAVE=1 --check-prefixes=STACK %s
// RUN: not --crash kprobe-vgpu -- %t.3 stack 2>&1 | FileCheck -DLANES=64 -DWAVE=1 --check-prefixes=STACK %s
// RUN: not --crash kprobe-vgpu --max-cycles 200000 -- %t.3 barrier 2>&1 | FileCheck -DLANES=64 -DWAVE=1 --check-prefixes=BARRIER %s
#include "Inputs/check.h"

#include <cstring>

// WILD: {{^}}kprobe-vgpu: memory fault: load of 4 bytes outside all memory of the device, address 0x123456789010
// WILD-NEXT: {{^}}kprobe-vgpu: kernel wild(int*, int const* const*), workgroup (2, 0, 0), wave [[WAVE]], lane 5, work item (69, 0, 0)
// WILD3-NEXT: pc 0x{{[0-9a-f]+}} (entry + 0x{{[0-9a-f]+}}): {{global|flat}}_load_dword
// WILDN-NEXT: pc 0x{{[0-9a-f]+}} (entry + 0x{{[0-9a-f]+}}): {{global|flat}}_load_dword
// WILD0-NEXT: pc 0x{{[0-9a-f]+}} (fourth(int const volatile*) + 0x{{[0-9a-f]+}}): {{global|flat}}_load_dword
// volatile, or the compiler loads in the caller what it then passes.
__device__ int fourth(const volatile int *Cells) {
  return Cells[4]; // WILD3-NEXT: at /{{.*}}faults.hip:[[#@LINE]]:10 in fourth
                   // WILD0-NEXT: at /{{.*}}faults.hip:[[#@LINE-1]]:10 in fourth(int const volatile*)
}
__global__ void wild(int *Out, const int *const *Lists) {
  if (const int *Cells = Lists[blockIdx.x * blockDim.x + threadIdx.x]) // One has one.
    *Out = fourth(Cells); // WILD3-NEXT:   inlined at /{{.*}}faults.hip:[[#@LINE]]:12 in wild(int*, int const* const*)
}
// WILD0-NEXT: registers: v[{{[0-9:]+}}] = 0x123456789000, offset 16; exec = 0x20, 1 of [[LANES]] lanes active
// WILD3-NEXT: registers: v[{{[0-9:]+}}] = 0x123456789000, offset 16; exec = 0x20, 1 of [[LANES]] lanes active
// WILDN-NEXT: registers: v[{{[0-9:]+}}] = 0x123456789000, offset 16; exec = 0x20, 1 of [[LANES]] lanes active
// WILD-NEXT: memory: no allocation is near
// WILD0-NEXT: code of _Z6fourthPVKi:
// WILD3-NEXT: code of _Z4wildPiPKPKi:
// WILDN-NEXT: code of _Z4wildPiPKPKi:
// WILD:      {{^}}kprobe-vgpu: => +0x{{[0-9a-f]+}} {{ *}}{{global|flat}}_load_dword
// WILD-NEXT: {{^}}kprobe-vgpu:    +0x{{[0-9a-f]+}} {{ *}}
// WILD: Memory access fault by GPU node-1 {{.*}} on address 0x123456789000. Reason: Page not present

// PAST: memory fault: store of 4 bytes outside all memory of the device, address 0x
// PAST-NEXT: kernel past(int*, int), workgroup (0, 0, 0), wave {{[01]}}, lane 0, work item ({{0|32}}, 0, 0)
__global__ void past(int *Cells, int N) {
  Cells[N + threadIdx.x] = N; // PAST3: at /{{.*}}faults.hip:[[#@LINE]]:{{[0-9]+}} in past(int*, int)
}
// PAST: memory: {{16|144}} bytes past the end of a 4096-byte allocation of device memory at 0x
// PAST: Memory access fault by GPU node-1

// FREED: memory fault: store of 4 bytes outside all memory of the device, address 0x
// FREED: memory: 64 bytes into a 4096-byte allocation of device memory at 0x{{[0-9a-f]+}}, which has been freed
// FREED: Memory access fault by GPU node-1

// A misaligned atomic:
// ATOMIC: misaligned access: atomic on an address that is no multiple of its size, address 0x{{[0-9a-f]+}}2{{$}}
// ATOMIC-NEXT: kernel atomic(char*), workgroup (0, 0, 0), wave {{[01]}}, lane 0
__global__ void atomic(char *Bytes) {
  atomicAdd(reinterpret_cast<int *>(Bytes + 2), 1);
  // ATOMIC: inlined at /{{.*}}faults.hip:[[#@LINE-1]]:3 in atomic(char*)
}
// ATOMIC: memory: 2 bytes into a 4096-byte allocation of device memory
// ATOMIC: HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION

// LOCAL: LDS access out of range: 4 bytes at LDS offset 256, the workgroup has 256, address 0x100
// LOCAL-NEXT: kernel local(int*), workgroup (0, 0, 0), wave [[WAVE]], lane 0, work item (64, 0, 0)
// LOCAL-NEXT: ds_write_b32
// LOCALN: LDS access out of range: 4 bytes at LDS offset 256, the workgroup has 256, address 0x100
// LOCALN-NOT: at /
// LOCALN: HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION
__global__ void local(int *Out) {
  extern __shared__ int Cells[];
  Cells[threadIdx.x] = 1; // LOCAL-NEXT: at /{{.*}}faults.hip:[[#@LINE]]:{{[0-9]+}} in local(int*)
  __syncthreads();
  *Out = Cells[0];
}
// LOCAL-NEXT: registers: v{{[0-9]+}} = 0x100; exec = 0x{{f+}}, [[LANES]] of [[LANES]] lanes active
// LOCAL: HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION

// STACK: stack overflow: {{.*}}work item's {{[0-9]+}} bytes of scratch
// STACK-NEXT: kernel stack(int*, int), workgroup (0, 0, 0), wave {{[01]}}, lane 0
// STACK-NEXT: (deeper(int) + 0x{{[0-9a-f]+}}): buffer_store_dword
// STACK-NEXT: at /{{.*}}faults.hip:[[#@LINE+1]]:{{[0-9]+}} in deeper(int)
__device__ __attribute__((noinline)) int deeper(int N) { volatile int Kept[64]; Kept[N % 64] = N;
  return N ? deeper(N - 1) + Kept[N % 64] : 0;
}
__global__ void stack(int *Out, int N) { *Out = deeper(N); }
// STACK: HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION

// BARRIER: cycle limit exceeded: still running after 200000 modelled cycles
// BARRIER: kernel barrier(int*), workgroup (0, 0, 0), wave {{[123]}}
// BARRIER: at /{{.*}}faults.hip:[[#@LINE+8]]:
// BARRIER-DAG: {{[24]}} waves of this workgroup waiting at the barrier at entry + 0x
// BARRIER-DAG: {{1 wave|2 waves}} of this workgroup at entry + 0x
__global__ void barrier(int *Out) {
  __shared__ int Flag;
  Flag = 0;
  __syncthreads();
  if (threadIdx.x / 64 == 1)
    while (__atomic_load_n(&Flag, __ATOMIC_RELAXED) == 0) // Set behind the barrier.
      ;
  __syncthreads();
  Flag = 1;
  *Out = Flag;
}

int main(int, char **Args) {
  const char *What = Args[1];
  int *Cells;
  HIP(hipMalloc(&Cells, 4096));
  if (!std::strcmp(What, "wild")) {
    const int **Lists, *Bad = reinterpret_cast<int *>(0x123456789000);
    const int N = 2 * 128 + 64 + 5;
    HIP(hipMalloc(&Lists, 512 * sizeof(int *)));
    HIP(hipMemset(Lists, 0, 512 * sizeof(int *)));
    HIP(hipMemcpy(Lists + N, &Bad, sizeof Bad, hipMemcpyHostToDevice));
    wild<<<4, 128>>>(Cells, Lists);
  } else if (!std::strcmp(What, "past")) {
    past<<<1, 64>>>(Cells, 1028);
    HIP(hipDeviceSynchronize());
  } else if (!std::strcmp(What, "freed")) {
    int *Small;
    HIP(hipMalloc(&Small, 256));
    past<<<1, 1>>>(Small, 16);
    HIP(hipDeviceSynchronize());
    HIP(hipFree(Small));
    HIP(hipMalloc(&Cells, 256)); // Must not get the same place.
    past<<<1, 1>>>(Small, 16);
  } else if (!std::strcmp(What, "atomic")) {
    atomic<<<1, 64>>>(reinterpret_cast<char *>(Cells));
  } else if (!std::strcmp(What, "local")) {
    local<<<1, 128, 256>>>(Cells);
  } else if (!std::strcmp(What, "stack")) {
    stack<<<1, 64>>>(Cells, 1000);
  } else if (!std::strcmp(What, "barrier")) {
    barrier<<<1, 192>>>(Cells);
  }
  HIP(hipDeviceSynchronize());
  return passed();
}
