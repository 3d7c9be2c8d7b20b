// Loops as counters find them hard: many blocks, nested, left by lanes one after the
// other and to different places, also by a return; a function called in a loop; a
// loop of the whole wave. Prints a checksum.
#include "../../../benchmarks/kernels/check.h"

__device__ __attribute__((noinline)) int collatz(int Value) {
  int Steps = 0;
  while (Value > 1) {
    Value = Value % 2 ? 3 * Value + 1 : Value / 2;
    if (++Steps == 40)
      break;
  }
  return Steps;
}

__global__ void loops(const int *Limits, int *Out, int Rounds) {
  int Item = blockIdx.x * blockDim.x + threadIdx.x;
  int Limit = Limits[Item], Sum = 0;
  // All lanes go round as often.
  for (int Round = 0; Round < Rounds; ++Round)
    Sum += Limits[Item ^ Round];
  for (int I = 0; I < Limit; ++I) {
    if (I % 3 == 0) {
      for (int J = I; J < Limit; J += 2) {
        if ((J ^ Item) % 7 == 5)
          break;
        Sum += J % 2 ? Limits[J] : -J;
        if (Sum > 4000) {
          Out[Item] = Sum;
          return;
        }
      }
    } else if (I % 3 == 1) {
      int K = Limit;
      do {
        Sum ^= K;
        if (K % 5 == Item % 5)
          continue;
        Sum += Limits[K];
      } while (--K > I);
    } else {
      Sum += collatz(I + Item);
      if (Sum % 11 == 0)
        goto Found;
    }
  }
  Out[Item] = Sum;
  return;
Found:
  Out[Item] = -Sum;
}

int main() {
  constexpr int Count = 200, Rounds = 5;
  std::vector<int> Limits(256);
  for (int I = 0; I < 256; ++I)
    Limits[I] = (I * 37 + 11) % 23;
  DeviceArray<int> Input(Limits), Output(std::vector<int>(256, 0));
  loops<<<4, Count / 4>>>(Input, Output, Rounds);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  std::printf("%016llx\n", static_cast<unsigned long long>(fingerprint(Output.toHost())));
}
