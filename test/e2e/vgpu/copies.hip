// Copies and fills in every direction, aligned and not, linear and 2-D, blocking
// and asynchronous.
// REQUIRES: vgpu
// RUN: %hipcc_all -O3 -x hip %s -o %t
// RUN: kprobe-vgpu --vgpu=gfx906 -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx1030 -- %t | FileCheck %s
// CHECK: passed
#include "Inputs/check.h"

#include <cstdint>
#include <cstring>
#include <vector>

static std::vector<uint8_t> pattern(size_t Size, unsigned Seed) {
  std::vector<uint8_t> Bytes(Size);
  for (size_t I = 0; I < Size; ++I)
    Bytes[I] = uint8_t((I * 2654435761u + Seed) >> 13);
  return Bytes;
}

static void linear(size_t Size, size_t Offset) {
  const std::vector<uint8_t> In = pattern(Size, unsigned(Size));
  std::vector<uint8_t> Out(Size);
  uint8_t *A, *B;
  HIP(hipMalloc(&A, Size + Offset));
  HIP(hipMalloc(&B, Size + Offset));
  HIP(hipMemcpy(A + Offset, In.data(), Size, hipMemcpyHostToDevice));
  HIP(hipMemcpy(B + Offset, A + Offset, Size, hipMemcpyDeviceToDevice));
  HIP(hipMemcpy(Out.data(), B + Offset, Size, hipMemcpyDefault));
  EXPECT(In == Out, "size %zu, offset %zu", Size, Offset);
  std::vector<uint8_t> Host(Size);
  HIP(hipMemcpy(Host.data(), In.data(), Size, hipMemcpyHostToHost));
  EXPECT(Host == In, "host to host");
  HIP(hipFree(A));
  HIP(hipFree(B));
}

static void fills() {
  constexpr size_t Size = 4099;
  uint8_t *Bytes;
  HIP(hipMalloc(&Bytes, Size));
  std::vector<uint8_t> Out(Size);
  HIP(hipMemset(Bytes, 0xa5, Size));
  HIP(hipMemset(Bytes + 3, 0, 1001));
  HIP(hipMemcpy(Out.data(), Bytes, Size, hipMemcpyDeviceToHost));
  for (size_t I = 0; I < Size; ++I)
    EXPECT(Out[I] == (I >= 3 && I < 1004 ? 0 : 0xa5), "byte %zu is %u", I,
           Out[I]);
  HIP(hipMemsetD32(Bytes, 0x12345678, 1000));
  HIP(hipMemsetD16(Bytes + 4000, 0xbeef, 20));
  HIP(hipMemcpy(Out.data(), Bytes, Size, hipMemcpyDeviceToHost));
  for (size_t I = 0; I < 1000; ++I) {
    uint32_t Word;
    std::memcpy(&Word, &Out[4 * I], 4);
    EXPECT(Word == 0x12345678, "word %zu is %x", I, Word);
  }
  for (size_t I = 0; I < 20; ++I) {
    uint16_t Half;
    std::memcpy(&Half, &Out[4000 + 2 * I], 2);
    EXPECT(Half == 0xbeef, "half %zu is %x", I, Half);
  }
  EXPECT(Out[4040] == 0xa5, "fill went too far");
  HIP(hipFree(Bytes));
}

static void twoDimensional() {
  constexpr size_t Width = 37, Height = 11, HostPitch = 64;
  const std::vector<uint8_t> In = pattern(HostPitch * Height, 7);
  std::vector<uint8_t> Out(HostPitch * Height, 0xee);
  uint8_t *A, *B;
  size_t PitchA, PitchB;
  HIP(hipMallocPitch(reinterpret_cast<void **>(&A), &PitchA, Width, Height));
  HIP(hipMallocPitch(reinterpret_cast<void **>(&B), &PitchB, 200, Height));
  HIP(hipMemcpy2D(A, PitchA, In.data(), HostPitch, Width, Height,
                  hipMemcpyHostToDevice));
  HIP(hipMemset2D(B, PitchB, 0x11, Width, Height));
  HIP(hipMemcpy2D(B, PitchB, A, PitchA, Width - 1, Height,
                  hipMemcpyDeviceToDevice));
  HIP(hipMemcpy2D(Out.data(), HostPitch, B, PitchB, Width, Height,
                  hipMemcpyDeviceToHost));
  for (size_t Y = 0; Y < Height; ++Y)
    for (size_t X = 0; X < HostPitch; ++X) {
      const uint8_t Expected = X < Width - 1 ? In[Y * HostPitch + X]
                               : X < Width   ? 0x11
                                             : 0xee;
      EXPECT(Out[Y * HostPitch + X] == Expected, "(%zu, %zu) is %u", X, Y,
             Out[Y * HostPitch + X]);
    }
  HIP(hipFree(A));
  HIP(hipFree(B));
}

static void asynchronous() {
  constexpr size_t Size = 300000;
  hipStream_t Streams[3];
  uint8_t *Pinned[3], *Device[3], *Back[3];
  for (int I = 0; I < 3; ++I) {
    HIP(hipStreamCreate(&Streams[I]));
    HIP(hipHostMalloc(&Pinned[I], Size));
    HIP(hipHostMalloc(&Back[I], Size));
    HIP(hipMalloc(&Device[I], Size));
    const std::vector<uint8_t> In = pattern(Size, I);
    std::memcpy(Pinned[I], In.data(), Size);
  }
  for (int I = 0; I < 3; ++I) {
    HIP(hipMemsetAsync(Device[I], 0, Size, Streams[I]));
    HIP(hipMemcpyAsync(Device[I], Pinned[I], Size, hipMemcpyHostToDevice,
                       Streams[I]));
    HIP(hipMemcpyAsync(Back[I], Device[I], Size, hipMemcpyDeviceToHost,
                       Streams[I]));
  }
  for (int I = 0; I < 3; ++I) {
    HIP(hipStreamSynchronize(Streams[I]));
    EXPECT(std::memcmp(Pinned[I], Back[I], Size) == 0, "stream %d", I);
    HIP(hipStreamDestroy(Streams[I]));
    HIP(hipHostFree(Pinned[I]));
    HIP(hipHostFree(Back[I]));
    HIP(hipFree(Device[I]));
  }
}

int main() {
  for (size_t Size : {1, 4, 63, 4096, 65537, 1 << 20})
    for (size_t Offset : {0, 1, 4, 255})
      linear(Size, Offset);
  fills();
  twoDimensional();
  asynchronous();
  return passed();
}
