// What differs between the targets for whoever decodes or executes: one row a
// target. Sizes and speeds of the device are the machine's (DeviceConfig.h).
// Source: LLVM's AMDGPU processor features and AMD's ISA manuals.
#ifndef VGPU_CORE_TARGETTRAITS_H
#define VGPU_CORE_TARGETTRAITS_H

#include <cstdint>
#include <string>

namespace vgpu {

/// Instruction encodings.
enum class Generation : uint8_t { Gfx9, Gfx10 };

struct TargetTraits {
  const char *Name;
  Generation Gen;
  bool HasAccVgprs = false;
  /// AccVGPRs are the upper part of one register file, and every vector memory
  /// and LDS operation may name them.
  bool UnifiedVgprs = false;
  /// Of kernels whose descriptor does not say; the only one where ! HasWave32.
  unsigned WaveSize = 64;

  bool isGfx10() const { return Gen == Generation::Gfx10; }
  bool hasWave32() const { return isGfx10(); }
  /// FLAT_SCRATCH is s[102:103]; else only s_getreg and s_setreg reach it.
  bool hasFlatScratchSgprs() const { return !isGfx10(); }
  /// 125 is a scalar register that reads 0 and forgets what is written.
  bool hasNull() const { return isGfx10(); }
};

constexpr TargetTraits KnownTargets[] = {
    {"gfx900", Generation::Gfx9},
    {"gfx906", Generation::Gfx9},
    {"gfx908", Generation::Gfx9, true},
    {"gfx90a", Generation::Gfx9, true, true},
    {"gfx1030", Generation::Gfx10, false, false, 32},
};

/// Null if the target is not one of ours.
inline const TargetTraits *findTarget(const std::string &Name) {
  for (const TargetTraits &T : KnownTargets)
    if (Name == T.Name)
      return &T;
  return nullptr;
}

/// For the message that follows a null from findTarget.
inline std::string knownTargetNames() {
  std::string List;
  for (const TargetTraits &T : KnownTargets)
    List += std::string(List.empty() ? "" : ", ") + T.Name;
  return List;
}

} // namespace vgpu

#endif
