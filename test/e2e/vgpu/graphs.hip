// A graph, captured from streams or built node by node, runs as often as it is
// launched, in the order of its edges, with parameters that may be changed.
// REQUIRES: vgpu
// RUN: %hipcc_all -O3 -x hip %s -o %t
// RUN: kprobe-vgpu --vgpu=gfx906 -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx90a -- %t | FileCheck %s
// RUN: kprobe-vgpu --vgpu=gfx1030 -- %t | FileCheck %s
// CHECK: passed
#include "Inputs/check.h"

#include <atomic>
#include <vector>

__global__ void scale(int *Cells, int Factor, int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    Cells[I] *= Factor;
}
__global__ void add(int *Cells, const int *Others, int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    Cells[I] += Others[I];
}

constexpr int N = 1000, Groups = (N + 127) / 128;

static void captured() {
  int *Cells, *Others;
  HIP(hipMalloc(&Cells, N * 4));
  HIP(hipMalloc(&Others, N * 4));
  std::vector<int> In(N), Out(N);
  for (int I = 0; I < N; ++I)
    In[I] = I - 300;
  hipStream_t First, Second;
  hipEvent_t Fork, Join;
  HIP(hipStreamCreate(&First));
  HIP(hipStreamCreate(&Second));
  HIP(hipEventCreate(&Fork));
  HIP(hipEventCreate(&Join));
  HIP(hipStreamBeginCapture(First, hipStreamCaptureModeGlobal));
  HIP(hipMemcpyAsync(Cells, In.data(), N * 4, hipMemcpyHostToDevice, First));
  HIP(hipEventRecord(Fork, First));
  HIP(hipStreamWaitEvent(Second, Fork, 0));
  HIP(hipMemcpyAsync(Others, In.data(), N * 4, hipMemcpyHostToDevice, Second));
  scale<<<Groups, 128, 0, Second>>>(Others, 10, N);
  scale<<<Groups, 128, 0, First>>>(Cells, 3, N);
  HIP(hipEventRecord(Join, Second));
  HIP(hipStreamWaitEvent(First, Join, 0));
  add<<<Groups, 128, 0, First>>>(Cells, Others, N);
  HIP(hipMemcpyAsync(Out.data(), Cells, N * 4, hipMemcpyDeviceToHost, First));
  hipGraph_t Graph;
  HIP(hipStreamEndCapture(First, &Graph));
  for (int I = 0; I < N; ++I)
    EXPECT(Out[I] == 0, "ran while it was captured: %d", Out[I]);
  hipGraphExec_t Ready;
  HIP(hipGraphInstantiate(&Ready, Graph, nullptr, nullptr, 0));
  for (int Round = 1; Round <= 5; ++Round) {
    for (int I = 0; I < N; ++I)
      In[I] = I * Round - 300;
    HIP(hipGraphLaunch(Ready, First));
    HIP(hipStreamSynchronize(First));
    for (int I = 0; I < N; ++I)
      EXPECT(Out[I] == 13 * In[I], "round %d, cell %d: %d", Round, I, Out[I]);
  }
  HIP(hipGraphExecDestroy(Ready));
  HIP(hipGraphDestroy(Graph));
}

static void built() {
  int *Cells, Factor = 7, Count = N;
  HIP(hipMalloc(&Cells, N * 4));
  std::vector<int> Out(N);
  hipGraph_t Graph;
  HIP(hipGraphCreate(&Graph, 0));
  hipMemsetParams Fill = {};
  Fill.dst = Cells;
  Fill.value = 6;
  Fill.elementSize = 4;
  Fill.width = N;
  Fill.height = 1;
  hipGraphNode_t FillNode, KernelNode, CopyNode;
  HIP(hipGraphAddMemsetNode(&FillNode, Graph, nullptr, 0, &Fill));
  void *Arguments[] = {&Cells, &Factor, &Count};
  hipKernelNodeParams Launch = {};
  Launch.func = reinterpret_cast<void *>(scale);
  Launch.gridDim = dim3(Groups);
  Launch.blockDim = dim3(128);
  Launch.kernelParams = Arguments;
  HIP(hipGraphAddKernelNode(&KernelNode, Graph, &FillNode, 1, &Launch));
  HIP(hipGraphAddMemcpyNode1D(&CopyNode, Graph, &KernelNode, 1, Out.data(), Cells, N * 4,
                              hipMemcpyDeviceToHost));
  size_t Nodes = 0;
  HIP(hipGraphGetNodes(Graph, nullptr, &Nodes));
  EXPECT(Nodes == 3, "%zu nodes", Nodes);
  hipGraphExec_t Ready;
  HIP(hipGraphInstantiate(&Ready, Graph, nullptr, nullptr, 0));
  hipStream_t Stream;
  HIP(hipStreamCreate(&Stream));
  for (int NewFactor : {7, 7, 11}) {
    if (NewFactor != Factor) {
      Factor = NewFactor;
      HIP(hipGraphExecKernelNodeSetParams(Ready, KernelNode, &Launch));
    }
    HIP(hipGraphLaunch(Ready, Stream));
    HIP(hipStreamSynchronize(Stream));
    for (int I = 0; I < N; ++I)
      EXPECT(Out[I] == 6 * Factor, "factor %d, cell %d: %d", Factor, I, Out[I]);
  }
  HIP(hipGraphExecDestroy(Ready));
  HIP(hipGraphDestroy(Graph));
}

int main() {
  captured();
  built();
  return passed();
}
