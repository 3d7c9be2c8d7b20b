// A code object that the program loads itself, from a file and from memory, and
// unloads, more than once: code at a reused address is not stale.
// REQUIRES: vgpu
// RUN: %hipcc_all -O3 -x hip --genco -DKERNEL -DFACTOR=2 %s -o %t.two
// RUN: %hipcc_all -O3 -x hip --genco -DKERNEL -DFACTOR=5 %s -o %t.five
// RUN: %hipcc_all -O3 -x hip %s -o %t
// RUN: kprobe-vgpu --vgpu=gfx906 -- %t %t.two %t.five | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t %t.two %t.five | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx1030 -- %t %t.two %t.five | FileCheck %s
// CHECK: passed
#ifdef KERNEL
#include <hip/hip_runtime.h>
__device__ int Offset = 1;
extern "C" __global__ void scale(int *Cells) {
  Cells[threadIdx.x] = Cells[threadIdx.x] * FACTOR + Offset;
}
#else
#include "Inputs/check.h"

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

int main(int, char **Args) {
  constexpr int N = 70;
  int *Cells;
  HIP(hipMalloc(&Cells, N * 4));
  for (int Round = 0; Round < 4; ++Round) {
    const bool Five = Round % 2;
    const char *File = Args[1 + Five];
    hipModule_t Module;
    std::string Image;
    if (Round < 2) {
      HIP(hipModuleLoad(&Module, File));
    } else {
      std::ifstream Stream(File, std::ios::binary);
      Image.assign(std::istreambuf_iterator<char>(Stream), {});
      HIP(hipModuleLoadData(&Module, Image.data()));
    }
    hipFunction_t Function;
    HIP(hipModuleGetFunction(&Function, Module, "scale"));
    hipDeviceptr_t Offset;
    size_t Size;
    HIP(hipModuleGetGlobal(&Offset, &Size, Module, "Offset"));
    EXPECT(Size == 4, "size %zu", Size);
    const int Value = 100 + Round;
    HIP(hipMemcpyHtoD(Offset, const_cast<int *>(&Value), 4));
    std::vector<int> In(N), Out(N);
    for (int I = 0; I < N; ++I)
      In[I] = I - 3;
    HIP(hipMemcpy(Cells, In.data(), N * 4, hipMemcpyHostToDevice));
    void *Arguments[] = {&Cells};
    HIP(hipModuleLaunchKernel(Function, 1, 1, 1, N, 1, 1, 0, nullptr, Arguments,
                              nullptr));
    HIP(hipMemcpy(Out.data(), Cells, N * 4, hipMemcpyDeviceToHost));
    for (int I = 0; I < N; ++I)
      EXPECT(Out[I] == In[I] * (Five ? 5 : 2) + Value, "round %d: Out[%d] = %d",
             Round, I, Out[I]);
    HIP(hipModuleUnload(Module));
  }
  return passed();
}
#endif
