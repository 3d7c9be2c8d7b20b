// Kernels whose names are hard to carry: of kilobytes, of a lambda, plain C, and with
// letters beyond ASCII. Prints what they compute.
#include "../../../benchmarks/kernels/check.h"

template <int Number> struct Leaf {};
template <typename A, typename B> struct Pair {};
template <int Depth> struct Tower {
  using Type = Pair<typename Tower<Depth - 1>::Type, Pair<Leaf<Depth>, Leaf<1000 + Depth>>>;
};
template <> struct Tower<0> { using Type = Leaf<0>; };

template <typename T> __global__ void monster(int *Out) { atomicAdd(Out, 1); }
template <typename F> __global__ void call(F Function, int *Out) {
  Function(Out);
}
extern "C" __global__ void plain_c(int *Out) { atomicAdd(Out, 100); }
__global__ void größe(int *Out) { atomicAdd(Out, 10000); }

int main() {
  DeviceArray<int> Sum(std::vector<int>(1, 0));
  monster<Tower<40>::Type><<<1, 1>>>(Sum);
  call<<<1, 1>>>([] __device__(int *Out) { atomicAdd(Out, 10); }, static_cast<int *>(Sum));
  plain_c<<<1, 1>>>(Sum);
  größe<<<1, 1>>>(Sum);
  HIP_CHECK(hipDeviceSynchronize());
  std::printf("%d\n", Sum.toHost()[0]);
}
