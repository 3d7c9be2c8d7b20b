// Bit layouts of HW_ID, by target.
//
// gfx9: hwreg HW_ID (4), "Vega" and "Vega 7nm" shader ISA manuals, table of
// hardware registers: wave_id 3:0, simd_id 5:4, pipe_id 7:6, cu_id 11:8,
// sh_id 12, se_id 14:13, tg_id 19:16, vm_id 23:20, queue_id 26:24,
// state_id 29:27, me_id 31:30.
#include "HardwarePlace.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace kprobe {
namespace {

constexpr uint32_t field(uint32_t Value, unsigned Low, unsigned High) {
  return Value >> Low & ((1u << (High - Low + 1)) - 1);
}

// Targets whose HW_ID has two bits of shader engine, as above.
constexpr std::array<std::string_view, 6> Gfx9Targets = {
    "gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"};

} // namespace

std::optional<HardwarePlace> decodePlace(std::string_view Target,
                                         const uint32_t (&Raw)[2]) {
  // "gfx906:sramecc+:xnack-" is a gfx906.
  Target = Target.substr(0, Target.find(':'));
  if (std::find(Gfx9Targets.begin(), Gfx9Targets.end(), Target) ==
      Gfx9Targets.end())
    return std::nullopt;
  HardwarePlace P;
  P.Slot = field(Raw[0], 0, 3);
  P.Simd = field(Raw[0], 4, 5);
  P.Pipe = field(Raw[0], 6, 7);
  P.ComputeUnit = field(Raw[0], 8, 11);
  P.ShaderArray = field(Raw[0], 12, 12);
  P.ShaderEngine = field(Raw[0], 13, 14);
  P.Queue = field(Raw[0], 24, 26);
  return P;
}

std::string placeText(std::string_view Target, const uint32_t (&Raw)[2]) {
  char Text[96];
  if (std::optional<HardwarePlace> P = decodePlace(Target, Raw))
    std::snprintf(Text, sizeof(Text), "se%u sh%u cu%u simd%u slot%u",
                  P->ShaderEngine, P->ShaderArray, P->ComputeUnit, P->Simd,
                  P->Slot);
  else
    std::snprintf(Text, sizeof(Text), "hw 0x%08x:%08x", Raw[0], Raw[1]);
  return Text;
}

} // namespace kprobe
