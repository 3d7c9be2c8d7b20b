// Grid barriers of cooperative launches: each round reads what other workgroups
// wrote in the round before. A grid that cannot be resident is refused.
// REQUIRES: vgpu
// RUN: %hipcc -O3 -x hip %s -o %t
// RUN: timeout 120 kprobe-vgpu -- %t | FileCheck %s
// RUN: timeout 120 kprobe-vgpu --threads 4 -- %t | FileCheck %s
// CHECK: passed
#include "Inputs/check.h"

#include <hip/hip_cooperative_groups.h>
#include <vector>

namespace cg = cooperative_groups;

/// Round R: Cells[R % 2][I] = Cells[1 - R % 2][I + 1] + 1, from I at first.
__global__ void rotate(unsigned *Cells, unsigned *Result, int Rounds) {
  cg::grid_group Grid = cg::this_grid();
  const unsigned I = blockIdx.x, N = gridDim.x;
  for (int R = 0; R < Rounds; ++R) {
    if (threadIdx.x == 0)
      Cells[R % 2 * N + I] = (R ? Cells[(1 - R % 2) * N + (I + 1) % N] : I) + 1;
    Grid.sync();
  }
  if (threadIdx.x == 0)
    Result[I] = Cells[(Rounds - 1) % 2 * N + I];
}

static void check(unsigned Groups, unsigned Items, int Rounds, hipStream_t Stream) {
  unsigned *Cells, *Result;
  HIP(hipMalloc(&Cells, 8 * Groups));
  HIP(hipMalloc(&Result, 4 * Groups));
  void *Arguments[] = {&Cells, &Result, &Rounds};
  HIP(hipLaunchCooperativeKernel(reinterpret_cast<void *>(rotate), dim3(Groups), dim3(Items),
                                 Arguments, 0, Stream));
  HIP(hipStreamSynchronize(Stream));
  std::vector<unsigned> Values(Groups);
  HIP(hipMemcpy(Values.data(), Result, 4 * Groups, hipMemcpyDeviceToHost));
  for (unsigned I = 0; I < Groups; ++I)
    EXPECT(Values[I] == (I + unsigned(Rounds) - 1) % Groups + unsigned(Rounds),
           "%u groups of %u, group %u: %u", Groups, Items, I, Values[I]);
  HIP(hipFree(Cells));
  HIP(hipFree(Result));
}

int main() {
  hipDeviceProp_t Properties;
  HIP(hipGetDeviceProperties(&Properties, 0));
  EXPECT(Properties.cooperativeLaunch == 1, "%d", Properties.cooperativeLaunch);
  int Flag = 0;
  HIP(hipDeviceGetAttribute(&Flag, hipDeviceAttributeCooperativeLaunch, 0));
  EXPECT(Flag == 1, "%d", Flag);

  hipStream_t Stream;
  HIP(hipStreamCreate(&Stream));
  check(1, 64, 3, 0);
  check(7, 256, 11, Stream);
  check(100, 128, 6, Stream);
  check(13, 1000, 4, 0);

  // As many as the occupancy says are resident, and not one more.
  int PerUnit = 0;
  HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&PerUnit, rotate, 256, 0));
  const unsigned Most = unsigned(PerUnit * Properties.multiProcessorCount);
  check(Most, 256, 3, Stream);
  unsigned *Nothing = nullptr;
  int Rounds = 1;
  void *Arguments[] = {&Nothing, &Nothing, &Rounds};
  EXPECT(hipLaunchCooperativeKernel(reinterpret_cast<void *>(rotate), dim3(Most + 1), dim3(256),
                                    Arguments, 0, Stream) == hipErrorCooperativeLaunchTooLarge,
         "%u groups were taken", Most + 1);
  HIP(hipStreamDestroy(Stream));
  return passed();
}
