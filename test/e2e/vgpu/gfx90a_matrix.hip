// gfx90a's matrix instructions, as the compiler's builtins make them: products
// of whole matrices by waves, in single, half, bfloat16, integer and double
// precision, with the accumulators where the compiler likes them.
// REQUIRES: vgpu
// RUN: hipcc --offload-arch=gfx90a -O2 -x hip %s -o %t
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t | FileCheck %s
// RUN: %kprobe_src/tools/hipclang 19 --offload-arch=gfx90a -O2 \
// RUN:     -x hip %s -o %t.19
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t.19 | FileCheck %s
// CHECK: single wrong 0
// CHECK: half wrong 0
// CHECK: bfloat16 wrong 0
// CHECK: integer wrong 0
// CHECK: double wrong 0
// CHECK: blocks wrong 0
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

constexpr int Size = 64; // of the matrices, which are square and row by row

typedef float Single4 __attribute__((ext_vector_type(4)));
typedef float Single16 __attribute__((ext_vector_type(16)));
typedef _Float16 Half4 __attribute__((ext_vector_type(4)));
typedef short Short4 __attribute__((ext_vector_type(4)));
typedef int Int4 __attribute__((ext_vector_type(4)));
typedef double Double4 __attribute__((ext_vector_type(4)));

/// A wave makes 32 x 32 results; row 8 * (r / 4) + 4 * (lane / 32) + r % 4.
__global__ void single(const float *A, const float *B, float *D) {
  const int Lane = threadIdx.x, Row = 32 * blockIdx.y, Column = 32 * blockIdx.x;
  Single16 Sum = {};
  for (int K = 0; K < Size; K += 2) {
    const int Step = K + Lane / 32;
    Sum = __builtin_amdgcn_mfma_f32_32x32x2f32(
        A[(Row + Lane % 32) * Size + Step], B[Step * Size + Column + Lane % 32],
        Sum, 0, 0, 0);
  }
  for (int R = 0; R < 16; ++R)
    D[(Row + 8 * (R / 4) + 4 * (Lane / 32) + R % 4) * Size + Column +
      Lane % 32] = Sum[R];
}

/// 16 x 16 results a wave; row 4 * (lane / 16) + r.
template <class T, class Operand, class Result, class Multiply>
__device__ void sixteen(const T *A, const T *B, Result *D, Multiply Fn) {
  const int Lane = threadIdx.x, Row = 16 * blockIdx.y, Column = 16 * blockIdx.x;
  typedef Result Result4 __attribute__((ext_vector_type(4)));
  Result4 Sum = {};
  for (int K = 0; K < Size; K += 16) {
    Operand X, Y;
    for (int E = 0; E < 4; ++E) {
      const int Step = K + Lane / 16 * 4 + E;
      X[E] = A[(Row + Lane % 16) * Size + Step];
      Y[E] = B[Step * Size + Column + Lane % 16];
    }
    Sum = Fn(X, Y, Sum);
  }
  for (int R = 0; R < 4; ++R)
    D[(Row + 4 * (Lane / 16) + R) * Size + Column + Lane % 16] = Sum[R];
}

__global__ void half(const _Float16 *A, const _Float16 *B, float *D) {
  sixteen<_Float16, Half4>(A, B, D, [](Half4 X, Half4 Y, Single4 Sum) {
    return __builtin_amdgcn_mfma_f32_16x16x16f16(X, Y, Sum, 0, 0, 0);
  });
}

__global__ void bfloat16(const short *A, const short *B, float *D) {
  sixteen<short, Short4>(A, B, D, [](Short4 X, Short4 Y, Single4 Sum) {
    return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(X, Y, Sum, 0, 0, 0);
  });
}

__global__ void integer(const signed char *A, const signed char *B, int *D) {
  typedef signed char Bytes __attribute__((ext_vector_type(4)));
  sixteen<signed char, Bytes>(A, B, D, [](Bytes X, Bytes Y, Int4 Sum) {
    return __builtin_amdgcn_mfma_i32_16x16x16i8(
        __builtin_bit_cast(int, X), __builtin_bit_cast(int, Y), Sum, 0, 0, 0);
  });
}

/// Doubles lie otherwise: row lane / 16 + 4 * r.
__global__ void twice(const double *A, const double *B, double *D) {
  const int Lane = threadIdx.x, Row = 16 * blockIdx.y, Column = 16 * blockIdx.x;
  Double4 Sum = {};
  for (int K = 0; K < Size; K += 4) {
    const int Step = K + Lane / 16;
    Sum = __builtin_amdgcn_mfma_f64_16x16x4f64(
        A[(Row + Lane % 16) * Size + Step], B[Step * Size + Column + Lane % 16],
        Sum, 0, 0, 0);
  }
  for (int R = 0; R < 4; ++R)
    D[(Row + Lane / 16 + 4 * R) * Size + Column + Lane % 16] = Sum[R];
}

/// Sixteen outer products of 4 x 4 at once, all with the A of block 5.
__global__ void blocks(const float *A, const float *B, float *D) {
  const int Lane = threadIdx.x;
  Single4 Sum = {1, 1, 1, 1};
  Sum = __builtin_amdgcn_mfma_f32_4x4x1f32(A[Lane], B[Lane], Sum, 4, 5, 0);
  for (int R = 0; R < 4; ++R)
    D[64 * R + Lane] = Sum[R];
}

template <class T> T *managed(size_t Count) {
  T *P = nullptr;
  if (hipMallocManaged(&P, Count * sizeof(T)) != hipSuccess)
    std::printf("hipMallocManaged failed\n");
  return P;
}

/// Small integers: every sum is exact in each of the types.
int element(int I) { return (I * 37 + 11) % 17 - 8; }

template <class T, class R, class Convert, class Kernel>
void check(const char *Name, Convert To, int Tile, Kernel K) {
  T *A = managed<T>(Size * Size), *B = managed<T>(Size * Size);
  R *D = managed<R>(Size * Size);
  for (int I = 0; I < Size * Size; ++I) {
    A[I] = To(element(I));
    B[I] = To(element(3 * I + 1));
  }
  K<<<dim3(Size / Tile, Size / Tile), 64>>>(A, B, D);
  if (hipDeviceSynchronize() != hipSuccess)
    std::printf("%s did not run\n", Name);
  int Wrong = 0;
  for (int I = 0; I < Size; ++I)
    for (int J = 0; J < Size; ++J) {
      long Want = 0;
      for (int L = 0; L < Size; ++L)
        Want += long(element(I * Size + L)) * element(3 * (L * Size + J) + 1);
      Wrong += D[I * Size + J] != R(Want);
    }
  std::printf("%s wrong %d\n", Name, Wrong);
}

short bfloat16Of(int V) {
  const float F = float(V);
  return short(__builtin_bit_cast(unsigned, F) >> 16);
}

int main() {
  check<float, float>(
      "single", [](int V) { return float(V); }, 32, single);
  check<_Float16, float>(
      "half", [](int V) { return _Float16(V); }, 16, half);
  check<short, float>("bfloat16", bfloat16Of, 16, bfloat16);
  check<signed char, int>(
      "integer", [](int V) { return (signed char)V; }, 16, integer);
  check<double, double>(
      "double", [](int V) { return double(V); }, 16, twice);

  float *A = managed<float>(64), *B = managed<float>(64),
        *D = managed<float>(256);
  for (int I = 0; I < 64; ++I) {
    A[I] = float(element(I));
    B[I] = float(element(5 * I + 2));
  }
  blocks<<<1, 64>>>(A, B, D);
  if (hipDeviceSynchronize() != hipSuccess)
    std::printf("blocks did not run\n");
  int Wrong = 0;
  for (int Block = 0; Block < 16; ++Block)
    for (int Row = 0; Row < 4; ++Row)
      for (int Column = 0; Column < 4; ++Column)
        Wrong += D[64 * Row + 4 * Block + Column] !=
                 A[4 * 5 + Row] * B[4 * Block + Column] + 1;
  std::printf("blocks wrong %d\n", Wrong);
  return 0;
}
