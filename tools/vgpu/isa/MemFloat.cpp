// Packed half-precision addition of the memory units.
#include "isa/MemFloat.h"

#include <initializer_list>

namespace vgpu {

static uint16_t halfAdd(uint16_t Memory, uint16_t Data) {
  constexpr uint16_t Infinity = 0x7c00, Quiet = 0x0200;
  for (uint16_t Bits : {Memory, Data})
    if ((Bits & 0x7fff) > Infinity)
      return uint16_t(Bits | Quiet);
  _Float16 A, B;
  std::memcpy(&A, &Memory, 2);
  std::memcpy(&B, &Data, 2);
  const _Float16 Sum = A + B;
  uint16_t Bits;
  std::memcpy(&Bits, &Sum, 2);
  return (Bits & 0x7fff) > Infinity ? uint16_t(Infinity | Quiet) : Bits;
}

uint32_t packedHalfAdd(uint32_t Memory, uint32_t Data) {
  const uint32_t Low = halfAdd(uint16_t(Memory), uint16_t(Data));
  const uint32_t High = halfAdd(uint16_t(Memory >> 16), uint16_t(Data >> 16));
  return Low | High << 16;
}

} // namespace vgpu
