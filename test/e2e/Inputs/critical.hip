// Two kernels for a Python program: one that takes its time, one that does not.
#include <hip/hip_runtime.h>

static float *Data;

__global__ void heavy(float *Data, int Rounds) {
  float Sum = Data[threadIdx.x];
  for (int I = 0; I < Rounds; ++I)
    Sum = Sum * 1.0001f + 0.5f;
  Data[threadIdx.x] = Sum;
}

__global__ void light(float *Data) { Data[threadIdx.x] += 1.0f; }

extern "C" int prepare() {
  return hipMalloc(&Data, 256 * sizeof(float)) != hipSuccess ||
         hipMemset(Data, 0, 256 * sizeof(float)) != hipSuccess;
}
extern "C" void launchHeavy(int Rounds) { heavy<<<1, 256>>>(Data, Rounds); }
extern "C" void launchLight() { light<<<1, 256>>>(Data); }
extern "C" int finish() { return hipDeviceSynchronize() != hipSuccess; }
