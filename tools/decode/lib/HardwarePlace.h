// Where on the device a wave ran, from its raw place registers.
//
// The layout of the registers differs between generations. A target that this
// file does not know yields no place, and the raw value is shown: never a
// guess.
#ifndef KPROBE_DECODE_HARDWAREPLACE_H
#define KPROBE_DECODE_HARDWAREPLACE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kprobe {

struct HardwarePlace {
  bool HasXcc = false;      ///< the target has several dies
  bool IsProcessor = false; ///< ComputeUnit counts pairs of them (gfx10 on)
  uint32_t Xcc = 0;         ///< die
  uint32_t ShaderEngine = 0;
  uint32_t ShaderArray = 0;
  uint32_t ComputeUnit = 0;
  uint32_t Simd = 0;
  uint32_t Slot = 0; ///< wave slot of the SIMD
  uint32_t Pipe = 0;
  uint32_t Queue = 0;
};

/// "xcc0 se1 sh0 cu12" or "se1 sa0 wgp6": what of a device the wave shares.
std::string unitText(const HardwarePlace &Place);

/// \p Raw is KprobeWaveHeader.HardwareId.
std::optional<HardwarePlace> decodePlace(std::string_view Target,
                                         const uint32_t (&Raw)[2]);

/// unitText, then "simd2 slot5"; or "hw 0x00001234:00000000".
std::string placeText(std::string_view Target, const uint32_t (&Raw)[2]);

} // namespace kprobe

#endif
