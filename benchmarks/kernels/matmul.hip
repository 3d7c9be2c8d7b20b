// Tiled matrix multiplication: tiles in LDS, two barriers per tile. Inputs are
// small integers, so that every order of additions gives the same sums.
#include "check.h"

constexpr int Tile = 16;

__global__ void matrixMultiply(const float *A, const float *B, float *C,
                               int N) {
  __shared__ float TileA[Tile][Tile];
  __shared__ float TileB[Tile][Tile];
  int X = threadIdx.x, Y = threadIdx.y;
  int Column = blockIdx.x * Tile + X;
  int Row = blockIdx.y * Tile + Y;

  float Sum = 0.0f;
  for (int Start = 0; Start < N; Start += Tile) {
    TileA[Y][X] = Row < N && Start + X < N ? A[Row * N + Start + X] : 0.0f;
    TileB[Y][X] = Column < N && Start + Y < N ? B[(Start + Y) * N + Column]
                                              : 0.0f;
    __syncthreads();
    for (int K = 0; K < Tile; ++K)
      Sum += TileA[Y][K] * TileB[K][X];
    __syncthreads();
  }
  if (Row < N && Column < N)
    C[Row * N + Column] = Sum;
}

int main(int Argc, char **Argv) {
  int N = sizeArgument(Argc, Argv, 72, 4096);
  Sequence Numbers(2);
  std::vector<float> A(size_t(N) * N), B(A.size()), C(A.size(), -1.0f);
  for (float &Value : A)
    Value = static_cast<int>(Numbers.next() % 15) - 7;
  for (float &Value : B)
    Value = static_cast<int>(Numbers.next() % 15) - 7;
  DeviceArray<float> DeviceA(A), DeviceB(B), DeviceC(C);
  dim3 Grid((N + Tile - 1) / Tile, (N + Tile - 1) / Tile), Block(Tile, Tile);
  matrixMultiply<<<Grid, Block>>>(DeviceA, DeviceB, DeviceC, N);
  HIP_CHECK(hipGetLastError());
  C = DeviceC.toHost();

  size_t Mismatches = 0;
  for (int Row = 0; Row < N; ++Row)
    for (int Column = 0; Column < N; ++Column) {
      float Sum = 0.0f;
      for (int K = 0; K < N; ++K)
        Sum += A[size_t(Row) * N + K] * B[size_t(K) * N + Column];
      Mismatches += C[size_t(Row) * N + Column] != Sum;
    }
  return verdict("matmul", Mismatches, fingerprint(C));
}
