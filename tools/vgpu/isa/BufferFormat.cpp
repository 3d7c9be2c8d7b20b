// Formats of typed buffers. Names list the widest place first (10_11_11 has
// the first component in the lowest 11 bits), as the manual's tables do.
#include "isa/BufferFormat.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace vgpu {

DataLayout DataLayout::of(unsigned DataFormat) {
  static constexpr DataLayout Layouts[16] = {
      {0, {}},                {1, {8}},          {1, {16}},      {2, {8, 8}},
      {1, {32}},              {2, {16, 16}},     {3, {11, 11, 10}}, {3, {10, 11, 11}},
      {4, {2, 10, 10, 10}},   {4, {10, 10, 10, 2}}, {4, {8, 8, 8, 8}}, {2, {32, 32}},
      {4, {16, 16, 16, 16}},  {3, {32, 32, 32}}, {4, {32, 32, 32, 32}}, {0, {}},
  };
  return Layouts[DataFormat & 15];
}

bool DataLayout::supports(NumberFormat F) const {
  if (!Components || F == NumberFormat::Reserved)
    return false;
  // Floats have 10, 11, 16 or 32 bits, and 10 only beside 11.
  if (F == NumberFormat::Float)
    return Bits[0] == 16 || Bits[0] == 32 || Components == 3;
  return true;
}

namespace {

uint32_t bitsOf(float Value) {
  uint32_t Bits;
  std::memcpy(&Bits, &Value, 4);
  return Bits;
}
float singleOf(uint32_t Bits) {
  float Value;
  std::memcpy(&Value, &Bits, 4);
  return Value;
}

/// Floats with 5 exponent bits: the half, and the unsigned ones of 11 and 10
/// bits, which have 6 and 5 mantissa bits.
uint32_t decodeSmallFloat(uint32_t Raw, unsigned Mantissa) {
  const uint32_t Exponent = Raw >> Mantissa & 31, Fraction = Raw & ((1u << Mantissa) - 1);
  if (Exponent == 31)
    return 0x7f800000 | Fraction << (23 - Mantissa);
  if (Exponent)
    return (Exponent + 112) << 23 | Fraction << (23 - Mantissa);
  return bitsOf(std::ldexp(float(Fraction), -14 - int(Mantissa)));
}

/// Magnitude of a finite or infinite single; nearest even.
uint32_t encodeSmallFloat(float Magnitude, unsigned Mantissa) {
  const uint32_t Infinity = 31u << Mantissa;
  if (std::isinf(Magnitude))
    return Infinity;
  int Exponent = 0;
  std::frexp(Magnitude, &Exponent); // Magnitude < 2^Exponent
  // In units of the last place, which denormals share with the smallest normals.
  const int Place = std::max(Exponent - 1, -14) - int(Mantissa);
  const auto Units = uint32_t(std::nearbyint(std::ldexp(Magnitude, -Place)));
  const uint32_t Result =
      Magnitude == 0 ? 0 : (uint32_t(Place + 14 + int(Mantissa)) << Mantissa) + Units;
  // A leading one in Units carries into the exponent field, one step up.
  return std::min(Result, Infinity);
}

int32_t signExtended(uint32_t Raw, unsigned Bits) {
  return int32_t(Raw << (32 - Bits)) >> (32 - Bits);
}

double clampTo(float Value, double Low, double High) {
  return std::isnan(Value) ? 0.0 : std::clamp(double(Value), Low, High);
}

uint64_t largest(unsigned Bits) { return (uint64_t(1) << Bits) - 1; }

} // namespace

uint32_t singleOfHalf(uint16_t Bits) {
  return uint32_t(Bits & 0x8000) << 16 | decodeSmallFloat(Bits & 0x7fff, 10);
}

uint16_t halfOfSingle(uint32_t Bits) {
  const uint32_t Sign = Bits >> 16 & 0x8000, Magnitude = Bits & 0x7fffffff;
  if (Magnitude > 0x7f800000)
    return uint16_t(Sign | 0x7e00 | (Magnitude >> 13 & 0x3ff));
  return uint16_t(Sign | encodeSmallFloat(singleOf(Magnitude), 10));
}

uint32_t decodeComponent(uint32_t Raw, unsigned Bits, NumberFormat F) {
  const double High = double(largest(Bits)), SignedHigh = double(largest(Bits - 1));
  switch (F) {
  case NumberFormat::Unorm: return bitsOf(float(double(Raw) / High));
  case NumberFormat::Snorm:
    return bitsOf(float(std::max(-1.0, double(signExtended(Raw, Bits)) / SignedHigh)));
  case NumberFormat::Uscaled: return bitsOf(float(Raw));
  case NumberFormat::Sscaled: return bitsOf(float(signExtended(Raw, Bits)));
  case NumberFormat::Uint: return Raw;
  case NumberFormat::Sint: return uint32_t(signExtended(Raw, Bits));
  case NumberFormat::Reserved: return 0;
  case NumberFormat::Float: break;
  }
  if (Bits == 32)
    return Raw;
  return Bits == 16 ? singleOfHalf(uint16_t(Raw)) : decodeSmallFloat(Raw, Bits - 5);
}

uint32_t encodeComponent(uint32_t Register, unsigned Bits, NumberFormat F) {
  const double High = double(largest(Bits)), SignedHigh = double(largest(Bits - 1));
  const float Value = singleOf(Register);
  const auto AsUnsigned = [](double V) { return uint32_t(uint64_t(std::nearbyint(V))); };
  const auto AsSigned = [&](double V) {
    return uint32_t(int64_t(std::nearbyint(V))) & uint32_t(largest(Bits));
  };
  switch (F) {
  case NumberFormat::Unorm: return AsUnsigned(clampTo(Value, 0, 1) * High);
  case NumberFormat::Snorm: return AsSigned(clampTo(Value, -1, 1) * SignedHigh);
  case NumberFormat::Uscaled: return AsUnsigned(clampTo(Value, 0, High));
  case NumberFormat::Sscaled: return AsSigned(clampTo(Value, -SignedHigh - 1, SignedHigh));
  case NumberFormat::Uint: return uint32_t(std::min<uint64_t>(Register, largest(Bits)));
  case NumberFormat::Sint: {
    const int64_t Limit = int64_t(largest(Bits - 1));
    return uint32_t(std::clamp<int64_t>(int32_t(Register), -Limit - 1, Limit)) &
           uint32_t(largest(Bits));
  }
  case NumberFormat::Reserved: return 0;
  case NumberFormat::Float: break;
  }
  if (Bits == 32)
    return Register;
  if (Bits == 16)
    return halfOfSingle(Register);
  const unsigned Mantissa = Bits - 5;
  if (std::isnan(Value))
    return uint32_t(largest(Bits));
  return Value <= 0 ? 0 : encodeSmallFloat(Value, Mantissa);
}

void decodeTexel(const DataLayout &Layout, NumberFormat F, const void *Memory,
                 uint32_t *Registers) {
  const auto *Bytes = static_cast<const uint8_t *>(Memory);
  unsigned Bit = 0;
  for (unsigned C = 0; C < Layout.Components; Bit += Layout.Bits[C++]) {
    // A component never straddles a dword, but the texel may end before one does.
    uint32_t Word = 0;
    const unsigned First = Bit / 32 * 4;
    std::memcpy(&Word, Bytes + First, std::min(4u, Layout.bytes() - First));
    const uint32_t Raw = Word >> (Bit % 32) & uint32_t(largest(Layout.Bits[C]));
    Registers[C] = decodeComponent(Raw, Layout.Bits[C], F);
  }
}

void encodeTexel(const DataLayout &Layout, NumberFormat F, const uint32_t *Registers,
                 void *Memory) {
  uint32_t Words[4] = {};
  unsigned Bit = 0;
  for (unsigned C = 0; C < Layout.Components; Bit += Layout.Bits[C++])
    Words[Bit / 32] |= encodeComponent(Registers[C], Layout.Bits[C], F) << (Bit % 32);
  std::memcpy(Memory, Words, Layout.bytes());
}

} // namespace vgpu
