// The slow path of the code cache: pages found, checked and filled.
#include "CodeCache.h"

#include "Wave.h"

#include <cstring>

namespace vgpu {

namespace {

void raiseNotMapped(Wave &W, const Inst &I) {
  W.Env->fault(W, I, FaultKind::Memory, "instruction fetch from unmapped memory", MaxLanes, I.Pc);
}
void raiseMisaligned(Wave &W, const Inst &I) {
  W.Env->fault(W, I, FaultKind::Misaligned, "instruction fetch from misaligned address", MaxLanes,
               I.Pc);
}

const OpInfo NotMapped{"(instruction fetch)", raiseNotMapped, OpClass::Unknown, OpEndsRun};
const OpInfo NotAligned{"(instruction fetch)", raiseMisaligned, OpClass::Unknown, OpEndsRun};

} // namespace

const Inst &CodeCache::lookUp(uint64_t Pc) {
  auto bad = [&](const OpInfo &Info) -> const Inst & {
    Bad = Inst();
    Bad.Run = Info.Run;
    Bad.Info = &Info;
    Bad.Pc = Pc;
    return Bad;
  };
  if (Pc & 3)
    return bad(NotAligned);

  const uint64_t No = Pc >> PageShift;
  const uint64_t Base = No << PageShift;
  std::unique_ptr<Page> &Entry = Pages[No];
  if (!Entry)
    Entry = std::make_unique<Page>();
  Page &P = *Entry;
  if (P.Epoch != Epoch || (Pc & PageMask) < P.First) {
    uint8_t Now[sizeof P.Copy];
    // Code need not start or end at a page boundary.
    size_t Skip = 0;
    size_t Got = Memory.fetchCode(Base, Now, sizeof Now);
    if (Base + Got <= Pc) {
      std::memset(Now, 0, sizeof Now); // so that the copies compare
      Skip = Pc - Base;
      Got = Memory.fetchCode(Pc, Now + Skip, sizeof Now - Skip);
      if (Got == 0)
        return bad(NotMapped);
      Got += Skip;
    }
    if (P.Epoch == 0 || P.First != Skip || P.Bytes != Got || std::memcmp(P.Copy, Now, Got) != 0) {
      std::memset(P.Slot, 0, sizeof P.Slot);
      P.Insts.clear();
      P.First = Skip;
      P.Bytes = Got;
      std::memcpy(P.Copy, Now, Got);
    }
    P.Epoch = Epoch;
  }
  LastNo = No;
  Last = &P;
  const size_t At = Pc & PageMask;
  const Inst *&Slot = P.Slot[At >> 2];
  if (!Slot) {
    if (P.Bytes < At + 4) {
      LastNo = ~uint64_t(0);
      return bad(NotMapped);
    }
    Inst &I = P.Insts.emplace_back();
    D.decode(Pc, P.Copy + At, P.Bytes - At, I);
    Slot = &I;
  }
  return *Slot;
}

} // namespace vgpu
