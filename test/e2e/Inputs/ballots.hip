// Lanes with the same key find one another by ballots in a loop. (Clang 15 takes both
// ballots for one, also without probes: its results are others than later ones'.)
#include "../../../benchmarks/kernels/check.h"

__global__ void match(const int *Keys, unsigned long long *Masks, int *Leaders) {
  int I = blockIdx.x * blockDim.x + threadIdx.x, Key = Keys[I];
  unsigned long long Mine = 0;
  bool Done = false;
  while (!Done) {
    int First = __shfl(Key, __ffsll((unsigned long long)__ballot(1)) - 1);
    if (Key == First) {
      Mine = __ballot(1);
      Done = true;
    }
  }
  Masks[I] = Mine;
  int Leader = __ffsll(Mine) - 1;
  if ((threadIdx.x & 63) == Leader) {
    if (Key & 1)
      atomicAdd(&Leaders[0], __popcll(Mine));
    else
      atomicAdd(&Leaders[1], __popcll(Mine));
  }
}
int main() {
  std::vector<int> Keys(1000);
  for (int I = 0; I < 1000; ++I)
    Keys[I] = (I * 7919 + I / 64) % 13;
  DeviceArray<int> In(Keys), Leaders(std::vector<int>(2, 0));
  DeviceArray<unsigned long long> Masks(std::vector<unsigned long long>(1000, 0));
  match<<<10, 100>>>(In, Masks, Leaders);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  std::printf("%016llx %d %d\n", static_cast<unsigned long long>(fingerprint(Masks.toHost())),
              Leaders.toHost()[0], Leaders.toHost()[1]);
}
