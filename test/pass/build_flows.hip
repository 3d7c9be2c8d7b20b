// The plug-in works in every way to build a HIP program: in one step, in two,
// with temporary files kept, with the new driver, with relocatable device code,
// and from saved IR; each site is in the code once, each table in the object.
//
// REQUIRES: llvm15 || llvm19
// RUN: rm -rf %t && mkdir -p %t && cd %t
// RUN: %hipcc -O3 -fpass-plugin=%plugin -DNAME=one -c %s -o one.o
// RUN: %hipcc -O3 -fpass-plugin=%plugin -DNAME=two -DMAIN -c %s -o two.o
// RUN: %hipcc one.o two.o -o two-steps 2>&1 | FileCheck %s --allow-empty --check-prefix=QUIET
// RUN: %python %S/Inputs/program_sites.py two-steps 2
//
// RUN: %hipcc -O3 -fpass-plugin=%plugin -DNAME=one -DMAIN %s -o one-step
// RUN: %python %S/Inputs/program_sites.py one-step 1
//
// RUN: %hipcc -O3 -save-temps -fpass-plugin=%plugin -DNAME=one -DMAIN %s -o kept
// RUN: %python %S/Inputs/program_sites.py kept 1
//
// RUN: %hipcc -O3 --offload-new-driver -fpass-plugin=%plugin -DNAME=one -DMAIN %s -o new
// RUN: %python %S/Inputs/program_sites.py new 1
//
// RUN: %hipcc -O3 -fgpu-rdc --offload-new-driver -fpass-plugin=%plugin -DNAME=one -c %s -o r1.o
// RUN: %hipcc -O3 -fgpu-rdc --offload-new-driver -fpass-plugin=%plugin -DNAME=two -DMAIN -c %s -o r2.o
// RUN: %hipcc -fgpu-rdc --offload-new-driver r1.o r2.o -o relocatable
// RUN: %python %S/Inputs/program_sites.py relocatable 2
//
// RUN: %hipcc -O3 -fpass-plugin=%plugin -DNAME=one --cuda-device-only -emit-llvm -c %s -o one.bc
// RUN: %clang -x ir one.bc -target amdgcn-amd-amdhsa -mcpu=gfx906 -nogpulib -O3 -fpass-plugin=%plugin -o one.co
// RUN: %python %S/Inputs/sites_once.py one.co one.sites
//
// QUIET-NOT: {{error|warning: kprobe}}
#include <hip/hip_runtime.h>

namespace {
__device__ int helper(int x) { return x < 3 ? x : x * 2; }
template <typename T> __global__ void kernel(T *p) {
  p[threadIdx.x] = helper(p[threadIdx.x]);
}
} // namespace
// One weak definition in both files.
template <typename T> __global__ void both(T *p) { p[threadIdx.x] += 1; }

void NAME(int *p) {
  hipLaunchKernelGGL(kernel<int>, dim3(1), dim3(64), 0, 0, p);
  hipLaunchKernelGGL(both<int>, dim3(1), dim3(64), 0, 0, p);
}
#ifdef MAIN
int main() { return 0; }
#endif
