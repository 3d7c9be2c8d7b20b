// The number formats of typed buffer accesses: how a texel's components lie in
// memory, and their conversion to what a register holds and back.
#ifndef VGPU_ISA_BUFFERFORMAT_H
#define VGPU_ISA_BUFFERFORMAT_H

#include <cstdint>

namespace vgpu {

/// NUM_FORMAT of gfx9.
enum class NumberFormat : uint8_t { Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, Reserved, Float };

constexpr bool isInteger(NumberFormat F) {
  return F == NumberFormat::Uint || F == NumberFormat::Sint;
}

/// Widths of the components, the first in the lowest bits.
struct DataLayout {
  uint8_t Components;
  uint8_t Bits[4];

  /// DATA_FORMAT of gfx9; no components if there is no such format.
  static DataLayout of(unsigned DataFormat);
  unsigned bytes() const { return (Bits[0] + Bits[1] + Bits[2] + Bits[3]) / 8u; }
  /// Whether each component has a conversion for \p F.
  bool supports(NumberFormat F) const;
};

/// A component of Bits bits as 32-bit register: a single, or an integer.
uint32_t decodeComponent(uint32_t Raw, unsigned Bits, NumberFormat F);
/// The opposite: rounds to nearest even and clamps to what the format holds.
uint32_t encodeComponent(uint32_t Register, unsigned Bits, NumberFormat F);

/// Single to half and back as d16 accesses do it: nearest even, denormals kept.
uint16_t halfOfSingle(uint32_t Bits);
uint32_t singleOfHalf(uint16_t Bits);

/// Loads and stores all components of one texel; \p Registers has as many.
void decodeTexel(const DataLayout &Layout, NumberFormat F, const void *Memory,
                 uint32_t *Registers);
void encodeTexel(const DataLayout &Layout, NumberFormat F, const uint32_t *Registers,
                 void *Memory);

} // namespace vgpu

#endif
