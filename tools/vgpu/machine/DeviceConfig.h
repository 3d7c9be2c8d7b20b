//===- DeviceConfig.h - What the modelled GPU is made of --------------------===//
//
// One table row a target: numbers that topology (thunk) and dispatcher (machine)
// must agree on. Sizes are bytes unless a name says otherwise. Sources of the
// numbers are in tools/vgpu/README.md.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_MACHINE_DEVICECONFIG_H
#define VGPU_MACHINE_DEVICECONFIG_H

#include <cstdint>
#include <string>

namespace vgpu {

struct DeviceConfig {
  std::string Target;                          ///< "gfx906": LLVM's processor name.
  std::string MarketingName;                   ///< "kprobe virtual GPU (gfx906)".
  unsigned Major = 0, Minor = 0, Stepping = 0; ///< gfx906 = 9.0.6.

  unsigned ShaderEngines = 0;
  unsigned ComputeUnits = 0; ///< In all.
  unsigned SimdsPerCu = 4;
  unsigned WavesPerSimd = 10;
  unsigned WaveSize = 64;
  unsigned VgprsPerSimd = 256; ///< Registers a lane can have, over all its waves.
  unsigned VgprGranule = 4;
  unsigned SgprsPerSimd = 800; ///< Over all waves of the SIMD.
  unsigned SgprGranule = 16;
  unsigned MaxWorkgroupsPerCu = 16;
  unsigned MaxWorkgroupItems = 1024;
  unsigned LdsBytes = 64 * 1024; ///< Per CU, and the most a workgroup may have.
  unsigned LdsGranule = 512;
  unsigned L1Bytes = 16 * 1024; ///< Vector data cache of a CU.
  unsigned ScalarCacheBytes = 16 * 1024;
  unsigned L2Bytes = 4 * 1024 * 1024;
  unsigned EngineMHz = 1800;  ///< Modelled cycles a microsecond.
  unsigned RealTimeMHz = 100; ///< s_memrealtime, GPUClockCounter, time stamps.
  uint64_t VramBytes = uint64_t(16) << 30;

  uint64_t LdsAperture = uint64_t(1) << 48;     ///< Flat address of LDS.
  uint64_t ScratchAperture = uint64_t(2) << 48; ///< Flat address of scratch.

  /// Ends a dispatch that runs longer than this many modelled cycles with a
  /// fault; 0 = never (KPROBE_VGPU_MAX_CYCLES).
  uint64_t MaxCycles = 0;

  /// Fills \p Config for a target name; false when the name is not known.
  static bool forTarget(const std::string &Target, DeviceConfig &Config);
  /// "gfx906, …", for the message that follows a false from forTarget.
  static std::string knownTargets();
};

} // namespace vgpu
#endif
