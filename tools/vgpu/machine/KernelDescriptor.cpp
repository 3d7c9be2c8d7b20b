//===- KernelDescriptor.cpp - Parse the 64 bytes of a kernel object ---------===//
//
// Apart from the dispatcher so that it can be tested on bytes alone.
//
//===----------------------------------------------------------------------===//
#include "machine/KernelDescriptor.h"

#include <algorithm>
#include <cstring>

namespace vgpu {

template <typename T> static T readAt(const uint8_t *Bytes, unsigned Offset) {
  T Value;
  std::memcpy(&Value, Bytes + Offset, sizeof(T));
  return Value;
}

static uint32_t bits(uint32_t Word, unsigned Low, unsigned Count) {
  return (Word >> Low) & ((1u << Count) - 1);
}

const char *KernelDescriptor::parse(const uint8_t *Bytes, uint64_t Address,
                                    const DeviceConfig &Config, KernelDescriptor &Out) {
  Out = KernelDescriptor();
  Out.GroupBytes = readAt<uint32_t>(Bytes, 0);
  Out.PrivateBytes = readAt<uint32_t>(Bytes, 4);
  Out.KernargBytes = readAt<uint32_t>(Bytes, 8);
  Out.Entry = Address + readAt<int64_t>(Bytes, 16);
  uint32_t Rsrc3 = readAt<uint32_t>(Bytes, 44);
  uint32_t Rsrc1 = readAt<uint32_t>(Bytes, 48);
  uint32_t Rsrc2 = readAt<uint32_t>(Bytes, 52);
  uint32_t Properties = readAt<uint16_t>(Bytes, 56);

  const bool Wave32 = bits(Properties, 10, 1);
  Out.WaveSize = Wave32 ? 32 : 64;
  if (Wave32 && !Config.HasWave32)
    return "wave32 on a target that has wave64 only";
  const unsigned Encoding = Wave32 ? Config.VgprEncoding32 : Config.VgprEncoding;
  const unsigned Granule = Wave32 ? Config.VgprGranule32 : Config.VgprGranule;
  const unsigned Asked = (bits(Rsrc1, 0, 6) + 1) * Encoding;
  const unsigned Vgprs = Out.ArchVgprs = (Asked + Granule - 1) / Granule * Granule;
  Out.VgprCost = Vgprs * ((Out.WaveSize + Config.RegisterLanes - 1) / Config.RegisterLanes);
  if (Vgprs > Config.MaxVgprs || Out.VgprCost > Config.VgprsPerSimd)
    return "more VGPRs than a lane can have";
  switch (Config.Accumulators) {
  case DeviceConfig::NoAccumulators:
    break;
  case DeviceConfig::OwnAccumulators: // As many as VGPRs, from a file as large.
    Out.Accs = Vgprs;
    break;
  case DeviceConfig::UnifiedAccumulators:
    Out.ArchVgprs = std::min(Vgprs, (bits(Rsrc3, 0, 6) + 1) * 4);
    Out.Accs = Vgprs - Out.ArchVgprs;
    Out.SplitGroups = bits(Rsrc3, 16, 1);
    break;
  }
  Out.Sgprs = Config.FixedSgprs ? Config.SgprGranule
                                : (bits(Rsrc1, 6, 4) / 2 + 1) * Config.SgprGranule;
  Out.Priority = bits(Rsrc1, 10, 2);
  // MODE: rounding and denormals in the low byte, DX10_CLAMP 8, IEEE 9,
  // FP16_OVFL 23.
  Out.Mode = bits(Rsrc1, 12, 8) | bits(Rsrc1, 21, 1) << 8 | bits(Rsrc1, 23, 1) << 9 |
             bits(Rsrc1, 26, 1) << 23;
  if (Config.Major >= 10) {
    Out.WgpMode = bits(Rsrc1, 29, 1); // MEM_ORDERED and FWD_PROGRESS change nothing here.
    if (bits(Rsrc3, 0, 4))
      return "shared VGPRs are not modelled";
  }

  Out.PrivateWaveOffset = bits(Rsrc2, 0, 1);
  Out.UserSgprs = bits(Rsrc2, 1, 5);
  for (unsigned I = 0; I < 3; ++I)
    Out.WorkgroupId[I] = bits(Rsrc2, 7 + I, 1);
  Out.WorkgroupInfo = bits(Rsrc2, 10, 1);
  Out.WorkitemIds = bits(Rsrc2, 11, 2);

  Out.PrivateSegmentBuffer = bits(Properties, 0, 1);
  Out.DispatchPtr = bits(Properties, 1, 1);
  Out.QueuePtr = bits(Properties, 2, 1);
  Out.KernargPtr = bits(Properties, 3, 1);
  Out.DispatchId = bits(Properties, 4, 1);
  Out.FlatScratchInit = bits(Properties, 5, 1);
  Out.PrivateSegmentSize = bits(Properties, 6, 1);
  Out.DynamicStack = bits(Properties, 11, 1);

  if (Out.Entry & 255)
    return "kernel entry is not aligned to 256 bytes";
  if (Out.UserSgprs > 16)
    return "more than 16 user SGPRs";
  unsigned Enabled =
      Out.PrivateSegmentBuffer * 4 +
      (Out.DispatchPtr + Out.QueuePtr + Out.KernargPtr + Out.DispatchId + Out.FlatScratchInit) * 2 +
      Out.PrivateSegmentSize;
  if (Enabled > Out.UserSgprs)
    return "user SGPR count is smaller than what the descriptor enables";
  if (Out.WorkitemIds == 3)
    return "reserved value in the work-item id field";
  return nullptr;
}

} // namespace vgpu
