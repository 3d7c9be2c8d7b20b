// Called functions are traced as often as they run, recursion and early returns
// included, with and without optimisation; what is called through a pointer is
// not, and the events around it are none the worse.
//
// (HIP 5.2.3 crashes in hipLaunchKernel on the pointers of clang 19 and 22,
// without kprobe too.)
//
// REQUIRES: vgpu, llvm15
// RUN: %hipcc -O3 -g -fpass-plugin=%plugin %s -o %t.exe
// RUN: rm -f %t.kpd && kprobe-run --vgpu -o %t.kpd -- %t.exe | FileCheck %s --check-prefix=RESULT
// RUN: kprobe-decode stats %t.kpd | FileCheck %s --check-prefixes=CHECK,LOOP
// RUN: %hipcc -O0 -g -fpass-plugin=%plugin %s -o %t.exe
// RUN: rm -f %t.kpd && kprobe-run --vgpu -o %t.kpd -- %t.exe | FileCheck %s --check-prefix=RESULT
// RUN: kprobe-decode stats %t.kpd | FileCheck %s --check-prefixes=CHECK,CALLS
//
// RESULT: wrong: 0, error: 0
#include <cstdio>
#include <hip/hip_runtime.h>

// The wave goes as deep as its largest argument, 10: F(11) = 89 calls when the
// compiler makes a loop of one of the two, 2 * 89 - 1 when it does not.
// CHECK: kernel recursive(int*)
// LOOP: {{^ +[0-9]+ +89 .*}}calls_run.hip:[[#@LINE+3]]
// CALLS: {{^ +[0-9]+ +177 .*}}calls_run.hip:[[#@LINE+2]]
__host__ __device__ __attribute__((noinline)) int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__global__ void recursive(int *p) { p[threadIdx.x] = fibonacci(p[threadIdx.x]); }

// CHECK: kernel pointers(int*, int)
// LOOP: {{^ +[0-9]+ +5 .*}}calls_run.hip:[[#@LINE+7]]
__host__ __device__ int twice(int x) { return 2 * x; }
__host__ __device__ int square(int x) { return x * x; }
__device__ int (*table[2])(int) = {twice, square};
__global__ void pointers(int *p, int n) {
  int x = p[threadIdx.x];
  for (int i = 0; i < n; ++i)
    x = table[i & 1](x) & 0xffff;
  p[threadIdx.x] = x;
}

__host__ __device__ int early(int x, int i) {
  if (x == 3)
    return x;
  if (++x > 7)
    return x;
  for (int k = 0; k < i % 5; ++k)
    x += 2;
  return x;
}
__global__ void returns(int *p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[i] = early(p[i], i);
}
// CHECK: lost: nothing

int *device, wrong;

template <typename Launch, typename Value, typename Expected>
void run(Launch launch, int count, Value value, Expected expected) {
  int in[300], out[300];
  for (int i = 0; i < count; ++i)
    in[i] = value(i);
  hipMemcpy(device, in, sizeof in, hipMemcpyHostToDevice);
  launch();
  hipMemcpy(out, device, sizeof in, hipMemcpyDeviceToHost);
  for (int i = 0; i < count; ++i)
    wrong += out[i] != expected(i, in[i]);
}

int main() {
  hipMalloc(&device, 300 * sizeof(int));
  run([] { recursive<<<1, 64>>>(device); }, 64, [](int i) { return i % 11; },
      [](int, int x) { return fibonacci(x); });
  run([] { pointers<<<1, 64>>>(device, 5); }, 64, [](int i) { return i; },
      [](int, int x) {
        for (int i = 0; i < 5; ++i)
          x = (i & 1 ? square(x) : twice(x)) & 0xffff;
        return x;
      });
  run([] { returns<<<3, 100>>>(device); }, 300, [](int i) { return i % 13; },
      [](int i, int x) { return early(x, i); });
  printf("wrong: %d, error: %d\n", wrong, int(hipGetLastError()));
  return wrong != 0;
}
