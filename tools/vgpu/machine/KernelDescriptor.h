//===- KernelDescriptor.h - What a kernel asks of the dispatcher ------------===//
//
// The 64 bytes at a kernel object's address (code object v3 and later), read
// into plain fields. Layout: LLVM's AMDGPU usage document, "Kernel Descriptor".
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_MACHINE_KERNELDESCRIPTOR_H
#define VGPU_MACHINE_KERNELDESCRIPTOR_H

#include "machine/DeviceConfig.h"

#include <cstdint>

namespace vgpu {

struct KernelDescriptor {
  static constexpr unsigned Size = 64;

  uint32_t GroupBytes = 0;   ///< Static LDS.
  uint32_t PrivateBytes = 0; ///< Scratch of a work item.
  uint32_t KernargBytes = 0;
  uint64_t Entry = 0; ///< Absolute address of the first instruction.
  unsigned WaveSize = 64;
  unsigned ArchVgprs = 0, Accs = 0; ///< As allocated: rounded to the granule.
  unsigned VgprCost = 0; ///< What a wave takes of DeviceConfig::VgprsPerSimd.
  unsigned Sgprs = 0;
  uint32_t Mode = 0; ///< Initial MODE register.
  unsigned Priority = 0;
  unsigned UserSgprs = 0;

  // User SGPRs, in this order.
  bool PrivateSegmentBuffer = false;
  bool DispatchPtr = false;
  bool QueuePtr = false;
  bool KernargPtr = false;
  bool DispatchId = false;
  bool FlatScratchInit = false;
  bool PrivateSegmentSize = false;
  // System SGPRs, in this order.
  bool WorkgroupId[3] = {};
  bool WorkgroupInfo = false;
  bool PrivateWaveOffset = false;
  /// 0: x, 1: x and y, 2: x, y and z.
  unsigned WorkitemIds = 0;

  bool DynamicStack = false;
  /// gfx10: the waves of a workgroup may lie on both compute units of a pair.
  bool WgpMode = false;
  /// gfx90a: the waves of a workgroup may lie on several compute units. They do
  /// not here, and no program can tell: such a workgroup has no LDS.
  bool SplitGroups = false;

  bool wave32() const { return WaveSize == 32; }

  /// Parses \p Bytes, which lie at device address \p Address. Returns nullptr,
  /// or what makes the descriptor unusable on \p Config.
  static const char *parse(const uint8_t *Bytes, uint64_t Address, const DeviceConfig &Config,
                           KernelDescriptor &Out);
};

} // namespace vgpu
#endif
