// Workgroups that the grid's edge cuts short in two directions: results are right,
// and every wave of the grid has a slot of its own.
//
// REQUIRES: vgpu
// RUN: %hipcc -O2 --genco --offload-arch=gfx906 -fpass-plugin=%plugin15 %s -o %t.co
// RUN: %hipcc -O2 -DHOST %s -o %t
// RUN: kprobe-run --vgpu -o %t.kpd -- %t %t.co | FileCheck %s
// RUN: kprobe-decode stats --json %t.kpd > %t.json
// RUN: %python -c "import json, sys; w = json.load(open(sys.argv[1]))['kernels'][0]['waves']; print(w)" %t.json | FileCheck --check-prefix=WAVES %s
//
// CHECK: right
// 24 x 16 work-items a group, 61 x 37 in the grid: columns of 24, 24, 13, rows of 16,
// 16, 5: waves of 64 are 6 6 4, 6 6 4, 2 2 2.
// WAVES: {'in_grid': 38, 'sampled': {{[0-9]+}}, 'ended': 38, 'not_ended': 0,{{.*}} 'damaged': 0
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

extern "C" __global__ void mark(unsigned *Out, unsigned Width) {
  unsigned X = blockIdx.x * 24 + threadIdx.x, Y = blockIdx.y * 16 + threadIdx.y;
  unsigned Sum = 0;
  for (unsigned I = 0; I <= X % 5; ++I)
    Sum += Y * I;
  Out[Y * Width + X] = Sum + X;
}

#ifdef HOST
int main(int, char **Arguments) {
  unsigned Width = 61, Height = 37;
  hipModule_t Module;
  hipFunction_t Function;
  unsigned *Out;
  if (hipModuleLoad(&Module, Arguments[1]) != hipSuccess ||
      hipModuleGetFunction(&Function, Module, "mark") != hipSuccess ||
      hipMalloc(&Out, 4 * Width * Height) != hipSuccess)
    return 1;
  void *Values[] = {&Out, &Width};
  if (hipExtModuleLaunchKernel(Function, Width, Height, 1, 24, 16, 1, 0, nullptr, Values,
                               nullptr) != hipSuccess)
    return 2;
  std::vector<unsigned> Host(Width * Height);
  if (hipMemcpy(Host.data(), Out, 4 * Width * Height, hipMemcpyDeviceToHost) != hipSuccess)
    return 3;
  for (unsigned Y = 0; Y < Height; ++Y)
    for (unsigned X = 0; X < Width; ++X) {
      unsigned N = X % 5;
      if (Host[Y * Width + X] != Y * (N * (N + 1) / 2) + X)
        return 4;
    }
  puts("right");
}
#endif
