// How vector instructions are written: a lambda over the values of one lane,
// and a macro that makes a table row of it. Sources are read as arrays of 64
// lanes (constants and scalars broadcast), the lambda runs over all lanes in a
// loop that the compiler vectorises, and the result is stored under EXEC.
// Computing inactive lanes is harmless and cheaper than asking.
#ifndef VGPU_ISA_VECTOR_H
#define VGPU_ISA_VECTOR_H

#include "core/Env.h"
#include "core/Inst.h"
#include "core/Wave.h"
#include "isa/ScalarOps.h"

#include "isa/FloatBits.h" // last: turns on the wider vectors

namespace vgpu::VGPU_SIMD {

struct alignas(64) LaneBuffer {
  uint32_t Lane[MaxLanes];
};
struct alignas(64) PairBuffer {
  uint32_t Low[MaxLanes], High[MaxLanes];
};

// --- Slow paths, out of line (VectorAccess.cpp) ----------------------------
/// Source N with everything that may change it: SGPR, SDWA, DPP, op_sel, abs, neg.
const uint32_t *fetch32(const Wave &W, const Inst &I, unsigned N, uint32_t *Buffer);
void fetch64(const Wave &W, const Inst &I, unsigned N, PairBuffer &Buffer);
/// Result under EXEC, with SDWA, DPP masks and op_sel; Half: 16-bit result.
void store32(Wave &W, const Inst &I, const uint32_t *Result);
void store16(Wave &W, const Inst &I, const uint32_t *Result);
void store64(Wave &W, const Inst &I, const uint32_t *Low, const uint32_t *High);
/// omod and clamp on results in place.
void modify32(const Wave &W, const Inst &I, uint32_t *Result);
void modify16(const Wave &W, const Inst &I, uint32_t *Result);
void modify64(const Wave &W, const Inst &I, uint32_t *Low, uint32_t *High);
/// Lanes that DPP lets through on top of EXEC.
uint64_t activeLanes(const Wave &W, const Inst &I);

// --- Lane masks -------------------------------------------------------------
/// ~0 in the lanes whose bit is set.
inline void expandMask(uint64_t Mask, uint32_t *Lanes) {
  for (unsigned HalfWave = 0; HalfWave < 2; ++HalfWave) {
    const uint32_t M = uint32_t(Mask >> (32 * HalfWave));
    for (unsigned L = 0; L < 32; ++L)
      Lanes[32 * HalfWave + L] = uint32_t(0) - ((M >> L) & 1);
  }
}

/// Runs Body(L) for the lanes of a wave of either size. Lanes must not depend on
/// each other. Two loops with constant bounds, because the compiler does not
/// vectorise one whose bounds it does not know.
template <class F> inline void forLanesOf(const Wave &W, F Body) {
  const bool HasUpper = W.WaveSize != 32;
#pragma GCC ivdep
  for (unsigned L = 0; L < 32; ++L)
    Body(L);
  if (!HasUpper)
    return;
#pragma GCC ivdep
  for (unsigned L = 32; L < MaxLanes; ++L)
    Body(L);
}

/// Bit per lane: the top bits of the lanes' values.
inline uint64_t packMask(const uint32_t *Lanes) {
  uint64_t Mask = 0;
  for (unsigned L = 0; L < MaxLanes; L += 4)
    Mask |= uint64_t(unsigned(_mm_movemask_ps(_mm_load_ps(reinterpret_cast<const float *>(Lanes + L)))))
            << L;
  return Mask;
}

/// Destination lanes of Mask take Result's.
inline void blend(uint32_t *Dst, const uint32_t *Result, uint64_t Mask) {
  for (unsigned HalfWave = 0; HalfWave < 2; ++HalfWave) {
    const uint32_t M = uint32_t(Mask >> (32 * HalfWave));
    uint32_t *D = Dst + 32 * HalfWave;
    const uint32_t *R = Result + 32 * HalfWave;
#pragma GCC ivdep
    for (unsigned L = 0; L < 32; ++L)
      D[L] = (M >> L) & 1 ? R[L] : D[L];
  }
}

// --- Typed sources ------------------------------------------------------------
template <class T> constexpr Ty tyOf() {
  if constexpr (std::is_same_v<T, float>) return Ty::F32;
  else if constexpr (std::is_same_v<T, double>) return Ty::F64;
  else if constexpr (std::is_same_v<T, Half>) return Ty::F16;
  else if constexpr (std::is_same_v<T, int64_t>) return Ty::I64;
  else if constexpr (sizeof(T) == 8) return Ty::B64;
  else if constexpr (sizeof(T) == 2) return Ty::B16;
  else return Ty::B32;
}

/// Source N of an instruction as values of T, a lane at a time.
template <class T> class Source {
public:
  Source(const Wave &W, const Inst &I, unsigned N) {
    const Operand &O = I.Src[N];
    if constexpr (sizeof(T) == 8) {
      if (O.Kind == OperandKind::Vgpr && !O.Modified) {
        P = W.Vgpr[O.Reg].Lane;
        H = W.Vgpr[O.Reg + 1].Lane;
      } else {
        fetch64(W, I, N, Buffer);
        P = Buffer.Low;
        H = Buffer.High;
      }
    } else {
      if (O.Kind == OperandKind::Vgpr && !O.Modified)
        P = W.Vgpr[O.Reg].Lane;
      else if (O.Kind == OperandKind::Const && !O.Modified)
        P = O.Lanes->Lane;
      else
        P = fetch32(W, I, N, Buffer.Lane);
    }
  }
  T operator[](unsigned L) const {
    if constexpr (sizeof(T) == 8)
      return __builtin_bit_cast(T, uint64_t(P[L]) | uint64_t(H[L]) << 32);
    else if constexpr (std::is_same_v<T, Half>)
      return Half{uint16_t(P[L])};
    else if constexpr (sizeof(T) == 2)
      return T(P[L]);
    else
      return __builtin_bit_cast(T, P[L]);
  }

private:
  const uint32_t *P;
  const uint32_t *H;
  std::conditional_t<sizeof(T) == 8, PairBuffer, LaneBuffer> Buffer;
};

// --- Results ------------------------------------------------------------------
template <class T> inline uint32_t lowBits(T V) {
  if constexpr (std::is_same_v<T, Half>) return V.Bits;
  else if constexpr (sizeof(T) == 2) return uint16_t(V);
  else if constexpr (sizeof(T) == 8) return uint32_t(__builtin_bit_cast(uint64_t, V));
  else return __builtin_bit_cast(uint32_t, V);
}

/// Runs Lane(L) for all lanes and stores the results of the active ones.
/// IsFloat: omod and clamp act on the result (for integers the lambda clamps).
template <class T, class F> inline void emit(Wave &W, const Inst &I, F Lane) {
  constexpr bool IsFloat = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                           std::is_same_v<T, Half>;
  if constexpr (sizeof(T) == 8) {
    PairBuffer R;
    uint32_t *Low = W.Vgpr[I.Dst.Reg].Lane, *High = W.Vgpr[I.Dst.Reg + 1].Lane;
    const bool Direct = I.Plain && W.exec() == W.laneMask();
    if (!Direct) {
      Low = R.Low;
      High = R.High;
    }
    forLanesOf(W, [&](unsigned L) {
      const uint64_t V = __builtin_bit_cast(uint64_t, T(Lane(L)));
      Low[L] = uint32_t(V);
      High[L] = uint32_t(V >> 32);
    });
    if (!Direct) {
      if (IsFloat && !I.Plain)
        modify64(W, I, Low, High);
      store64(W, I, Low, High);
    }
  } else {
    constexpr bool Is16 = sizeof(T) == 2;
    LaneBuffer R;
    uint32_t *D = W.Vgpr[I.Dst.Reg].Lane;
    const bool Direct =
        I.Plain && W.exec() == W.laneMask() && !(Is16 && I.KeepsHigh);
    if (!Direct)
      D = R.Lane;
    forLanesOf(W, [&](unsigned L) { D[L] = lowBits<T>(Lane(L)); });
    if (!Direct) {
      if (IsFloat && !I.Plain) {
        if constexpr (Is16) modify16(W, I, D);
        else modify32(W, I, D);
      }
      if constexpr (Is16) store16(W, I, D);
      else store32(W, I, D);
    }
  }
}

/// As emit, for operations with a simple common case: Fast(L, Ordinary) gives
/// the result and says whether it holds, Slow(L) is asked for the other active
/// lanes. Keeps the common case vectorised.
template <class T, class F, class G>
inline void emitPatched(Wave &W, const Inst &I, F Fast, G Slow) {
  std::conditional_t<sizeof(T) == 8, PairBuffer, LaneBuffer> R;
  LaneBuffer Odd;
  for (unsigned L = 0; L < MaxLanes; ++L) {
    bool Ordinary;
    const T V = Fast(L, Ordinary);
    if constexpr (sizeof(T) == 8) {
      const uint64_t Bits = __builtin_bit_cast(uint64_t, V);
      R.Low[L] = uint32_t(Bits);
      R.High[L] = uint32_t(Bits >> 32);
    } else {
      R.Lane[L] = lowBits<T>(V);
    }
    Odd.Lane[L] = Ordinary ? 0 : ~0u;
  }
  for (uint64_t Mask = packMask(Odd.Lane) & W.exec(); Mask; Mask &= Mask - 1) {
    const unsigned L = unsigned(__builtin_ctzll(Mask));
    const T V = Slow(L);
    if constexpr (sizeof(T) == 8) {
      const uint64_t Bits = __builtin_bit_cast(uint64_t, V);
      R.Low[L] = uint32_t(Bits);
      R.High[L] = uint32_t(Bits >> 32);
    } else {
      R.Lane[L] = lowBits<T>(V);
    }
  }
  if constexpr (sizeof(T) == 8) {
    if (!I.Plain)
      modify64(W, I, R.Low, R.High);
    store64(W, I, R.Low, R.High);
  } else {
    if (!I.Plain)
      modify32(W, I, R.Lane);
    store32(W, I, R.Lane);
  }
}

/// Stores a lane mask result; inactive lanes give 0.
inline void emitMask(Wave &W, unsigned Reg, uint64_t Mask, uint64_t Active) {
  W.setScalarMask(Reg, Mask & Active);
}

/// What a lambda may ask about its instruction.
struct Context {
  bool Clamp;
  bool Ieee;
  FloatMode Float32, Float64; // Float64 rules halves too
  Context(const Wave &W, const Inst &I)
      : Clamp(I.Clamp), Ieee(W.Mode & ModeIeee), Float32(FloatMode::of32(W.Mode)),
        Float64(FloatMode::of64(W.Mode)) {}
};

/// Host mode for arithmetic on T: halves are rounded in software.
template <class T> inline FloatMode scopeMode(const Wave &W) {
  if constexpr (std::is_same_v<T, float>) return FloatMode::of32(W.Mode);
  else if constexpr (std::is_same_v<T, double>) return FloatMode::of64(W.Mode);
  else return FloatMode{0, false, false};
}

template <class D, class S, class A, class F> inline void run1(Wave &W, const Inst &I, F Fn) {
  const Context X(W, I);
  FloatScope Scope(scopeMode<S>(W));
  const Source<A> S0(W, I, 0);
  emit<D>(W, I, [&](unsigned L) { return Fn(S0[L], X); });
}
template <class D, class S, class A, class B, class F>
inline void run2(Wave &W, const Inst &I, F Fn) {
  const Context X(W, I);
  FloatScope Scope(scopeMode<S>(W));
  const Source<A> S0(W, I, 0);
  const Source<B> S1(W, I, 1);
  emit<D>(W, I, [&](unsigned L) { return Fn(S0[L], S1[L], X); });
}
template <class D, class S, class A, class B, class C, class F>
inline void run3(Wave &W, const Inst &I, F Fn) {
  const Context X(W, I);
  FloatScope Scope(scopeMode<S>(W));
  const Source<A> S0(W, I, 0);
  const Source<B> S1(W, I, 1);
  const Source<C> S2(W, I, 2);
  emit<D>(W, I, [&](unsigned L) { return Fn(S0[L], S1[L], S2[L], X); });
}

using U16 = uint16_t;
using I16 = int16_t;
using U32 = uint32_t;
using I32 = int32_t;
using U64 = uint64_t;
using I64 = int64_t;
using F32 = float;
using F64 = double;
using F16 = Half;

} // namespace vgpu::VGPU_SIMD

/// Rows: name, timing class, flags, result type, type whose float mode rules,
/// source types, body over a, b, c and the Context x.
#define VGPU_V1X(Name, Class, Flags, D, S, A, ...)                                                 \
  {Name,                                                                                           \
   [](Wave &W, const Inst &I) {                                                                    \
     run1<D, S, A>(W, I, [](A a, const Context &x) -> D {                                          \
       (void)x;                                                                                    \
       __VA_ARGS__                                                                                 \
     });                                                                                           \
   },                                                                                              \
   OpClass::Class, Flags, tyOf<D>(), {tyOf<A>(), Ty::None, Ty::None}, 0}
#define VGPU_V2X(Name, Class, Flags, D, S, A, B, ...)                                              \
  {Name,                                                                                           \
   [](Wave &W, const Inst &I) {                                                                    \
     run2<D, S, A, B>(W, I, [](A a, B b, const Context &x) -> D {                                  \
       (void)x;                                                                                    \
       __VA_ARGS__                                                                                 \
     });                                                                                           \
   },                                                                                              \
   OpClass::Class, Flags, tyOf<D>(), {tyOf<A>(), tyOf<B>(), Ty::None}, 0}
#define VGPU_V3X(Name, Class, Flags, D, S, A, B, C, ...)                                           \
  {Name,                                                                                           \
   [](Wave &W, const Inst &I) {                                                                    \
     run3<D, S, A, B, C>(W, I, [](A a, B b, C c, const Context &x) -> D {                          \
       (void)x;                                                                                    \
       __VA_ARGS__                                                                                 \
     });                                                                                           \
   },                                                                                              \
   OpClass::Class, Flags, tyOf<D>(), {tyOf<A>(), tyOf<B>(), tyOf<C>()}, 0}

#define VGPU_V1(Name, Class, D, A, ...) VGPU_V1X(Name, Class, 0, D, D, A, __VA_ARGS__)
#define VGPU_V2(Name, Class, D, A, B, ...) VGPU_V2X(Name, Class, 0, D, D, A, B, __VA_ARGS__)
#define VGPU_V3(Name, Class, D, A, B, C, ...) VGPU_V3X(Name, Class, 0, D, D, A, B, C, __VA_ARGS__)

#endif
