// Reciprocals, roots, exponentials, logarithms, sine and cosine. The manuals
// allow an error of about 1 ULP; results here are those of the host's double
// precision functions rounded once, so never worse.
#include "isa/FloatMath.h"
#include "isa/HalfMath.h"
#include "isa/Vector.h"
#include "isa/VectorTables.h"

#include <cmath>

namespace vgpu::VGPU_SIMD {

namespace {

// The argument of sine and cosine counts whole turns; beyond 256 turns the
// hardware gives sin 0 and cos 1.
F64 sineTurns(F64 V) {
  if (std::isinf(V) || V != V)
    return NAN;
  if (std::fabs(V) > 256)
    return 0;
  if (V == 0)
    return V;
  const F64 T = V - std::nearbyint(V); // exact, in [-0.5, 0.5]
  // Whole and half turns exactly.
  if (T == 0 || std::fabs(T) == 0.5)
    return 0;
  return std::sin(T * 6.283185307179586476925286766559);
}
F64 cosineTurns(F64 V) {
  if (std::isinf(V) || V != V)
    return NAN;
  if (std::fabs(V) > 256)
    return 1;
  const F64 T = std::fabs(V - std::nearbyint(V));
  if (T == 0.25)
    return 0;
  return std::cos(T * 6.283185307179586476925286766559);
}

F64 reciprocal(F64 V) { return 1.0 / V; }
F64 root(F64 V) { return std::sqrt(V); }
F64 reciprocalRoot(F64 V) { return V == 0 ? 1.0 / V : 1.0 / std::sqrt(V); }
F64 power2(F64 V) { return std::exp2(V); }
F64 log2Of(F64 V) { return V < 0 ? F64(NAN) : std::log2(V); }

/// Scalar functions: only the active lanes are computed.
template <F64 (*Fn)(F64)> void single(Wave &W, const Inst &I) {
  const FloatMode M = FloatMode::of32(W.Mode);
  const Source<F32> A(W, I, 0);
  LaneBuffer R;
  const uint64_t Exec = W.exec();
  for (unsigned L = 0; L < MaxLanes; ++L) {
    if (!((Exec >> L) & 1)) {
      R.Lane[L] = 0;
      continue;
    }
    const F32 V = M.flushInput(A[L]);
    R.Lane[L] = toBits(nanRule(M.flushOutput(F32(Fn(F64(V)))), V));
  }
  if (!I.Plain)
    modify32(W, I, R.Lane);
  store32(W, I, R.Lane);
}
template <F64 (*Fn)(F64)> void half(Wave &W, const Inst &I) {
  const FloatMode M = FloatMode::of64(W.Mode);
  const Source<Half> A(W, I, 0);
  LaneBuffer R;
  const uint64_t Exec = W.exec();
  for (unsigned L = 0; L < MaxLanes; ++L) {
    R.Lane[L] = 0;
    if ((Exec >> L) & 1)
      R.Lane[L] = half1(A[L], M, [](F64 V) { return Fn(V); }).Bits;
  }
  if (!I.Plain)
    modify16(W, I, R.Lane);
  store16(W, I, R.Lane);
}

#define SINGLE(Name, Fn)                                                                           \
  {Name, single<Fn>, OpClass::ValuQuarter, 0, Ty::F32, {Ty::F32, Ty::None, Ty::None}, 0}
#define HALF(Name, Fn)                                                                             \
  {Name, half<Fn>, OpClass::ValuQuarter, 0, Ty::F16, {Ty::F16, Ty::None, Ty::None}, 0}

const OpEntry Ops[] = {
    // Division and square root vectorise, so these run like arithmetic.
    VGPU_V1("v_rcp_f32", ValuQuarter, F32, F32, return nanRule(1.0f / a, a);),
    VGPU_V1("v_rcp_iflag_f32", ValuQuarter, F32, F32, return nanRule(1.0f / a, a);),
    VGPU_V1("v_sqrt_f32", ValuQuarter, F32, F32, return nanRule(__builtin_sqrtf(a), a);),
    VGPU_V1("v_rsq_f32", ValuQuarter, F32, F32,
            return nanRule(F32(1.0 / __builtin_sqrt(F64(a))), a);),
    VGPU_V1("v_rcp_f64", ValuTransF64, F64, F64, return nanRule(1.0 / a, a);),
    VGPU_V1("v_sqrt_f64", ValuTransF64, F64, F64, return nanRule(__builtin_sqrt(a), a);),
    VGPU_V1("v_rsq_f64", ValuTransF64, F64, F64, return nanRule(1.0 / __builtin_sqrt(a), a);),
    SINGLE("v_exp_f32", power2),
    SINGLE("v_log_f32", log2Of),
    SINGLE("v_exp_legacy_f32", power2),
    SINGLE("v_log_legacy_f32", log2Of),
    SINGLE("v_sin_f32", sineTurns),
    SINGLE("v_cos_f32", cosineTurns),
    HALF("v_rcp_f16", reciprocal),
    HALF("v_sqrt_f16", root),
    HALF("v_rsq_f16", reciprocalRoot),
    HALF("v_exp_f16", power2),
    HALF("v_log_f16", log2Of),
    HALF("v_sin_f16", sineTurns),
    HALF("v_cos_f16", cosineTurns),
};

} // namespace

const OpTable TranscendentalOps = {Ops, sizeof Ops / sizeof *Ops};

} // namespace vgpu::VGPU_SIMD
