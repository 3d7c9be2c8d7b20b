// The numbers of each generation are those by which LLVM computes occupancy
// (AMDGPUBaseInfo), in the mode that it compiles for by default: from gfx10 on
// workgroup processors of two compute units, which share their LDS.
#include "Occupancy.h"

#include <algorithm>

namespace kprobe {
namespace {

struct Limits {
  std::string_view Prefix; ///< of the target's name
  uint32_t Waves;          ///< most of a SIMD
  uint32_t Vgprs;          ///< of a lane of a wave32 (gfx9: wave64), for all
  uint32_t VgprGranule;    ///< likewise
  uint32_t Sgprs;          ///< for all waves of a SIMD; 0: never the limit
  uint32_t LdsBytes;       ///< that four SIMDs share
};
constexpr uint32_t SgprGranule = 16, LdsGranule = 512, Simds = 4;

/// The first prefix that fits counts.
constexpr Limits Table[] = {
    // One file for VGPRs and accumulation registers.
    {"gfx90a", 8, 512, 8, 800, 65536},
    {"gfx94", 8, 512, 8, 800, 65536},
    {"gfx950", 8, 512, 8, 800, 163840},
    {"gfx9-4-generic", 8, 512, 8, 800, 65536},
    {"gfx9", 10, 256, 4, 800, 65536},
    {"gfx101", 20, 1024, 8, 0, 131072},
    {"gfx10-1", 20, 1024, 8, 0, 131072},
    {"gfx10", 16, 1024, 16, 0, 131072},
    // Half as many registers again.
    {"gfx1100", 16, 1536, 24, 0, 131072},
    {"gfx1101", 16, 1536, 24, 0, 131072},
    {"gfx1151", 16, 1536, 24, 0, 131072},
    {"gfx11", 16, 1024, 16, 0, 131072},
    {"gfx12", 16, 1536, 24, 0, 131072},
};

uint32_t roundUp(uint64_t Value, uint32_t Granule) {
  return static_cast<uint32_t>((std::max<uint64_t>(Value, 1) + Granule - 1) /
                               Granule * Granule);
}

} // namespace

std::optional<uint32_t> wavesPerSimd(std::string_view Target, uint32_t WaveSize,
                                     const KprobeKernelNeeds &Needs,
                                     uint64_t LdsBytes, uint64_t GroupWaves) {
  auto L = std::find_if(std::begin(Table), std::end(Table), [&](const Limits &L) {
    return Target.substr(0, L.Prefix.size()) == L.Prefix;
  });
  // What no wave could have comes of a damaged file.
  if (L == std::end(Table) || Needs.Vgprs > 4096 || Needs.Sgprs > 4096 ||
      LdsBytes > (1u << 20))
    return std::nullopt;
  // A wave64 of a machine for wave32 takes the registers of two.
  const bool Halved = L->Sgprs == 0 && WaveSize == 64;
  const uint32_t Vgprs = Halved ? L->Vgprs / 2 : L->Vgprs;
  const uint32_t Granule = Halved ? L->VgprGranule / 2 : L->VgprGranule;
  uint32_t Waves = std::min(L->Waves, Vgprs / roundUp(Needs.Vgprs, Granule));
  if (L->Sgprs != 0)
    Waves = std::min(Waves, L->Sgprs / roundUp(Needs.Sgprs, SgprGranule));
  if (LdsBytes != 0 && GroupWaves != 0) {
    uint64_t Groups = L->LdsBytes / roundUp(LdsBytes, LdsGranule);
    Waves = static_cast<uint32_t>(std::min<uint64_t>(
        Waves, std::max<uint64_t>(1, Groups * GroupWaves / Simds)));
  }
  return Waves;
}

} // namespace kprobe
