// What the scalar instruction files share: reading scalar operands, and macros
// that turn a lambda over values into a table row.
#ifndef VGPU_ISA_SCALAROPS_H
#define VGPU_ISA_SCALAROPS_H

#include "core/Env.h"
#include "core/Inst.h"
#include "core/Wave.h"

#include <type_traits>

namespace vgpu {

/// One more than the last register that a relative number may lead to.
inline unsigned endOfSgprs(const Wave &W) { return W.Gen == Generation::Gfx10 ? 106 : 104; }

uint64_t specialSource(const Wave &W, const Operand &O);

template <class T> inline T scalarSource(const Wave &W, const Operand &O) {
  static_assert(std::is_same_v<T, uint32_t> || std::is_same_v<T, uint64_t>);
  if (O.Kind == OperandKind::Sgpr) {
    if constexpr (sizeof(T) == 8)
      return W.scalar64(O.Reg);
    else
      return W.Sgpr[O.Reg];
  }
  if (O.Kind == OperandKind::Const)
    return T(O.Value);
  return T(specialSource(W, O));
}

template <class T> inline void setScalar(Wave &W, const Operand &O, T Value) {
  W.Sgpr[O.Reg] = uint32_t(Value);
  if constexpr (sizeof(T) == 8)
    W.Sgpr[O.Reg + 1] = uint32_t(Value >> 32);
}

using S32 = uint32_t;
using S64 = uint64_t;
template <class T> constexpr Ty scalarTy = sizeof(T) == 8 ? Ty::B64 : Ty::B32;

} // namespace vgpu

/// D = Fn(W, S0, S1); Fn sets SCC itself if the instruction does.
#define VGPU_SOP2(Name, D, A, B, ...)                                                              \
  {Name,                                                                                           \
   [](Wave &W, const Inst &I) {                                                                    \
     auto Fn = [](Wave & W, A S0, B S1) -> D __VA_ARGS__;                                          \
     (void)W;                                                                                      \
     setScalar<D>(W, I.Dst, Fn(W, scalarSource<A>(W, I.Src[0]), scalarSource<B>(W, I.Src[1])));    \
   },                                                                                              \
   OpClass::Salu, 0, scalarTy<D>, {scalarTy<A>, scalarTy<B>, Ty::None}, 0}

/// The same for one source.
#define VGPU_SOP1(Name, D, A, ...)                                                                 \
  {Name,                                                                                           \
   [](Wave &W, const Inst &I) {                                                                    \
     auto Fn = [](Wave & W, A S0) -> D __VA_ARGS__;                                                \
     setScalar<D>(W, I.Dst, Fn(W, scalarSource<A>(W, I.Src[0])));                                  \
   },                                                                                              \
   OpClass::Salu, 0, scalarTy<D>, {scalarTy<A>, Ty::None, Ty::None}, 0}

#endif
