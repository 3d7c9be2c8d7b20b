//===- DeviceConfig.cpp - The targets that are modelled ---------------------===//
//
// One row a target. What a row says must be what LLVM's back end assumes about
// that processor (register counts, granules) and what the vendor's public
// specification says about the product (see tools/vgpu/README.md).
//
//===----------------------------------------------------------------------===//
#include "machine/DeviceConfig.h"

namespace vgpu {

static DeviceConfig named(const char *Target, unsigned Major, unsigned Minor, unsigned Stepping) {
  DeviceConfig C;
  C.Target = Target;
  C.MarketingName = std::string("Virtual GPU ") + Target;
  C.Major = Major;
  C.Minor = Minor;
  C.Stepping = Stepping;
  return C;
}

/// A Radeon RX Vega 64.
static DeviceConfig makeGfx900() {
  DeviceConfig C = named("gfx900", 9, 0, 0);
  C.ShaderEngines = 4;
  C.ComputeUnits = 64;
  C.EngineMHz = 1500;
  C.MemoryMHz = 945;
  C.MemoryBits = 2048;
  C.VramBytes = uint64_t(8) << 30;
  return C;
}

/// A Radeon Instinct MI50. Everything that is not here is the GCN default.
static DeviceConfig makeGfx906() {
  DeviceConfig C = named("gfx906", 9, 0, 6);
  C.ShaderEngines = 4;
  C.ComputeUnits = 60;
  return C;
}

/// An Instinct MI100.
static DeviceConfig makeGfx908() {
  DeviceConfig C = named("gfx908", 9, 0, 8);
  C.ShaderEngines = 8;
  C.ComputeUnits = 120;
  C.Accumulators = DeviceConfig::OwnAccumulators;
  C.L2Bytes = 8 * 1024 * 1024;
  C.L2LineBytes = 128;
  C.L2Channels = 32;
  C.EngineMHz = 1500;
  C.MemoryMHz = 1200;
  C.VramBytes = uint64_t(32) << 30;
  C.SramEcc = true;
  return C;
}

/// One of the two dies of an Instinct MI250X.
static DeviceConfig makeGfx90a() {
  DeviceConfig C = named("gfx90a", 9, 0, 10);
  C.ShaderEngines = 8;
  C.ComputeUnits = 110;
  C.WavesPerSimd = 8;
  C.VgprsPerSimd = 512;
  C.MaxVgprs = 512;
  C.VgprGranule = 8;
  C.VgprEncoding = 8;
  C.Accumulators = DeviceConfig::UnifiedAccumulators;
  C.PackedWorkitemIds = true;
  C.CusPerScalarCache = 2;
  C.L2Bytes = 8 * 1024 * 1024;
  C.L2LineBytes = 128;
  C.L2Channels = 32;
  C.EngineMHz = 1700;
  C.MemoryMHz = 1600;
  C.VramBytes = uint64_t(64) << 30;
  C.SramEcc = true;
  return C;
}

/// A Radeon RX 6900 XT.
static DeviceConfig makeGfx1030() {
  DeviceConfig C = named("gfx1030", 10, 3, 0);
  C.ShaderEngines = 4;
  C.ArraysPerEngine = 2;
  C.ComputeUnits = 80;
  C.CusPerWgp = 2;
  C.SimdsPerCu = 2;
  C.WavesPerSimd = 16;
  C.WaveSize = 32;
  C.HasWave32 = true;
  C.VgprsPerSimd = 1024;
  C.RegisterLanes = 32;
  C.VgprGranule = 8;
  C.VgprGranule32 = 16;
  C.VgprEncoding = 4;
  C.VgprEncoding32 = 8;
  C.SgprsPerSimd = 16 * 128;
  C.SgprGranule = 128;
  C.FixedSgprs = true;
  C.LdsGranule = 1024;
  C.LineBytes = 128;
  C.CusPerScalarCache = 2;
  C.ArrayCacheBytes = 128 * 1024;
  C.L2LineBytes = 128;
  C.LastCacheBytes = 128 * 1024 * 1024;
  C.EngineMHz = 2250;
  C.MemoryMHz = 1000;
  C.MemoryBits = 256;
  return C;
}

static DeviceConfig (*const Makers[])() = {makeGfx900, makeGfx906, makeGfx908, makeGfx90a,
                                           makeGfx1030};

bool DeviceConfig::forTarget(const std::string &Target, DeviceConfig &Config) {
  for (auto *Make : Makers) {
    DeviceConfig C = Make();
    if (C.Target == Target) {
      Config = C;
      return true;
    }
  }
  return false;
}

std::string DeviceConfig::knownTargets() {
  std::string List;
  for (auto *Make : Makers)
    List += (List.empty() ? "" : ", ") + Make().Target;
  return List;
}

} // namespace vgpu
