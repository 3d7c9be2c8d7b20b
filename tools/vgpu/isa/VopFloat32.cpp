// Single precision arithmetic.
#include "isa/Vector.h"
#include "isa/VectorTables.h"
#include "isa/FloatMath.h"

namespace vgpu::VGPU_SIMD {

namespace {

const OpEntry Ops[] = {
    VGPU_V2("v_add_f32", Valu, F32, F32, F32, return nanRule(a + b, a, b);),
    VGPU_V2("v_sub_f32", Valu, F32, F32, F32, return nanRule(a - b, a, b);),
    VGPU_V2("v_subrev_f32", Valu, F32, F32, F32, return nanRule(b - a, a, b);),
    VGPU_V2("v_mul_f32", Valu, F32, F32, F32, return nanRule(a * b, a, b);),
    VGPU_V2("v_mul_legacy_f32", Valu, F32, F32, F32, return legacyMultiply(a, b);),
    {"v_min_f32", extremeHandler<F32, false>, OpClass::Valu, 0, Ty::F32, {Ty::F32, Ty::F32, Ty::None}, 0},
    {"v_max_f32", extremeHandler<F32, true>, OpClass::Valu, 0, Ty::F32, {Ty::F32, Ty::F32, Ty::None}, 0},
    VGPU_V3("v_fma_f32", Valu, F32, F32, F32, F32,
            return nanRule(__builtin_fmaf(a, b, c), a, b, c);),
    VGPU_V3X("v_fmac_f32", Valu, OpReadsDst, F32, F32, F32, F32, F32,
             return nanRule(__builtin_fmaf(a, b, c), a, b, c);),
    VGPU_V3X("v_fmamk_f32", Valu, OpLiteralMul, F32, F32, F32, F32, F32,
             return nanRule(__builtin_fmaf(a, b, c), a, b, c);),
    VGPU_V3X("v_fmaak_f32", Valu, OpLiteralAdd, F32, F32, F32, F32, F32,
             return nanRule(__builtin_fmaf(a, b, c), a, b, c);),
    VGPU_V3("v_fma_legacy_f32", Valu, F32, F32, F32, F32, return legacyFma(a, b, c);),
    VGPU_V3X("v_fmac_legacy_f32", Valu, OpReadsDst, F32, F32, F32, F32, F32,
             return legacyFma(a, b, c);),
    // mad and mac round twice and flush denormals whatever the mode says.
    VGPU_V3("v_mad_f32", Valu, F32, F32, F32, F32, return multiplyThenAdd(a, b, c);),
    VGPU_V3X("v_mac_f32", Valu, OpReadsDst, F32, F32, F32, F32, F32,
             return multiplyThenAdd(a, b, c);),
    VGPU_V3X("v_madmk_f32", Valu, OpLiteralMul, F32, F32, F32, F32, F32,
             return multiplyThenAdd(a, b, c);),
    VGPU_V3X("v_madak_f32", Valu, OpLiteralAdd, F32, F32, F32, F32, F32,
             return multiplyThenAdd(a, b, c);),
    VGPU_V3("v_mad_legacy_f32", Valu, F32, F32, F32, F32,
            const F32 p = flushed(legacyMultiply(flushed(a), flushed(b)));
            return nanRule(flushed(p + flushed(c)), a, b, c);),
    VGPU_V3("v_min3_f32", Valu, F32, F32, F32, F32,
            return minimum(minimum(a, b, x.Ieee, x.Float32), c, x.Ieee, x.Float32);),
    VGPU_V3("v_max3_f32", Valu, F32, F32, F32, F32,
            return maximum(maximum(a, b, x.Ieee, x.Float32), c, x.Ieee, x.Float32);),
    VGPU_V3("v_med3_f32", Valu, F32, F32, F32, F32,
            return median(a, b, c, x.Ieee, x.Float32);),

    VGPU_V1X("v_floor_f32", Valu, 0, F32, U32, F32, return rounded<RoundDown>(a, x.Float32);),
    VGPU_V1X("v_ceil_f32", Valu, 0, F32, U32, F32, return rounded<RoundUp>(a, x.Float32);),
    VGPU_V1X("v_trunc_f32", Valu, 0, F32, U32, F32, return rounded<RoundZero>(a, x.Float32);),
    VGPU_V1X("v_rndne_f32", Valu, 0, F32, U32, F32, return rounded<RoundEven>(a, x.Float32);),
    VGPU_V1X("v_fract_f32", Valu, 0, F32, U32, F32, return fraction(a, x.Float32);),
    VGPU_V1X("v_frexp_mant_f32", Valu, 0, F32, U32, F32, return significand(a, x.Float32);),
    VGPU_V1X("v_frexp_exp_i32_f32", Valu, 0, I32, U32, F32, return exponent(a, x.Float32);),
    VGPU_V2X("v_ldexp_f32", Valu, 0, F32, F32, F32, I32, return scaled(a, b);),

    VGPU_V3("v_cubeid_f32", Valu, F32, F32, F32, F32, return cubeFace(a, b, c);),
    VGPU_V3("v_cubesc_f32", Valu, F32, F32, F32, F32, return cubeS(a, b, c);),
    VGPU_V3("v_cubetc_f32", Valu, F32, F32, F32, F32, return cubeT(a, b, c);),
    VGPU_V3("v_cubema_f32", Valu, F32, F32, F32, F32, return cubeMajor(a, b, c);),
};

} // namespace

const OpTable Float32Ops = {Ops, sizeof Ops / sizeof *Ops};

} // namespace vgpu::VGPU_SIMD
