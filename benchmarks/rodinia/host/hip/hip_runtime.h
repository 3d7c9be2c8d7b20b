// HIP for the host's own compiler: takes the place of ROCm's header when run.py
// builds a Rodinia program as a reference. No GPU, no device compiler, no ROCm.
//
// A kernel launch runs its workgroups one after the other, in the order of their
// numbers; with KPROBE_HOST_LAST_GROUP_FIRST in the environment, in the opposite
// one, for a program whose groups race. The work items of a
// group are fibres that take turns at __syncthreads(): each runs to the barrier,
// then the next does, in the order of their numbers. A group whose first work
// item meets no barrier needs no fibres and is a plain loop.
//
// LDS is static memory, since one group runs at a time. Device memory is the
// host's and begins as zeros, so that a program which reads what it never wrote
// does so repeatably.
#ifndef KPROBE_BENCHMARKS_HOST_HIP_RUNTIME_H
#define KPROBE_BENCHMARKS_HOST_HIP_RUNTIME_H

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(...)
#define HIP_KERNEL_NAME(...) __VA_ARGS__

//===- Types ------------------------------------------------------------------//

struct dim3 {
  uint32_t x, y, z;
  dim3(uint32_t X = 1, uint32_t Y = 1, uint32_t Z = 1) : x(X), y(Y), z(Z) {}
};

#define KPROBE_HOST_VECTORS(Type, Name)                                        \
  struct alignas(2 * sizeof(Type)) Name##2 { Type x, y; };                     \
  struct Name##3 { Type x, y, z; };                                            \
  struct alignas(4 * sizeof(Type)) Name##4 { Type x, y, z, w; };               \
  inline Name##2 make_##Name##2(Type X, Type Y) { return {X, Y}; }             \
  inline Name##3 make_##Name##3(Type X, Type Y, Type Z) { return {X, Y, Z}; }  \
  inline Name##4 make_##Name##4(Type X, Type Y, Type Z, Type W) {              \
    return {X, Y, Z, W};                                                       \
  }
KPROBE_HOST_VECTORS(int, int)
KPROBE_HOST_VECTORS(float, float)
#undef KPROBE_HOST_VECTORS

//===- Work items -------------------------------------------------------------//

inline dim3 threadIdx, blockIdx, blockDim, gridDim;
#define hipThreadIdx_x (threadIdx.x)
#define hipThreadIdx_y (threadIdx.y)
#define hipThreadIdx_z (threadIdx.z)
#define hipBlockIdx_x (blockIdx.x)
#define hipBlockIdx_y (blockIdx.y)
#define hipBlockIdx_z (blockIdx.z)
#define hipBlockDim_x (blockDim.x)
#define hipBlockDim_y (blockDim.y)
#define hipBlockDim_z (blockDim.z)
#define hipGridDim_x (gridDim.x)
#define hipGridDim_y (gridDim.y)
#define hipGridDim_z (gridDim.z)

namespace kprobe_host {

// One work item that can stop in the middle. makecontext makes the stack;
// after that _setjmp and _longjmp switch, which make no system call.
struct Fibre {
  static constexpr size_t StackBytes = 256 * 1024;
  std::unique_ptr<char[]> Stack{new char[StackBytes]};
  ucontext_t Start;
  jmp_buf Inside;
  bool Started, Finished;
};

inline std::vector<std::unique_ptr<Fibre>> Fibres; // kept from group to group
inline Fibre *Running;                             // null in a plain loop
inline jmp_buf Outside;
inline const std::function<void()> *Item;

[[noreturn]] inline void fail(const char *Text) {
  std::fprintf(stderr, "error: host reference: %s\n", Text);
  std::_Exit(1);
}

inline void runItem() {
  (*Item)();
  Running->Finished = true;
  _longjmp(Outside, 1);
}

inline void resume(Fibre &Next) {
  Running = &Next;
  if (_setjmp(Outside) == 0) {
    if (Next.Started)
      _longjmp(Next.Inside, 1);
    Next.Started = true;
    setcontext(&Next.Start);
    fail("no context");
  }
  Running = nullptr;
}

inline void barrier() {
  if (!Running)
    fail("a barrier that the group's first work item does not reach");
  if (_setjmp(Running->Inside) == 0)
    _longjmp(Outside, 1);
}

inline void selectItem(uint32_t Number) {
  threadIdx = dim3(Number % blockDim.x, Number / blockDim.x % blockDim.y,
                   Number / blockDim.x / blockDim.y);
}

inline void resumeItem(uint32_t Number) {
  if (Number == Fibres.size())
    Fibres.push_back(std::make_unique<Fibre>());
  selectItem(Number);
  resume(*Fibres[Number]);
}

inline void startItem(uint32_t Number) {
  if (Number == Fibres.size())
    Fibres.push_back(std::make_unique<Fibre>());
  Fibre &New = *Fibres[Number];
  New.Started = New.Finished = false;
  getcontext(&New.Start);
  New.Start.uc_stack.ss_sp = New.Stack.get();
  New.Start.uc_stack.ss_size = Fibre::StackBytes;
  New.Start.uc_link = nullptr;
  makecontext(&New.Start, runItem, 0);
  resumeItem(Number);
}

inline void runGroup() {
  uint32_t Count = blockDim.x * blockDim.y * blockDim.z;
  startItem(0);
  if (Fibres[0]->Finished) {
    for (uint32_t Number = 1; Number < Count; ++Number) {
      selectItem(Number);
      (*Item)();
    }
    return;
  }
  for (uint32_t Number = 1; Number < Count; ++Number)
    startItem(Number);
  for (bool Left = true; Left;) {
    Left = false;
    for (uint32_t Number = 0; Number < Count; ++Number)
      if (!Fibres[Number]->Finished) {
        resumeItem(Number);
        Left = true;
      }
  }
}

inline void launch(dim3 Grid, dim3 Group, const std::function<void()> &Call) {
  gridDim = Grid;
  blockDim = Group;
  Item = &Call;
  static const bool Backwards = std::getenv("KPROBE_HOST_LAST_GROUP_FIRST");
  uint64_t Count = uint64_t(Grid.x) * Grid.y * Grid.z;
  for (uint64_t Step = 0; Step < Count; ++Step) {
    uint64_t Number = Backwards ? Count - 1 - Step : Step;
    blockIdx = dim3(Number % Grid.x, Number / Grid.x % Grid.y,
                    Number / Grid.x / Grid.y);
    runGroup();
  }
}

} // namespace kprobe_host

#define hipLaunchKernelGGL(Kernel, Grid, Group, LdsBytes, Stream, ...)         \
  kprobe_host::launch(Grid, Group, [&] { Kernel(__VA_ARGS__); })
#define __syncthreads() kprobe_host::barrier()
#define __mul24(A, B) ((A) * (B))
// HIP's power of a float and an int is a float, and so overflows where the double
// that C++ makes of them does not.
inline float pow(float Base, int Exponent) {
  return float(std::pow(double(Base), Exponent));
}

//===- The runtime's functions that the programs call ---------------------------//

enum hipError_t { hipSuccess, hipErrorOutOfMemory };
enum hipMemcpyKind {
  hipMemcpyHostToHost,
  hipMemcpyHostToDevice,
  hipMemcpyDeviceToHost,
  hipMemcpyDeviceToDevice
};
typedef void *hipStream_t;
typedef void *hipEvent_t;

struct hipDeviceProp_t {
  char name[256];
  int major, minor, multiProcessorCount;
};

template <class T> hipError_t hipMalloc(T **Pointer, size_t Bytes) {
  *Pointer = static_cast<T *>(std::calloc(Bytes ? Bytes : 1, 1));
  return *Pointer ? hipSuccess : hipErrorOutOfMemory;
}
template <class T>
hipError_t hipHostMalloc(T **Pointer, size_t Bytes, unsigned = 0) {
  return hipMalloc(Pointer, Bytes);
}
inline hipError_t hipFree(void *Pointer) {
  std::free(Pointer);
  return hipSuccess;
}
inline hipError_t hipHostFree(void *Pointer) { return hipFree(Pointer); }

inline hipError_t hipMemcpy(void *To, const void *From, size_t Bytes,
                            hipMemcpyKind) {
  std::memmove(To, From, Bytes);
  return hipSuccess;
}
inline hipError_t hipMemcpyToSymbol(const void *Symbol, const void *From,
                                    size_t Bytes, size_t Offset = 0,
                                    hipMemcpyKind = hipMemcpyHostToDevice) {
  std::memcpy(static_cast<char *>(const_cast<void *>(Symbol)) + Offset, From,
              Bytes);
  return hipSuccess;
}
inline hipError_t hipMemset(void *To, int Byte, size_t Bytes) {
  std::memset(To, Byte, Bytes);
  return hipSuccess;
}

inline hipError_t hipGetDeviceCount(int *Count) {
  *Count = 1;
  return hipSuccess;
}
inline hipError_t hipSetDevice(int) { return hipSuccess; }
inline hipError_t hipGetDevice(int *Device) {
  *Device = 0;
  return hipSuccess;
}
inline hipError_t hipGetDeviceProperties(hipDeviceProp_t *Properties, int) {
  *Properties = {"host", 9, 0, 1};
  return hipSuccess;
}
inline hipError_t hipDeviceSynchronize() { return hipSuccess; }
inline hipError_t hipGetLastError() { return hipSuccess; }
inline const char *hipGetErrorString(hipError_t Error) {
  return Error == hipSuccess ? "no error" : "out of memory";
}

inline hipError_t hipEventCreate(hipEvent_t *) { return hipSuccess; }
inline hipError_t hipEventDestroy(hipEvent_t) { return hipSuccess; }
inline hipError_t hipEventRecord(hipEvent_t, hipStream_t) { return hipSuccess; }
inline hipError_t hipEventSynchronize(hipEvent_t) { return hipSuccess; }
inline hipError_t hipEventElapsedTime(float *Milliseconds, hipEvent_t,
                                      hipEvent_t) {
  *Milliseconds = 0;
  return hipSuccess;
}

//===- Texture references to plain memory ---------------------------------------//

enum hipTextureReadMode { hipReadModeElementType };
template <class T, int Dimensions, hipTextureReadMode Mode> struct texture {
  const T *Data = nullptr;
};
template <class T, int D, hipTextureReadMode M>
hipError_t hipBindTexture(size_t *, texture<T, D, M> &Texture,
                          const void *Pointer, size_t) {
  Texture.Data = static_cast<const T *>(Pointer);
  return hipSuccess;
}
template <class T, int D, hipTextureReadMode M>
hipError_t hipUnbindTexture(texture<T, D, M> *Texture) {
  Texture->Data = nullptr;
  return hipSuccess;
}
template <class T, int D, hipTextureReadMode M>
T tex1Dfetch(const texture<T, D, M> &Texture, int Index) {
  return Texture.Data[Index];
}

#endif
