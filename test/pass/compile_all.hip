// Kernels of many kinds, at every level of optimisation: clones ask for the same
// arguments, launch bounds and LDS as their originals, and the loader sees them.
//
// RUN: %hipcc -O0 -fpass-plugin=%plugin --cuda-device-only --no-gpu-bundle-output -c %s -o %t.o
// RUN: %python %S/Inputs/same_resources.py %t.o 13
// RUN: %hipcc -O1 -g -fpass-plugin=%plugin --cuda-device-only --no-gpu-bundle-output -c %s -o %t.o
// RUN: %python %S/Inputs/same_resources.py %t.o 13
// RUN: %hipcc -O2 -gline-tables-only -fpass-plugin=%plugin --cuda-device-only --no-gpu-bundle-output -c %s -o %t.o
// RUN: %python %S/Inputs/same_resources.py %t.o 13
// RUN: %hipcc -O3 -fpass-plugin=%plugin --cuda-device-only --no-gpu-bundle-output -c %s -o %t.o
// RUN: %python %S/Inputs/same_resources.py %t.o 13
// RUN: %hipcc -Os -fpass-plugin=%plugin --cuda-device-only --no-gpu-bundle-output -c %s -o %t.o
// RUN: %python %S/Inputs/same_resources.py %t.o 13
#include <cassert>
#include <cstdio>
#include <hip/hip_runtime.h>

__global__ void __launch_bounds__(64) bounds64(float *p) { p[threadIdx.x] += 1; }
__global__ void __launch_bounds__(256, 4) bounds256(float *p) { p[threadIdx.x] += 1; }
__global__ void __launch_bounds__(1024) bounds1024(float *p) { p[threadIdx.x] += 1; }
__global__ __attribute__((amdgpu_waves_per_eu(2, 4), amdgpu_num_vgpr(24)))
void registers(float *p) { p[threadIdx.x] += 1; }
__global__ __attribute__((amdgpu_num_sgpr(24))) void few_scalars(float *p, int n) {
  for (int i = 0; i < n; ++i)
    p[i * n] += p[i];
}

// 64 KiB, but for what helper() below takes in every kernel.
__global__ void full_lds(int *p) {
  __shared__ int all[16320];
  for (int i = threadIdx.x; i < 16320; i += blockDim.x)
    all[i] = p[i];
  __syncthreads();
  p[threadIdx.x] = all[16319 - threadIdx.x];
}
__global__ void dynamic_lds(int *p) {
  extern __shared__ int some[];
  some[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = some[threadIdx.x ^ 1];
}

__device__ __attribute__((noinline)) int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__global__ void recursive(int *p) { p[threadIdx.x] = fibonacci(p[threadIdx.x]); }

__device__ __attribute__((noinline)) float helper(float *p, int i) {
  __shared__ float buffer[64];
  buffer[i & 63] = p[i];
  __syncthreads();
  return buffer[63 - (i & 63)];
}
__global__ void first_user(float *p) { p[threadIdx.x] = helper(p, threadIdx.x); }
__global__ void second_user(float *p) { p[threadIdx.x] -= helper(p, 3); }

__device__ int twice(int x) { return 2 * x; }
__device__ int square(int x) { return x * x; }
__device__ int (*table[2])(int) = {twice, square};
__global__ void pointers(int *p) { p[threadIdx.x] = table[p[0] & 1](p[threadIdx.x]); }

// 64 values in flight at a kilo of threads: the register budget is full.
__global__ void __launch_bounds__(1024) pressure(float *p, int n) {
  float v[64];
  for (int i = 0; i < 64; ++i)
    v[i] = p[i * 1024 + threadIdx.x];
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < 64; ++i)
      v[i] = v[i] * v[(i + 17) & 63] + k;
  for (int i = 0; i < 64; ++i)
    p[i * 1024 + threadIdx.x] = v[i];
}

__global__ void prints(int *p) {
  if (p[0])
    printf("value %d\n", p[threadIdx.x]);
}
