// Decoded instructions by address, so that each is decoded once. Memory may be
// freed and filled with another code object at the same address: every page
// keeps a copy of the bytes it was decoded from and is compared again the
// first time a dispatch (or the code after s_icache_inv) reaches it.
#ifndef VGPU_CORE_CODECACHE_H
#define VGPU_CORE_CODECACHE_H

#include "Decoder.h"
#include "Env.h"

#include <memory>
#include <unordered_map>

namespace vgpu {

class CodeCache {
public:
  CodeCache(Decoder &D, CodeMemory &Memory) : D(D), Memory(Memory) {}

  /// Call at the start of each dispatch, and for ExecEnv::invalidateCode.
  /// Instructions handed out before stay valid until the next at().
  void invalidate() {
    ++Epoch;
    LastNo = ~uint64_t(0);
  }

  /// The instruction at Pc; never null. If nothing executable is mapped
  /// there, or Pc is not a multiple of 4, it is one that raises a fault.
  const Inst &at(uint64_t Pc) {
    if (Pc >> PageShift == LastNo && (Pc & 3) == 0)
      if (const Inst *I = Last->Slot[(Pc & PageMask) >> 2])
        return *I;
    return lookUp(Pc);
  }

private:
  static constexpr unsigned PageShift = 12;
  static constexpr uint64_t PageMask = (1u << PageShift) - 1;
  static constexpr size_t MaxInstBytes = 20;

  struct Page {
    uint64_t Epoch = 0;
    size_t First = 0, Bytes = 0; // Copy holds code from offset First to Bytes
    const Inst *Slot[1u << (PageShift - 2)] = {};
    uint8_t Copy[(1u << PageShift) + MaxInstBytes];
    std::deque<Inst> Insts;
  };

  const Inst &lookUp(uint64_t Pc);

  Decoder &D;
  CodeMemory &Memory;
  uint64_t Epoch = 1;
  uint64_t LastNo = ~uint64_t(0);
  Page *Last = nullptr;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> Pages;
  Inst Bad; // the last instruction that could not be fetched
};

} // namespace vgpu

#endif
