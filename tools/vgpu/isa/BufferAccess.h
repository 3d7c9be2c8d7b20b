// Addresses of buffer instructions: the resource's fields, the swizzle, the
// range check, and the way that loads take to LDS. Shared by the plain
// (MemBuffer.cpp) and the typed ones (MemFormat.cpp).
#ifndef VGPU_ISA_BUFFERACCESS_H
#define VGPU_ISA_BUFFERACCESS_H

#include "isa/MemAccess.h"

namespace vgpu {

/// When an access is out of range (OOB_SELECT of gfx10; gfx9 goes by the kind of
/// the resource).
enum class RangeCheck : uint8_t {
  IndexAndOffset, ///< Index beyond the records, or offset beyond the stride.
  Index,
  NoRecords, ///< Only where there are no records at all.
  Raw,       ///< Offset beyond the records, which are bytes.
};

/// The fields of a buffer resource that matter here.
struct BufferResource {
  uint64_t Base;
  uint32_t Stride, Records, ElementBytes, IndexStride;
  uint32_t DataFormat, NumberFormat;
  uint8_t Select[4];
  bool Swizzle, AddThreadId;
  RangeCheck Check;

  /// From four registers of W, Reg being the first.
  BufferResource(const Wave &W, unsigned Reg);
};

struct BufferAccess {
  LaneAddresses A = {};
  uint64_t InRange = 0; ///< Active lanes inside the resource.
  unsigned DwordStride = 4;

  /// Lane addresses, range check, memory check. False: a fault was raised.
  /// Out of range is none: such loads give zero, such stores do nothing
  /// ("Buffer Addressing", "Range checking").
  bool resolve(Wave &W, const Inst &I, const BufferResource &R, unsigned Bytes, bool Write);
};

/// Writes the active lanes' values where a load with the lds bit puts them:
/// LDS at M0[15:0] + instruction offset + 4 * lane ("Memory Buffer Load to
/// LDS"). False: a fault was raised.
bool storeToLds(Wave &W, const Inst &I, const Vreg &Value);
/// The opposite, for buffer_store_lds_dword.
bool loadFromLds(Wave &W, const Inst &I, Vreg &Value);

} // namespace vgpu

#endif
