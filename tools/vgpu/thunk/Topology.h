//===- Topology.h - What the driver says the machine is made of -------------===//
//
// Node 0 is the host, nodes 1 and up are virtual GPUs. Properties follow from
// DeviceConfig; the rest is what ROCr and HIP insist on (each with its reason at
// the line).
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_THUNK_TOPOLOGY_H
#define VGPU_THUNK_TOPOLOGY_H

#include "machine/DeviceConfig.h"

#include <hsakmt.h>

#include <vector>

namespace vgpu {

constexpr uint32_t HostNode = 0;
constexpr uint32_t FirstGpuNode = 1;

/// \p Gpus in node order.
HsaNodeProperties hostProperties(const std::vector<DeviceConfig> &Gpus);
HsaNodeProperties gpuProperties(const std::vector<DeviceConfig> &Gpus, uint32_t Node);
std::vector<HsaMemoryProperties> hostMemory();
std::vector<HsaMemoryProperties> gpuMemory(const DeviceConfig &Gpu);
std::vector<HsaCacheProperties> hostCaches();
std::vector<HsaCacheProperties> gpuCaches(const DeviceConfig &Gpu);
std::vector<HsaIoLinkProperties> links(const std::vector<DeviceConfig> &Gpus, uint32_t Node);

} // namespace vgpu
#endif
