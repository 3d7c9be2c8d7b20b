// Floating-point atomics that gfx90a has instructions for, and packed singles,
// against sums on the host.
// REQUIRES: vgpu
// RUN: hipcc --offload-arch=gfx90a -O3 -munsafe-fp-atomics -x hip %s -o %t
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t | FileCheck %s
// RUN: %kprobe_src/tools/hipclang 19 --offload-arch=gfx90a -O3 \
// RUN:     -munsafe-fp-atomics -x hip %s -o %t.19
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t.19 | FileCheck %s
// CHECK: single sum 1 returned 1
// CHECK: double sum 1 returned 1
// CHECK: shared double 1
// CHECK: extremes 1
// CHECK: packed singles wrong 0
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>

constexpr int Count = 1000;

/// Sums of integers, so that no order of the additions matters.
__global__ void sums(float *Single, double *Double, float *OldSingle,
                     double *OldDouble) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= Count)
    return;
  OldSingle[I] = unsafeAtomicAdd(Single, float(I % 7));
  OldDouble[I] = unsafeAtomicAdd(Double, double(I) * 0x1p-30);
  unsafeAtomicAdd(Single + 1, 1.0f); // nobody wants the old value
  unsafeAtomicAdd(Double + 1, 0.5);
}

__global__ void shared(double *Out) {
  __shared__ double Sum;
  if (threadIdx.x == 0)
    Sum = 0;
  __syncthreads();
  unsafeAtomicAdd(&Sum, double(threadIdx.x) + 0.25);
  __syncthreads();
  if (threadIdx.x == 0)
    Out[blockIdx.x] = Sum;
}

__global__ void extremes(double *Min, double *Max) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  const double V = double((I * 7919) % 2003) - 1000.5;
  __builtin_amdgcn_global_atomic_fmin_f64(
      (__attribute__((address_space(1))) double *)Min, V);
  __builtin_amdgcn_global_atomic_fmax_f64(
      (__attribute__((address_space(1))) double *)Max, V);
}

__global__ void packed(const float2 *X, const float2 *Y, float2 *Out,
                       float Factor) {
  const int I = threadIdx.x;
  typedef float Pair __attribute__((ext_vector_type(2)));
  const Pair A = {X[I].x, X[I].y}, B = {Y[I].x, Y[I].y}, F = {Factor, Factor};
  const Pair R = __builtin_elementwise_max(A * F + B, B * A) - Pair{1.0f, 1.0f};
  Out[I] = make_float2(R.x, R.y);
}

template <class T> T *managed(size_t N) {
  T *P = nullptr;
  if (hipMallocManaged(&P, N * sizeof(T)) != hipSuccess)
    std::printf("hipMallocManaged failed\n");
  for (size_t I = 0; I < N; ++I)
    P[I] = T();
  return P;
}

/// Every old value is some partial sum, and none comes twice when all terms
/// are positive: sorted, they begin at 0 and stay below the sum.
template <class T> bool plausible(const T *Old, T Sum) {
  bool SeenZero = false;
  for (int I = 0; I < Count; ++I) {
    SeenZero |= Old[I] == 0;
    if (Old[I] < 0 || Old[I] > Sum)
      return false;
  }
  return SeenZero;
}

int main() {
  float *Single = managed<float>(2), *OldSingle = managed<float>(Count);
  double *Double = managed<double>(2), *OldDouble = managed<double>(Count);
  sums<<<(Count + 127) / 128, 128>>>(Single, Double, OldSingle, OldDouble);
  bool Ok = hipDeviceSynchronize() == hipSuccess;
  float WantSingle = 0;
  double WantDouble = 0;
  for (int I = 0; I < Count; ++I) {
    WantSingle += float(I % 7);
    WantDouble += double(I) * 0x1p-30;
  }
  std::printf("single sum %d returned %d\n",
              Ok && Single[0] == WantSingle && Single[1] == Count,
              plausible(OldSingle, WantSingle));
  std::printf("double sum %d returned %d\n",
              Ok && Double[0] == WantDouble && Double[1] == Count * 0.5,
              plausible(OldDouble, WantDouble));

  double *Out = managed<double>(4);
  shared<<<4, 256>>>(Out);
  Ok = hipDeviceSynchronize() == hipSuccess;
  for (int I = 0; I < 4; ++I)
    Ok &= Out[I] == 255 * 128 + 64;
  std::printf("shared double %d\n", Ok);

  Out[0] = INFINITY;
  Out[1] = -INFINITY;
  extremes<<<8, 64>>>(Out, Out + 1);
  Ok = hipDeviceSynchronize() == hipSuccess;
  double Min = INFINITY, Max = -INFINITY;
  for (int I = 0; I < 512; ++I) {
    Min = std::fmin(Min, double((I * 7919) % 2003) - 1000.5);
    Max = std::fmax(Max, double((I * 7919) % 2003) - 1000.5);
  }
  std::printf("extremes %d\n", Ok && Out[0] == Min && Out[1] == Max);

  float2 *X = managed<float2>(64), *Y = managed<float2>(64),
         *R = managed<float2>(64);
  for (int I = 0; I < 64; ++I) {
    X[I] = make_float2(float(I) * 0.5f, float(-I));
    Y[I] = make_float2(float(3 - I), float(I % 5));
  }
  packed<<<1, 64>>>(X, Y, R, 2.0f);
  int Wrong = hipDeviceSynchronize() != hipSuccess;
  for (int I = 0; I < 64; ++I) {
    // All of it is exact, so contraction makes no difference.
    Wrong += R[I].x != std::fmax(X[I].x * 2 + Y[I].x, Y[I].x * X[I].x) - 1;
    Wrong += R[I].y != std::fmax(X[I].y * 2 + Y[I].y, Y[I].y * X[I].y) - 1;
  }
  std::printf("packed singles wrong %d\n", Wrong);
  return 0;
}
