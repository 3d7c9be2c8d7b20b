// Double precision: accelerations of N bodies, with a square root and a
// division per pair; then one step. Compared with the host to 1e-12.
#include "check.h"

#include <cmath>

struct Body {
  double X, Y, Z, Mass;
};

__host__ __device__ inline double pull(const Body &On, const Body &By,
                                       double &X, double &Y, double &Z) {
  double DX = By.X - On.X, DY = By.Y - On.Y, DZ = By.Z - On.Z;
  double Square = DX * DX + DY * DY + DZ * DZ + 1e-3;
  double Factor = By.Mass / (Square * sqrt(Square));
  X += DX * Factor;
  Y += DY * Factor;
  Z += DZ * Factor;
  return Factor;
}

__global__ void step(const Body *In, Body *Out, int Count, double Time) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= Count)
    return;
  Body Me = In[I];
  double X = 0, Y = 0, Z = 0;
  for (int J = 0; J < Count; ++J)
    if (J != I)
      pull(Me, In[J], X, Y, Z);
  Out[I] = {Me.X + X * Time, Me.Y + Y * Time, Me.Z + Z * Time, Me.Mass};
}

int main(int Argc, char **Argv) {
  int Count = sizeArgument(Argc, Argv, 96, 1 << 16);
  constexpr double Time = 1.0 / 64;
  Sequence Numbers(6);
  std::vector<Body> In(Count), Out(Count, Body{});
  for (Body &B : In) {
    B.X = Numbers.next() % 10000 / 100.0;
    B.Y = Numbers.next() % 10000 / 100.0;
    B.Z = Numbers.next() % 10000 / 100.0;
    B.Mass = 1 + Numbers.next() % 100;
  }
  DeviceArray<Body> DeviceIn(In), DeviceOut(Out);
  step<<<(Count + 63) / 64, 64>>>(DeviceIn, DeviceOut, Count, Time);
  HIP_CHECK(hipGetLastError());
  Out = DeviceOut.toHost();

  auto Near = [](double A, double B) {
    return std::fabs(A - B) <= 1e-12 * (1 + std::fabs(B));
  };
  size_t Mismatches = 0;
  for (int I = 0; I < Count; ++I) {
    double X = 0, Y = 0, Z = 0;
    for (int J = 0; J < Count; ++J)
      if (J != I)
        pull(In[I], In[J], X, Y, Z);
    Mismatches += !(Near(Out[I].X, In[I].X + X * Time) &&
                    Near(Out[I].Y, In[I].Y + Y * Time) &&
                    Near(Out[I].Z, In[I].Z + Z * Time) &&
                    Out[I].Mass == In[I].Mass);
  }
  return verdict("nbody", Mismatches, fingerprint(Out));
}
