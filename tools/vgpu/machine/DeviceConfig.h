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
  unsigned ArraysPerEngine = 1;
  unsigned ComputeUnits = 0; ///< In all.
  unsigned CusPerWgp = 1;    ///< That can run a workgroup together (gfx10: 2).
  unsigned SimdsPerCu = 4;
  unsigned WavesPerSimd = 10;
  unsigned WaveSize = 64; ///< The compiler's default for this target.
  bool HasWave32 = false; ///< Beside wave64: the kernel descriptor decides.

  /// Registers of a SIMD over all its waves, each RegisterLanes wide: a wave of
  /// 64 lanes takes two for one where RegisterLanes is 32.
  unsigned VgprsPerSimd = 256;
  unsigned RegisterLanes = 64;
  unsigned MaxVgprs = 256;      ///< Of a wave, unified accumulators included.
  unsigned VgprGranule = 4;     ///< Allocation of a wave64.
  unsigned VgprGranule32 = 0;   ///< Allocation of a wave32.
  unsigned VgprEncoding = 4;    ///< Unit of the descriptor's count, wave64.
  unsigned VgprEncoding32 = 0;  ///< The same for wave32.
  unsigned SgprsPerSimd = 800;  ///< Over all waves of the SIMD.
  unsigned SgprGranule = 16;
  bool FixedSgprs = false; ///< Each wave has SgprGranule, whatever it asks for.
  /// Accumulation registers: none, a file of their own beside the VGPRs
  /// (gfx908), or the upper part of a wave's VGPRs (gfx90a).
  enum { NoAccumulators, OwnAccumulators, UnifiedAccumulators } Accumulators = NoAccumulators;
  bool PackedWorkitemIds = false; ///< x, y, z in v0, ten bits each.

  unsigned MaxWorkgroupsPerCu = 16;
  unsigned MaxWorkgroupItems = 1024;
  unsigned LdsBytes = 64 * 1024; ///< Per CU, and the most a workgroup may have.
  unsigned LdsGranule = 512;

  // Caches. A size of 0: this target has none.
  unsigned LineBytes = 64;      ///< Of the CU's vector cache and the scalar cache.
  unsigned L1Bytes = 16 * 1024; ///< Vector data cache of a CU (gfx10 calls it L0).
  unsigned L1Ways = 4;
  unsigned ScalarCacheBytes = 16 * 1024;
  unsigned CusPerScalarCache = 3;
  unsigned ArrayCacheBytes = 0; ///< Of a shader array, between L1 and L2 (gfx10).
  unsigned L2Bytes = 4 * 1024 * 1024;
  unsigned L2LineBytes = 64;
  unsigned L2Channels = 16;
  unsigned LastCacheBytes = 0; ///< Behind L2 (gfx1030: Infinity Cache).

  unsigned EngineMHz = 1800;  ///< Modelled cycles a microsecond.
  unsigned RealTimeMHz = 100; ///< s_memrealtime, GPUClockCounter, time stamps.
  unsigned MemoryMHz = 1000;  ///< As a driver reports it; so is the width.
  unsigned MemoryBits = 4096;
  uint64_t VramBytes = uint64_t(16) << 30;
  bool SramEcc = false; ///< On, where the target has it as a mode.

  uint64_t LdsAperture = uint64_t(1) << 48;     ///< Flat address of LDS.
  uint64_t ScratchAperture = uint64_t(2) << 48; ///< Flat address of scratch.

  /// Ends a dispatch that runs longer than this many modelled cycles with a
  /// fault; 0 = never (KPROBE_VGPU_MAX_CYCLES).
  uint64_t MaxCycles = 0;

  /// Host threads that run compute units (KPROBE_VGPU_THREADS). With more than one,
  /// cycles may differ from run to run.
  unsigned Threads = 1;

  /// What workgroups are placed on: a compute unit, or on gfx10 a pair of them.
  unsigned units() const { return ComputeUnits / CusPerWgp; }
  unsigned simdsPerUnit() const { return SimdsPerCu * CusPerWgp; }
  /// The real-time clock at a time of CLOCK_MONOTONIC.
  uint64_t ticksAt(uint64_t Nanoseconds) const { return Nanoseconds * RealTimeMHz / 1000; }
  uint64_t cyclesOf(uint64_t Ticks) const {
    return (Ticks * EngineMHz + RealTimeMHz - 1) / RealTimeMHz;
  }
  uint64_t ticksOf(uint64_t Cycles) const { return Cycles * RealTimeMHz / EngineMHz; }

  /// Fills \p Config for a target name; false when the name is not known.
  static bool forTarget(const std::string &Target, DeviceConfig &Config);
  /// "gfx906, gfx90a, …", for the message that follows a false from forTarget.
  static std::string knownTargets();
};

} // namespace vgpu
#endif
