// Code compiled while the program runs (HIPRTC): kernels by their name expression,
// constants, and the compiler's own words when it does not compile.
// REQUIRES: vgpu
// RUN: %hipcc_all -O3 -x hip %s -o %t
// RUN: kprobe-vgpu --vgpu=gfx906 -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx1030 -- %t | FileCheck %s
// CHECK: passed
#include "Inputs/check.h"

#include <hip/hiprtc.h>
#include <string>
#include <vector>

#define RTC(Call)                                                              \
  do {                                                                         \
    hiprtcResult Status = (Call);                                              \
    if (Status != HIPRTC_SUCCESS) {                                            \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #Call,                \
                  hiprtcGetErrorString(Status));                               \
      std::exit(1);                                                            \
    }                                                                          \
  } while (false)

static const char *Source = R"(
#include <hip/hip_runtime.h>
__constant__ int Offset;
template <typename T, int Factor> __global__ void scale(T *Cells, int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    Cells[I] = Cells[I] * Factor + ADDED + Offset;
}
)";

static std::string log(hiprtcProgram Program) {
  size_t Size = 0;
  RTC(hiprtcGetProgramLogSize(Program, &Size));
  std::string Text(Size, ' ');
  if (Size)
    RTC(hiprtcGetProgramLog(Program, &Text[0]));
  return Text;
}

int main() {
  hipDeviceProp_t Properties;
  HIP(hipGetDeviceProperties(&Properties, 0));
  const std::string Arch = std::string("--gpu-architecture=") + Properties.gcnArchName;
  hiprtcProgram Program;
  RTC(hiprtcCreateProgram(&Program, Source, "scale.hip", 0, nullptr, nullptr));
  RTC(hiprtcAddNameExpression(Program, "scale<float, 3>"));
  RTC(hiprtcAddNameExpression(Program, "&Offset"));
  const char *Options[] = {Arch.c_str(), "-DADDED=2", "-O3"};
  const hiprtcResult Compiled = hiprtcCompileProgram(Program, 3, Options);
  EXPECT(Compiled == HIPRTC_SUCCESS, "%s", log(Program).c_str());
  size_t Size = 0;
  RTC(hiprtcGetCodeSize(Program, &Size));
  std::vector<char> Code(Size);
  RTC(hiprtcGetCode(Program, Code.data()));
  const char *Kernel, *Constant;
  RTC(hiprtcGetLoweredName(Program, "scale<float, 3>", &Kernel));
  RTC(hiprtcGetLoweredName(Program, "&Offset", &Constant));

  hipModule_t Module;
  hipFunction_t Function;
  HIP(hipModuleLoadData(&Module, Code.data()));
  HIP(hipModuleGetFunction(&Function, Module, Kernel));
  hipDeviceptr_t Address;
  size_t Bytes;
  HIP(hipModuleGetGlobal(&Address, &Bytes, Module, Constant));
  int Offset = 40, N = 333;
  HIP(hipMemcpyHtoD(Address, &Offset, sizeof Offset));
  float *Cells;
  HIP(hipMalloc(&Cells, N * 4));
  std::vector<float> Host(N);
  for (int I = 0; I < N; ++I)
    Host[I] = float(I) / 4;
  HIP(hipMemcpy(Cells, Host.data(), N * 4, hipMemcpyHostToDevice));
  // Arguments as one buffer.
  struct {
    float *Cells;
    int N;
  } Packed = {Cells, N};
  size_t PackedSize = sizeof Packed;
  void *Extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &Packed, HIP_LAUNCH_PARAM_BUFFER_SIZE,
                   &PackedSize, HIP_LAUNCH_PARAM_END};
  HIP(hipModuleLaunchKernel(Function, 3, 1, 1, 128, 1, 1, 0, nullptr, nullptr, Extra));
  std::vector<float> Out(N);
  HIP(hipMemcpy(Out.data(), Cells, N * 4, hipMemcpyDeviceToHost));
  for (int I = 0; I < N; ++I)
    EXPECT(Out[I] == Host[I] * 3 + 42, "%d: %g", I, double(Out[I]));
  HIP(hipModuleUnload(Module));
  RTC(hiprtcDestroyProgram(&Program));

  RTC(hiprtcCreateProgram(&Program, "__global__ void bad() { nonsense; }", "bad.hip", 0, nullptr,
                          nullptr));
  EXPECT(hiprtcCompileProgram(Program, 1, Options) == HIPRTC_ERROR_COMPILATION, "it compiled");
  EXPECT(log(Program).find("nonsense") != std::string::npos, "%s", log(Program).c_str());
  RTC(hiprtcDestroyProgram(&Program));
  return passed();
}
