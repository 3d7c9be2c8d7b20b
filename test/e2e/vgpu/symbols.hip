// Device variables and constants by their symbol, 3-D copies and pitched memory,
// copies between devices' names for one device, and what memory there is.
// REQUIRES: vgpu
// RUN: %hipcc_all -O3 -x hip %s -o %t
// RUN: kprobe-vgpu --vgpu=gfx906 -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx1030 -- %t | FileCheck %s
// CHECK: passed
#include "Inputs/check.h"

#include <cstring>
#include <vector>

__constant__ float Weights[64];
__device__ int Counter = 5;
__device__ int Table[100];

__global__ void weigh(float *Out) {
  Out[threadIdx.x] = Weights[threadIdx.x] + Weights[63 - threadIdx.x];
  if (threadIdx.x < 7)
    atomicAdd(&Counter, 2);
  Table[threadIdx.x + 10] = threadIdx.x;
}

static void symbols() {
  float Values[64], Result[64], *Out;
  for (int I = 0; I < 64; ++I)
    Values[I] = float(I * I) / 8;
  HIP(hipMalloc(&Out, sizeof Result));
  HIP(hipMemcpyToSymbol(HIP_SYMBOL(Weights), Values, sizeof Values));
  // One element at an offset, asynchronously.
  const float Changed = 1000;
  HIP(hipMemcpyToSymbolAsync(HIP_SYMBOL(Weights), &Changed, 4, 5 * 4, hipMemcpyHostToDevice, 0));
  Values[5] = Changed;
  weigh<<<1, 64>>>(Out);
  HIP(hipMemcpy(Result, Out, sizeof Result, hipMemcpyDeviceToHost));
  for (int I = 0; I < 64; ++I)
    EXPECT(Result[I] == Values[I] + Values[63 - I], "%d: %g", I, double(Result[I]));
  int Count = 0;
  HIP(hipMemcpyFromSymbol(&Count, HIP_SYMBOL(Counter), 4));
  EXPECT(Count == 5 + 14, "%d", Count);
  void *Address;
  size_t Size;
  HIP(hipGetSymbolAddress(&Address, HIP_SYMBOL(Table)));
  HIP(hipGetSymbolSize(&Size, HIP_SYMBOL(Table)));
  EXPECT(Size == 400, "%zu", Size);
  int Host[100];
  HIP(hipMemcpy(Host, Address, 400, hipMemcpyDeviceToHost));
  for (int I = 0; I < 100; ++I)
    EXPECT(Host[I] == (I >= 10 && I < 74 ? I - 10 : 0), "%d: %d", I, Host[I]);
}

static void volumes() {
  constexpr size_t W = 37, H = 11, D = 5; // Bytes, rows, slices.
  std::vector<unsigned char> In(W * H * D), Out(W * H * D, 0);
  for (size_t I = 0; I < In.size(); ++I)
    In[I] = (unsigned char)(I * 7 + I / 256);
  hipPitchedPtr Device;
  HIP(hipMalloc3D(&Device, make_hipExtent(W, H, D)));
  EXPECT(Device.pitch >= W, "%zu", Device.pitch);
  HIP(hipMemset3D(Device, 0xee, make_hipExtent(W, H, D)));
  hipMemcpy3DParms Copy = {};
  // All but the first slice, so that the first keeps the fill.
  Copy.srcPtr = make_hipPitchedPtr(In.data(), W, W, H);
  Copy.dstPtr = Device;
  Copy.srcPos = Copy.dstPos = make_hipPos(0, 0, 1);
  Copy.extent = make_hipExtent(W, H, D - 1);
  Copy.kind = hipMemcpyHostToDevice;
  HIP(hipMemcpy3D(&Copy));
  hipMemcpy3DParms Back = {};
  Back.srcPtr = Device;
  Back.dstPtr = make_hipPitchedPtr(Out.data(), W, W, H);
  Back.extent = make_hipExtent(W, H, D);
  Back.kind = hipMemcpyDeviceToHost;
  HIP(hipMemcpy3DAsync(&Back, 0));
  HIP(hipStreamSynchronize(0));
  for (size_t I = 0; I < Out.size(); ++I)
    EXPECT(Out[I] == (I < W * H ? 0xee : In[I]), "byte %zu is %x", I, Out[I]);
}

static void peers() {
  int Same = -1;
  HIP(hipDeviceCanAccessPeer(&Same, 0, 0));
  EXPECT(Same == 0, "a device is its own peer: %d", Same);
  int *First, *Second, Values[256], Result[256];
  HIP(hipMalloc(&First, sizeof Values));
  HIP(hipMalloc(&Second, sizeof Values));
  for (int I = 0; I < 256; ++I)
    Values[I] = I * 3;
  HIP(hipMemcpy(First, Values, sizeof Values, hipMemcpyHostToDevice));
  HIP(hipMemcpyPeer(Second, 0, First, 0, sizeof Values));
  HIP(hipMemcpyPeerAsync(First, 0, Second, 0, 4, 0));
  HIP(hipMemcpy(Result, Second, sizeof Result, hipMemcpyDeviceToHost));
  EXPECT(std::memcmp(Values, Result, sizeof Result) == 0, "peer copy");
}

static void amounts() {
  size_t Free = 0, All = 0, Later = 0;
  HIP(hipMemGetInfo(&Free, &All));
  EXPECT(Free <= All && All >= (size_t(1) << 30), "%zu of %zu", Free, All);
  void *Big;
  HIP(hipMalloc(&Big, 64 << 20));
  HIP(hipMemGetInfo(&Later, &All));
  EXPECT(Free - Later >= (64 << 20) && Free - Later <= (80 << 20), "%zu", Free - Later);
  hipDeviceptr_t Base;
  size_t Size;
  HIP(hipMemGetAddressRange(&Base, &Size, static_cast<char *>(Big) + 12345));
  EXPECT(Base == Big && Size == (64 << 20), "%p %zu", Base, Size);
  HIP(hipFree(Big));
  EXPECT(hipMalloc(&Big, size_t(1) << 50) == hipErrorOutOfMemory, "2^50 bytes");
}

int main() {
  symbols();
  volumes();
  peers();
  amounts();
  return passed();
}
