// What depends on the size of a wave: warpSize, shuffles, ballots, votes and
// lane masks, in workgroups that fill their last wave or not. The expected values
// come from the host's own arithmetic for the size that the kernel reports.
// REQUIRES: vgpu
// RUN: %hipcc_all -O3 -x hip %s -o %t
// RUN: kprobe-vgpu --vgpu=gfx906 -- %t 64 | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t 64 | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx1030 -- %t 32 | FileCheck %s
// gfx1030 in waves of 64, whose shuffles stay within 32 lanes (HIP's header refuses
// them by the name of the target); and in CU mode.
// RUN: %hipcc_gfx1030 -O3 -x hip %s -o %t.64 -mwavefrontsize64 -U__gfx1030__ -DSHUFFLE=32
// RUN: kprobe-vgpu --vgpu=gfx1030 -- %t.64 64 | FileCheck %s
// RUN: %hipcc_gfx1030 -O3 -x hip %s -o %t.cu -mcumode
// RUN: kprobe-vgpu --vgpu=gfx1030 -- %t.cu 32 | FileCheck %s
// CHECK: passed
#include "Inputs/check.h"

#include <algorithm>
#include <vector>

/// Lanes that one shuffle can reach; 0: the whole wave.
#ifndef SHUFFLE
#define SHUFFLE 0
#endif

struct Answers {
  unsigned Size, Lane, Broadcast, Up, Down, Xor, BelowMe;
  int Any, All;
  unsigned long long Ballot;
};

/// One is 1, which the compiler must not know: it would take the ballot out of
/// the branch.
__global__ void ask(Answers *Out, int One) {
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned Value = I * 7 + 1;
  const int Width = SHUFFLE ? SHUFFLE : warpSize;
  Answers A;
  A.Size = warpSize;
  A.Lane = __lane_id();
  A.Broadcast = __shfl(Value, 3, Width);
  A.Up = __shfl_up(Value, 2, Width);
  A.Down = __shfl_down(Value, 5, Width);
  A.Xor = __shfl_xor(Value, 9, Width);
  A.Any = __any(I == 70);
  A.All = __all(I != 70);
  A.Ballot = __ballot(I % 3 == 0);
  A.BelowMe = 0;
  if (I % 3 == 0) // Divergent: only these lanes are in the mask.
    A.BelowMe = __popcll(__ballot(One) & ((1ull << A.Lane) - 1));
  Out[I] = A;
}

static void check(unsigned Blocks, unsigned Threads, unsigned Size) {
  const unsigned N = Blocks * Threads, Part = SHUFFLE ? SHUFFLE : Size;
  Answers *Device;
  HIP(hipMalloc(&Device, N * sizeof(Answers)));
  ask<<<Blocks, Threads>>>(Device, 1);
  HIP(hipGetLastError());
  std::vector<Answers> Out(N);
  HIP(hipMemcpy(Out.data(), Device, N * sizeof(Answers), hipMemcpyDeviceToHost));
  HIP(hipFree(Device));
  for (unsigned I = 0; I < N; ++I) {
    const unsigned Base = I / Threads * Threads, InGroup = I - Base;
    const unsigned Wave = Base + InGroup / Size * Size, Lane = InGroup % Size;
    const unsigned End = std::min(Wave + Size, Base + Threads);
    const unsigned First = Wave + Lane / Part * Part;
    auto Value = [&](unsigned From) { return From < End ? From * 7 + 1 : 0; };
    const Answers &A = Out[I];
    EXPECT(A.Size == Size, "item %u: %u", I, A.Size);
    EXPECT(A.Lane == Lane, "item %u: %u", I, A.Lane);
    EXPECT(A.Broadcast == Value(First + 3), "item %u: %u", I, A.Broadcast);
    EXPECT(A.Up == Value(Lane % Part < 2 ? I : I - 2), "item %u: %u", I, A.Up);
    EXPECT(A.Down == Value(Lane % Part + 5 < Part ? I + 5 : I), "item %u: %u", I, A.Down);
    EXPECT(A.Xor == Value(Wave + (Lane ^ 9)), "item %u: %u", I, A.Xor);
    unsigned long long Ballot = 0;
    unsigned Below = 0;
    bool Seventy = false;
    for (unsigned J = Wave; J < End; ++J) {
      Ballot |= (unsigned long long)(J % 3 == 0) << (J - Wave);
      Below += J % 3 == 0 && J < I;
      Seventy |= J == 70;
    }
    EXPECT(A.Ballot == Ballot, "item %u: %llx, not %llx", I, A.Ballot, Ballot);
    EXPECT(A.BelowMe == (I % 3 == 0 ? Below : 0), "item %u: %u", I, A.BelowMe);
    EXPECT(!A.Any == !Seventy && !A.All == Seventy, "item %u: %d %d", I, A.Any, A.All);
  }
}

int main(int, char **Arguments) {
  const unsigned Size = unsigned(std::atoi(Arguments[1]));
  hipDeviceProp_t Properties;
  HIP(hipGetDeviceProperties(&Properties, 0));
  const bool Gfx10 = Properties.gcnArchName[3] == '1' && Properties.gcnArchName[4] == '0';
  EXPECT(Properties.warpSize == (Gfx10 ? 32 : 64), "%d", Properties.warpSize);
  for (unsigned Threads : {1u, 31u, 32u, 33u, 63u, 64u, 65u, 256u, 1000u, 1024u})
    check(3, Threads, Size);
  return passed();
}
