// Buffer formats of gfx10: one number from 1 to 77 for what gfx9 says in a data
// format and a number format. The numbers run through the data formats in
// order, each with the number formats that make sense for its width.
// Source: LLVM's AMDGPU assembler (BUF_FMT_*).
#ifndef VGPU_CORE_UNIFIEDFORMAT_H
#define VGPU_CORE_UNIFIEDFORMAT_H

#include <cstdint>

namespace vgpu {

/// The gfx9 numbers of a unified format; false if there is none.
inline bool splitFormat(unsigned Unified, uint8_t &DataFormat, uint8_t &NumberFormat) {
  // Bit N: number format N (unorm, snorm, uscaled, sscaled, uint, sint, -, float).
  constexpr uint8_t NoFloat = 0x3f, Any = 0xbf, Wide = 0xb0;
  constexpr uint8_t Numbers[15] = {0,   NoFloat, Any,     NoFloat, Wide,    Any,  Any, Any,
                                   NoFloat, NoFloat, NoFloat, Wide,    Any, Wide, Wide};
  unsigned Next = 1;
  for (DataFormat = 1; DataFormat < 15; ++DataFormat)
    for (NumberFormat = 0; NumberFormat < 8; ++NumberFormat)
      if (Numbers[DataFormat] >> NumberFormat & 1 && Next++ == Unified)
        return true;
  DataFormat = NumberFormat = 0;
  return false;
}

} // namespace vgpu

#endif
