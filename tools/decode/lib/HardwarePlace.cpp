// Bit layouts of the place registers, by family.
//
// gfx9: hwreg HW_ID (4), "Vega" and "Vega 7nm" shader ISA manuals, table of
// hardware registers: wave_id 3:0, simd_id 5:4, pipe_id 7:6, cu_id 11:8,
// sh_id 12, se_id 14:13, tg_id 19:16, vm_id 23:20, queue_id 26:24,
// state_id 29:27, me_id 31:30. gfx908 and gfx90a have se_id in 15:13, as HIP's
// own __smid reads it; gfx940 and later have two bits of it again, and the die
// in hwreg XCC_ID (20), 3:0.
//
// gfx10 and gfx11: hwreg HW_ID1 (23), "RDNA 2" and "RDNA 3" ISA manuals, the
// same table: wave_id 4:0, simd_id 9:8, wgp_id 13:10, sa_id 16, se_id 19:18
// (gfx11 20:18). A unit there is a pair of compute units.
//
// gfx12: no layout that we could check; raw.
#include "HardwarePlace.h"

#include <array>
#include <cstdio>

namespace kprobe {
namespace {

constexpr uint32_t field(uint32_t Value, unsigned Low, unsigned High) {
  return Value >> Low & ((1u << (High - Low + 1)) - 1);
}

enum class Layout { Gfx9, Gfx908, Gfx940, Gfx10, Gfx11 };

struct TargetLayout {
  std::string_view Target;
  Layout Bits;
};

constexpr std::array<TargetLayout, 36> Targets = {{
    {"gfx900", Layout::Gfx9},           {"gfx902", Layout::Gfx9},
    {"gfx904", Layout::Gfx9},           {"gfx906", Layout::Gfx9},
    {"gfx909", Layout::Gfx9},           {"gfx90c", Layout::Gfx9},
    {"gfx9-generic", Layout::Gfx9},     {"gfx908", Layout::Gfx908},
    {"gfx90a", Layout::Gfx908},         {"gfx940", Layout::Gfx940},
    {"gfx941", Layout::Gfx940},         {"gfx942", Layout::Gfx940},
    {"gfx950", Layout::Gfx940},         {"gfx9-4-generic", Layout::Gfx940},
    {"gfx1010", Layout::Gfx10},         {"gfx1011", Layout::Gfx10},
    {"gfx1012", Layout::Gfx10},         {"gfx1013", Layout::Gfx10},
    {"gfx10-1-generic", Layout::Gfx10}, {"gfx1030", Layout::Gfx10},
    {"gfx1031", Layout::Gfx10},         {"gfx1032", Layout::Gfx10},
    {"gfx1033", Layout::Gfx10},         {"gfx1034", Layout::Gfx10},
    {"gfx1035", Layout::Gfx10},         {"gfx1036", Layout::Gfx10},
    {"gfx10-3-generic", Layout::Gfx10}, {"gfx1100", Layout::Gfx11},
    {"gfx1101", Layout::Gfx11},         {"gfx1102", Layout::Gfx11},
    {"gfx1103", Layout::Gfx11},         {"gfx1150", Layout::Gfx11},
    {"gfx1151", Layout::Gfx11},         {"gfx1152", Layout::Gfx11},
    {"gfx1153", Layout::Gfx11},         {"gfx11-generic", Layout::Gfx11},
}};

HardwarePlace decodeHwId(Layout Bits, uint32_t HwId, uint32_t XccId) {
  HardwarePlace P;
  P.Slot = field(HwId, 0, 3);
  P.Simd = field(HwId, 4, 5);
  P.Pipe = field(HwId, 6, 7);
  P.ComputeUnit = field(HwId, 8, 11);
  P.ShaderArray = field(HwId, 12, 12);
  P.ShaderEngine = field(HwId, 13, Bits == Layout::Gfx908 ? 15 : 14);
  P.Queue = field(HwId, 24, 26);
  if (Bits == Layout::Gfx940) {
    P.HasXcc = true;
    P.Xcc = field(XccId, 0, 3);
  }
  return P;
}

HardwarePlace decodeHwId1(Layout Bits, uint32_t HwId1) {
  HardwarePlace P;
  P.IsProcessor = true;
  P.Slot = field(HwId1, 0, 4);
  P.Simd = field(HwId1, 8, 9);
  P.ComputeUnit = field(HwId1, 10, 13);
  P.ShaderArray = field(HwId1, 16, 16);
  P.ShaderEngine = field(HwId1, 18, Bits == Layout::Gfx11 ? 20 : 19);
  return P;
}

} // namespace

std::optional<HardwarePlace> decodePlace(std::string_view Target,
                                         const uint32_t (&Raw)[2]) {
  // "gfx906:sramecc+:xnack-" is a gfx906.
  Target = Target.substr(0, Target.find(':'));
  for (const TargetLayout &Known : Targets) {
    if (Known.Target != Target)
      continue;
    return Known.Bits == Layout::Gfx10 || Known.Bits == Layout::Gfx11
               ? decodeHwId1(Known.Bits, Raw[0])
               : decodeHwId(Known.Bits, Raw[0], Raw[1]);
  }
  return std::nullopt;
}

std::string unitText(const HardwarePlace &Place) {
  char Text[64];
  std::snprintf(Text, sizeof(Text), "se%u %s%u %s%u", Place.ShaderEngine,
                Place.IsProcessor ? "sa" : "sh", Place.ShaderArray,
                Place.IsProcessor ? "wgp" : "cu", Place.ComputeUnit);
  return (Place.HasXcc ? "xcc" + std::to_string(Place.Xcc) + " " : "") + Text;
}

std::string placeText(std::string_view Target, const uint32_t (&Raw)[2]) {
  if (std::optional<HardwarePlace> P = decodePlace(Target, Raw))
    return unitText(*P) + " simd" + std::to_string(P->Simd) + " slot" +
           std::to_string(P->Slot);
  char Text[32];
  std::snprintf(Text, sizeof(Text), "hw 0x%08x:%08x", Raw[0], Raw[1]);
  return Text;
}

} // namespace kprobe
