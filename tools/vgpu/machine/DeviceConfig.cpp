//===- DeviceConfig.cpp - The targets that are modelled ---------------------===//
//
// One row a target. What a row says must be what LLVM's back end assumes about
// that processor (register counts, granules) and what the vendor's public
// specification says about the product (see tools/vgpu/README.md).
//
//===----------------------------------------------------------------------===//
#include "machine/DeviceConfig.h"

namespace vgpu {

static DeviceConfig makeGfx906() {
  DeviceConfig C;
  C.Target = "gfx906";
  C.MarketingName = "Virtual GPU gfx906";
  C.Major = 9;
  C.Minor = 0;
  C.Stepping = 6;
  C.ShaderEngines = 4;
  C.ComputeUnits = 60;
  return C; // Everything else is the GCN default of DeviceConfig.
}

bool DeviceConfig::forTarget(const std::string &Target, DeviceConfig &Config) {
  if (Target == "gfx906") {
    Config = makeGfx906();
    return true;
  }
  return false;
}

std::string DeviceConfig::knownTargets() { return "gfx906"; }

} // namespace vgpu
