// Half precision instructions with one result a lane.
#include "isa/HalfMath.h"
#include "isa/Vector.h"
#include "isa/VectorTables.h"

namespace vgpu::VGPU_SIMD {

namespace {

template <Rounding R> inline Half roundHalf(Half V, const FloatMode &M) {
  return half1(V, M, [](double X) { return integral<R>(X); });
}

Half ldexpHalf(Half V, I16 E, const FloatMode &M) {
  const int K = E < -100 ? -100 : E > 100 ? 100 : E;
  return half1(V, M, [&](double X) { return X * powerOfTwo(K); });
}

Half fractionHalf(Half V, const FloatMode &M) {
  if (isInf(V))
    return defaultNan<Half>();
  const Half R = half1(V, M, [](double X) { return X - __builtin_floor(X); });
  return R.Bits == 0x3c00 ? Half{0x3bff} : R;
}

inline Half subtract(Half A) { return isNan(A) ? A : negate(A); }

// Arithmetic rows run one of two loops by the mode; m is the kind of arithmetic.
#define HALF2(Name, ...)                                                                           \
  {Name, [](Wave &W, const Inst &I) {                                                              \
     const auto Run = [&](auto m) {                                                                \
       (void)m;                                                                                    \
       using M = decltype(m);                                                                      \
       run2<F16, F16, F16, F16>(W, I, [](F16 a, F16 b, const Context &x) -> F16 { __VA_ARGS__ });  \
     };                                                                                            \
     FloatMode::of64(W.Mode).isDefault() ? Run(DefaultHalf()) : Run(ModedHalf());                  \
   },                                                                                              \
   OpClass::Valu, 0, Ty::F16, {Ty::F16, Ty::F16, Ty::None}, 0}
#define HALF3(Name, Flags, ...)                                                                    \
  {Name, [](Wave &W, const Inst &I) {                                                              \
     const auto Run = [&](auto m) {                                                                \
       (void)m;                                                                                    \
       using M = decltype(m);                                                                      \
       run3<F16, F16, F16, F16, F16>(                                                              \
           W, I, [](F16 a, F16 b, F16 c, const Context &x) -> F16 { __VA_ARGS__ });                \
     };                                                                                            \
     FloatMode::of64(W.Mode).isDefault() ? Run(DefaultHalf()) : Run(ModedHalf());                  \
   },                                                                                              \
   OpClass::Valu, Flags, Ty::F16, {Ty::F16, Ty::F16, Ty::F16}, 0}

const OpEntry Ops[] = {
    HALF2("v_add_f16", return M::add(a, b, x.Float64);),
    HALF2("v_sub_f16", return M::add(a, subtract(b), x.Float64);),
    HALF2("v_subrev_f16", return M::add(subtract(a), b, x.Float64);),
    HALF2("v_mul_f16", return M::mul(a, b, x.Float64);),
    VGPU_V2("v_min_f16", Valu, F16, F16, F16, return minimum(a, b, x.Ieee, x.Float64);),
    VGPU_V2("v_max_f16", Valu, F16, F16, F16, return maximum(a, b, x.Ieee, x.Float64);),
    VGPU_V3("v_min3_f16", Valu, F16, F16, F16, F16,
            return minimum(minimum(a, b, x.Ieee, x.Float64), c, x.Ieee, x.Float64);),
    VGPU_V3("v_max3_f16", Valu, F16, F16, F16, F16,
            return maximum(maximum(a, b, x.Ieee, x.Float64), c, x.Ieee, x.Float64);),
    VGPU_V3("v_med3_f16", Valu, F16, F16, F16, F16,
            return median(a, b, c, x.Ieee, x.Float64);),
    HALF3("v_fma_f16", 0, return M::fma(a, b, c, x.Float64);),
    HALF3("v_fma_legacy_f16", 0, return M::fma(a, b, c, x.Float64);),
    HALF3("v_fmac_f16", OpReadsDst, return M::fma(a, b, c, x.Float64);),
    HALF3("v_fmamk_f16", OpLiteralMul, return M::fma(a, b, c, x.Float64);),
    HALF3("v_fmaak_f16", OpLiteralAdd, return M::fma(a, b, c, x.Float64);),
    HALF3("v_mad_f16", 0, return madHalf<M>(a, b, c, x.Float64);),
    HALF3("v_mad_legacy_f16", 0, return madHalf<M>(a, b, c, x.Float64);),
    HALF3("v_mac_f16", OpReadsDst | OpKeepsHigh, return madHalf<M>(a, b, c, x.Float64);),
    HALF3("v_madmk_f16", OpLiteralMul | OpKeepsHigh, return madHalf<M>(a, b, c, x.Float64);),
    HALF3("v_madak_f16", OpLiteralAdd | OpKeepsHigh, return madHalf<M>(a, b, c, x.Float64);),

    VGPU_V1("v_floor_f16", Valu, F16, F16, return roundHalf<RoundDown>(a, x.Float64);),
    VGPU_V1("v_ceil_f16", Valu, F16, F16, return roundHalf<RoundUp>(a, x.Float64);),
    VGPU_V1("v_trunc_f16", Valu, F16, F16, return roundHalf<RoundZero>(a, x.Float64);),
    VGPU_V1("v_rndne_f16", Valu, F16, F16, return roundHalf<RoundEven>(a, x.Float64);),
    VGPU_V1("v_fract_f16", Valu, F16, F16, return fractionHalf(a, x.Float64);),
    VGPU_V1("v_frexp_mant_f16", Valu, F16, F16, return significand(a, x.Float64);),
    VGPU_V1X("v_frexp_exp_i16_f16", Valu, 0, I16, U32, F16, return I16(exponent(a, x.Float64));),
    VGPU_V2("v_ldexp_f16", Valu, F16, F16, I16, return ldexpHalf(a, b, x.Float64);),
    VGPU_V2X("v_pack_b32_f16", Valu, 0, U32, U32, F16, F16,
             return U32(a.Bits) | U32(b.Bits) << 16;),
};

} // namespace

const OpTable Half16Ops = {Ops, sizeof Ops / sizeof *Ops};

} // namespace vgpu::VGPU_SIMD
