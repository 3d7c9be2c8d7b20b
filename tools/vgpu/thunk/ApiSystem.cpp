//===- ApiSystem.cpp - hsaKmt*: opening, topology, clocks, debugger ---------===//
//
// Thin entry points over Driver and Topology; <hsakmt.h> says what each does.
//
//===----------------------------------------------------------------------===//
#include "thunk/Api.h"
#include "thunk/Topology.h"

#include <algorithm>
#include <cstring>
#include <ctime>

using namespace vgpu;

namespace {

uint64_t nanoseconds(clockid_t Clock) {
  struct timespec Now;
  clock_gettime(Clock, &Now);
  return uint64_t(Now.tv_sec) * 1000000000u + uint64_t(Now.tv_nsec);
}

bool isNode(uint32_t Node) { return Node == HostNode || Driver::get().isGpu(Node); }

const DeviceConfig &gpuConfig(uint32_t Node) { return Driver::get().gpu(Node).config(); }

/// Copies as many as asked for; more than there are is an error.
template <typename T> HSAKMT_STATUS copyOut(const std::vector<T> &From, uint32_t Count, T *To) {
  if (!To || Count > From.size())
    return HSAKMT_STATUS_INVALID_PARAMETER;
  std::copy_n(From.begin(), Count, To);
  return HSAKMT_STATUS_SUCCESS;
}

} // namespace

VGPU_API hsaKmtOpenKFD(void) { return Driver::get().open(); }

VGPU_API hsaKmtCloseKFD(void) {
  VGPU_CHECK_RELEASE();
  return Driver::get().close();
}

VGPU_API hsaKmtGetVersion(HsaVersionInfo *Version) {
  VGPU_CHECK_OPEN();
  if (!Version)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  Version->KernelInterfaceMajorVersion = 1;
  Version->KernelInterfaceMinorVersion = 6; // 1.4 tells SRAM ECC of gfx906.
  return HSAKMT_STATUS_SUCCESS;
}

VGPU_API hsaKmtAcquireSystemProperties(HsaSystemProperties *Properties) {
  VGPU_CHECK_OPEN();
  if (!Properties)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  std::memset(Properties, 0, sizeof(*Properties));
  Properties->NumNodes = uint32_t(1 + Driver::get().gpus().size());
  return HSAKMT_STATUS_SUCCESS;
}

VGPU_API hsaKmtReleaseSystemProperties(void) { return HSAKMT_STATUS_SUCCESS; }

VGPU_API hsaKmtGetNodeProperties(HSAuint32 Node, HsaNodeProperties *Properties) {
  VGPU_CHECK_OPEN();
  if (!Properties)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  if (!isNode(Node))
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  const auto &Gpus = Driver::get().gpus();
  *Properties = Node == HostNode ? hostProperties(Gpus) : gpuProperties(Gpus, Node);
  return HSAKMT_STATUS_SUCCESS;
}

VGPU_API hsaKmtGetNodeMemoryProperties(HSAuint32 Node, HSAuint32 Count,
                                       HsaMemoryProperties *Properties) {
  VGPU_CHECK_OPEN();
  if (!isNode(Node))
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  return copyOut(Node == HostNode ? hostMemory() : gpuMemory(gpuConfig(Node)), Count, Properties);
}

VGPU_API hsaKmtGetNodeCacheProperties(HSAuint32 Node, HSAuint32, HSAuint32 Count,
                                      HsaCacheProperties *Properties) {
  VGPU_CHECK_OPEN();
  if (!isNode(Node))
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  return copyOut(Node == HostNode ? hostCaches() : gpuCaches(gpuConfig(Node)), Count, Properties);
}

VGPU_API hsaKmtGetNodeIoLinkProperties(HSAuint32 Node, HSAuint32 Count,
                                       HsaIoLinkProperties *Properties) {
  VGPU_CHECK_OPEN();
  if (!isNode(Node))
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  return copyOut(links(Driver::get().gpus(), Node), Count, Properties);
}

VGPU_API hsaKmtGetClockCounters(HSAuint32 Node, HsaClockCounters *Counters) {
  VGPU_CHECK_OPEN();
  if (!Counters)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  if (!isNode(Node))
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  // The device's clock is CLOCK_MONOTONIC scaled (Device.h), and so is the
  // system's here: the two differ by a rate only, whatever suspends did to
  // CLOCK_BOOTTIME; and both come from one reading, so ROCr's conversion is exact.
  Counters->CPUClockCounter = nanoseconds(CLOCK_MONOTONIC_RAW);
  Counters->SystemClockCounter = nanoseconds(CLOCK_MONOTONIC);
  Counters->GPUClockCounter =
      Node == HostNode ? 0
                       : Driver::get().gpu(Node).config().ticksAt(Counters->SystemClockCounter);
  Counters->SystemClockFrequencyHz = 1000000000;
  return HSAKMT_STATUS_SUCCESS;
}

// Reported as not supported, so that ROCr reports queue errors through
// queue_inactive_signal; the list of loaded code is welcome all the same.
VGPU_API hsaKmtRuntimeEnable(void *DebugList, bool) {
  VGPU_CHECK_OPEN();
  Driver::get().Code.setDebugList(static_cast<struct r_debug *>(DebugList));
  return HSAKMT_STATUS_NOT_SUPPORTED;
}

VGPU_API hsaKmtRuntimeDisable(void) {
  VGPU_CHECK_RELEASE();
  Driver::get().Code.setDebugList(nullptr);
  return HSAKMT_STATUS_SUCCESS;
}

// Traps are the machine's: it reports them itself, and runs no handler.
VGPU_API hsaKmtSetTrapHandler(HSAuint32 Node, void *, HSAuint64, void *, HSAuint64) {
  VGPU_CHECK_OPEN();
  return isNode(Node) ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_NODE_UNIT;
}

// There are no images, so there is no tiling; but ROCr's image library asks
// when an agent appears, and aborts the program when it gets no answer.
VGPU_API hsaKmtGetTileConfig(HSAuint32 Node, HsaGpuTileConfig *Config) {
  VGPU_CHECK_OPEN();
  if (!Config)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  if (!isNode(Node))
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  if (Config->TileConfig)
    std::fill_n(Config->TileConfig, Config->NumTileConfigs, 0);
  if (Config->MacroTileConfig)
    std::fill_n(Config->MacroTileConfig, Config->NumMacroTileConfigs, 0);
  Config->GbAddrConfig = 0;
  Config->NumBanks = 0;
  Config->NumRanks = 0;
  return HSAKMT_STATUS_SUCCESS;
}
