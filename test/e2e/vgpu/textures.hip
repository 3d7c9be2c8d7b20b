// Texture references and objects over linear memory: a fetch is a load with a
// bounds check that gives zero, in each element format.
// REQUIRES: vgpu
// RUN: %hipcc_all -O3 -x hip %s -o %t -Wno-deprecated-declarations
// RUN: kprobe-vgpu --vgpu=gfx906 -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx1030 -- %t | FileCheck %s
// CHECK: passed
#include "Inputs/check.h"

#include <cstring>
#include <vector>

texture<float, 1, hipReadModeElementType> Floats;
texture<int4, 1, hipReadModeElementType> Quads;

__global__ void reference(float *Out, int4 *Wide, int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
  Out[I] = tex1Dfetch(Floats, N - 1 - I) + 1;
  const int4 Q = tex1Dfetch(Quads, I / 4);
  Wide[I] = make_int4(Q.w, Q.z, Q.y, Q.x);
}
template <typename T> __global__ void object(hipTextureObject_t Texture, T *Out, int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    Out[I] = tex1Dfetch<T>(Texture, N - 1 - I);
}

constexpr int N = 1000, Groups = (N + 63) / 64;

template <typename T> static void objects(const char *What) {
  std::vector<T> In(N), Out(N);
  auto *Bytes = reinterpret_cast<unsigned char *>(In.data());
  for (size_t I = 0; I < N * sizeof(T); ++I)
    Bytes[I] = (unsigned char)(I * 5 + I / 256) & 0x7f;
  T *Source, *Result;
  HIP(hipMalloc(&Source, N * sizeof(T)));
  HIP(hipMalloc(&Result, N * sizeof(T)));
  HIP(hipMemcpy(Source, In.data(), N * sizeof(T), hipMemcpyHostToDevice));
  hipResourceDesc Resource = {};
  Resource.resType = hipResourceTypeLinear;
  Resource.res.linear.devPtr = Source;
  Resource.res.linear.desc = hipCreateChannelDesc<T>();
  Resource.res.linear.sizeInBytes = N * sizeof(T);
  hipTextureDesc Description = {};
  Description.readMode = hipReadModeElementType;
  hipTextureObject_t Texture;
  HIP(hipCreateTextureObject(&Texture, &Resource, &Description, nullptr));
  object<T><<<Groups, 64>>>(Texture, Result, N);
  HIP(hipGetLastError());
  HIP(hipMemcpy(Out.data(), Result, N * sizeof(T), hipMemcpyDeviceToHost));
  for (int I = 0; I < N; ++I)
    EXPECT(std::memcmp(&Out[I], &In[N - 1 - I], sizeof(T)) == 0, "%s, element %d", What, I);
  HIP(hipDestroyTextureObject(Texture));
}

static void references() {
  std::vector<float> In(N), Out(N);
  std::vector<int4> Wide(N);
  for (int I = 0; I < N; ++I)
    In[I] = float(I) * 0.5f;
  float *Source, *Result;
  int4 *WideResult;
  HIP(hipMalloc(&Source, N * 4));
  HIP(hipMalloc(&Result, N * 4));
  HIP(hipMalloc(&WideResult, N * 16));
  HIP(hipMemcpy(Source, In.data(), N * 4, hipMemcpyHostToDevice));
  size_t Offset = 1; // HIP 5.2.3 does not take a null pointer.
  HIP(hipBindTexture(&Offset, Floats, Source, N * 4));
  EXPECT(Offset == 0, "%zu", Offset);
  HIP(hipBindTexture(&Offset, Quads, Source, N * 4));
  reference<<<Groups, 64>>>(Result, WideResult, N);
  HIP(hipGetLastError());
  HIP(hipMemcpy(Out.data(), Result, N * 4, hipMemcpyDeviceToHost));
  HIP(hipMemcpy(Wide.data(), WideResult, N * 16, hipMemcpyDeviceToHost));
  for (int I = 0; I < N; ++I) {
    EXPECT(Out[I] == In[N - 1 - I] + 1, "%d: %g", I, double(Out[I]));
    int Bits[4];
    std::memcpy(Bits, &In[I / 4 * 4], 16);
    EXPECT(Wide[I].x == Bits[3] && Wide[I].y == Bits[2] && Wide[I].z == Bits[1] &&
               Wide[I].w == Bits[0],
           "quad %d", I);
  }
  HIP(hipUnbindTexture(Floats));
  HIP(hipUnbindTexture(Quads));
}

int main() {
  references();
  objects<float>("float");
  objects<float2>("float2");
  objects<float4>("float4");
  objects<int>("int");
  objects<unsigned char>("unsigned char");
  objects<short>("short");
  objects<uchar4>("uchar4");
  objects<ushort2>("ushort2");
  return passed();
}
