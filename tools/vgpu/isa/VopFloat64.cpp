// Double precision arithmetic.
#include "isa/FloatMath.h"
#include "isa/Vector.h"
#include "isa/VectorTables.h"

namespace vgpu::VGPU_SIMD {

namespace {

void loadExponent(Wave &W, const Inst &I) {
  FloatScope Scope(scopeMode<F64>(W));
  const Source<F64> A(W, I, 0);
  const Source<I32> B(W, I, 1);
  emitPatched<F64>(
      W, I,
      [&](unsigned L, bool &Ordinary) {
        Ordinary = scalesExactly(A[L], B[L]);
        return scaleExactly(A[L], B[L]);
      },
      [&](unsigned L) { return scaled(A[L], B[L]); });
}

const OpEntry Ops[] = {
    VGPU_V2("v_add_f64", ValuF64, F64, F64, F64, return nanRule(a + b, a, b);),
    VGPU_V2("v_mul_f64", ValuF64, F64, F64, F64, return nanRule(a * b, a, b);),
    VGPU_V3("v_fma_f64", ValuF64, F64, F64, F64, F64,
            return nanRule(__builtin_fma(a, b, c), a, b, c);),
    VGPU_V3X("v_fmac_f64", ValuF64, OpReadsDst, F64, F64, F64, F64, F64,
             return nanRule(__builtin_fma(a, b, c), a, b, c);),
    {"v_min_f64", extremeHandler<F64, false>, OpClass::ValuF64, 0, Ty::F64, {Ty::F64, Ty::F64, Ty::None}, 0},
    {"v_max_f64", extremeHandler<F64, true>, OpClass::ValuF64, 0, Ty::F64, {Ty::F64, Ty::F64, Ty::None}, 0},
    VGPU_V1X("v_floor_f64", ValuF64, 0, F64, U32, F64, return rounded<RoundDown>(a, x.Float64);),
    VGPU_V1X("v_ceil_f64", ValuF64, 0, F64, U32, F64, return rounded<RoundUp>(a, x.Float64);),
    VGPU_V1X("v_trunc_f64", ValuF64, 0, F64, U32, F64, return rounded<RoundZero>(a, x.Float64);),
    VGPU_V1X("v_rndne_f64", ValuF64, 0, F64, U32, F64, return rounded<RoundEven>(a, x.Float64);),
    VGPU_V1X("v_fract_f64", ValuF64, 0, F64, U32, F64, return fraction(a, x.Float64);),
    VGPU_V1X("v_frexp_mant_f64", ValuF64, 0, F64, U32, F64, return significand(a, x.Float64);),
    VGPU_V1X("v_frexp_exp_i32_f64", ValuF64, 0, I32, U32, F64, return exponent(a, x.Float64);),
    {"v_ldexp_f64", loadExponent, OpClass::ValuF64, 0, Ty::F64, {Ty::F64, Ty::B32, Ty::None}, 0},
};

} // namespace

const OpTable Float64Ops = {Ops, sizeof Ops / sizeof *Ops};

} // namespace vgpu::VGPU_SIMD
