// Matrix instructions (VOP3P-MAI) and moves between both kinds of vector
// registers. D = A * B + C for one or more blocks of M x K by K x N, spread
// over the wave: where an element lies is AMD's published mapping (matrix
// instruction calculator). EXEC, rounding and denormal modes do not count.
//
// The order of the sums is not published. Here k rises, and each product is
// added with one rounding (nearest even); products of halves are exact anyway.
#include "isa/HalfMath.h"
#include "isa/Vector.h"
#include "isa/VectorTables.h"

#include <cstring>
#include <string>

namespace vgpu::VGPU_SIMD {

namespace {

// --- Elements of A and B -----------------------------------------------------
// Flushes: gfx90a takes denormal elements and results for zero.
struct Single {
  using Sum = F32;
  static constexpr bool Flushes = false;
  static constexpr unsigned PerRegister = 1, Registers = 1;
  static F32 value(U32 Raw, bool) { return fromBits<F32>(Raw); }
};
struct Double {
  using Sum = F64;
  static constexpr bool Flushes = false;
  static constexpr unsigned PerRegister = 1, Registers = 2;
};
struct Float16 {
  using Sum = F32;
  static constexpr bool Flushes = true;
  static constexpr unsigned PerRegister = 2, Registers = 1;
  static F32 value(U32 Raw, bool Flush) {
    const Half H{U16(Raw)};
    return DefaultHalf::widen(Flush && isDenormal(H) ? Half{U16(Raw & 0x8000)} : H);
  }
};
struct Bfloat16 {
  using Sum = F32;
  static constexpr bool Flushes = true;
  static constexpr unsigned PerRegister = 2, Registers = 1;
  static F32 value(U32 Raw, bool Flush) {
    const F32 V = fromBits<F32>(Raw << 16);
    return Flush && isDenormal(V) ? withSign(0.0f, isNegative(V)) : V;
  }
};
struct Int8 {
  using Sum = I32;
  static constexpr bool Flushes = false;
  static constexpr unsigned PerRegister = 4, Registers = 1;
  static I32 value(U32 Raw, bool) { return I32(int8_t(Raw)); }
};

inline F32 multiplyAdd(F32 A, F32 B, F32 C) { return __builtin_fmaf(A, B, C); }
inline F64 multiplyAdd(F64 A, F64 B, F64 C) { return __builtin_fma(A, B, C); }
inline I32 multiplyAdd(I32 A, I32 B, I32 C) { return I32(U32(A) * U32(B) + U32(C)); }

/// Element E of all lanes of an operand that starts at register Reg.
template <class In>
void elements(const Wave &W, unsigned Reg, unsigned E, bool Flush, typename In::Sum *Out) {
  if constexpr (In::Registers == 2) {
    const uint32_t *Low = W.Vgpr[Reg + 2 * E].Lane, *High = W.Vgpr[Reg + 2 * E + 1].Lane;
    for (unsigned L = 0; L < MaxLanes; ++L)
      Out[L] = fromBits<F64>(U64(Low[L]) | U64(High[L]) << 32);
  } else {
    const uint32_t *P = W.Vgpr[Reg + E / In::PerRegister].Lane;
    const unsigned Shift = E % In::PerRegister * (32 / In::PerRegister);
    for (unsigned L = 0; L < MaxLanes; ++L)
      Out[L] = In::value(P[L] >> Shift, Flush);
  }
}

/// BLGP: the lane of B that lane L stands for.
unsigned patternLane(unsigned Pattern, unsigned L) {
  switch (Pattern) {
  case 1: return L % 32;      // the lower half for both
  case 2: return L % 32 + 32; // the upper half
  case 3: return (L + 16) % 64;
  case 4: case 5: case 6: case 7: return L % 16 + 16 * (Pattern - 4);
  default: return L;
  }
}

template <class T> inline T finished(T V, bool Flush) {
  if constexpr (std::is_floating_point_v<T>) {
    V = Flush && isDenormal(V) ? withSign(T(0), isNegative(V)) : V;
    V = isNan(V) ? defaultNan<T>() : V;
  }
  return V;
}

/// Rows of C and D: N neighbouring lanes of one register, or of a pair.
template <class T> void loadRow(const Vreg *Reg, unsigned Lane, unsigned N, T *Row) {
  for (unsigned J = 0; J < N; ++J) {
    if constexpr (sizeof(T) == 8)
      Row[J] = __builtin_bit_cast(T, U64(Reg[0].Lane[Lane + J]) | U64(Reg[1].Lane[Lane + J]) << 32);
    else
      Row[J] = __builtin_bit_cast(T, Reg->Lane[Lane + J]);
  }
}
template <class T> void storeRow(Vreg *Reg, unsigned Lane, unsigned N, const T *Row) {
  for (unsigned J = 0; J < N; ++J) {
    if constexpr (sizeof(T) == 8) {
      const U64 Bits = __builtin_bit_cast(U64, Row[J]);
      Reg[0].Lane[Lane + J] = U32(Bits);
      Reg[1].Lane[Lane + J] = U32(Bits >> 32);
    } else {
      Reg->Lane[Lane + J] = __builtin_bit_cast(U32, Row[J]);
    }
  }
}

constexpr unsigned log2Of(unsigned V) { return V < 2 ? 0 : 1 + log2Of(V / 2); }

template <class In, unsigned M, unsigned N, unsigned K, unsigned Blocks>
void multiply(Wave &W, const Inst &I) {
  using T = typename In::Sum;
  constexpr unsigned Words = sizeof(T) / 4;
  // Elements of A and of B in a lane; those of later k lie in later lanes.
  constexpr unsigned InLane = K * M * Blocks / MaxLanes;
  // D goes in bands of so many rows, as many bands as lanes allow side by side.
  constexpr unsigned Band = sizeof(T) == 8 ? 1 : 4, Bands = MaxLanes / N;
  constexpr unsigned BlocksInRegister = M * N / Band < MaxLanes ? MaxLanes * Band / (M * N) : 1;
  constexpr unsigned Results = M * N * Blocks / MaxLanes;

  if (I.Cbsz > log2Of(Blocks) || I.Abid >> I.Cbsz || (Words == 2 && I.Blgp)) {
    W.Env->fault(W, I, FaultKind::IllegalOperand,
                 std::string(I.Info->Name) + " cannot have this cbsz, abid or blgp", MaxLanes, 0);
    return;
  }
  const bool Flush = In::Flushes && I.FlushHalves;
  alignas(64) T A[InLane][MaxLanes], B[InLane][MaxLanes], Lanes[MaxLanes];
  for (unsigned E = 0; E < InLane; ++E) {
    elements<In>(W, I.Src[0].Reg, E, Flush, A[E]);
    elements<In>(W, I.Src[1].Reg, E, Flush, Lanes);
    for (unsigned L = 0; L < MaxLanes; ++L)
      B[E][L] = Lanes[patternLane(I.Blgp, L)];
  }
  T Constant = T(0);
  if (!I.Src[2].isVgpr())
    std::memcpy(&Constant, &I.Src[2].Value, sizeof Constant);

  Vreg D[Results * Words]; // apart: it may overlap the sources
  for (unsigned Block = 0; Block < Blocks; ++Block) {
    const unsigned From = (Block >> I.Cbsz << I.Cbsz) + I.Abid;
    for (unsigned Row = 0; Row < M; ++Row) {
      const unsigned Register = Words * (Block * (M * N / MaxLanes) +
                                         Row / (Band * Bands) * Band + Row % Band);
      const unsigned Lane =
          Block % BlocksInRegister * N + Row / Band % Bands * BlocksInRegister * N;
      alignas(64) T Sum[N];
      if (I.Src[2].isVgpr())
        loadRow(W.Vgpr + I.Src[2].Reg + Register, Lane, N, Sum);
      else
        for (T &S : Sum)
          S = Constant;
      for (T &S : Sum)
        S = Flush ? finished(S, true) : S;
      for (unsigned Step = 0; Step < K; ++Step) {
        const unsigned E = Step % InLane, Column = Step / InLane * M * Blocks;
        const T Factor = A[E][Column + From * M + Row];
        const T *Other = B[E] + Column + Block * N; // M == N in all shapes
        // Unrolled first, it would not be vectorised.
#pragma GCC unroll 1
        for (unsigned J = 0; J < N; ++J)
          Sum[J] = multiplyAdd(Factor, Other[J], Sum[J]);
      }
      for (T &S : Sum)
        S = finished(S, Flush);
      storeRow(D + Register, Lane, N, Sum);
    }
  }
  std::memcpy(W.Vgpr + I.Dst.Reg, D, sizeof D);
}

void moveAcc(Wave &W, const Inst &I) {
  const Source<U32> A(W, I, 0);
  emit<U32>(W, I, [&](unsigned L) { return A[L]; });
}

// Cycles: what a SIMD is busy for, by AMD's calculator.
#define MFMA(Name, In, M, N, K, Blocks, Result, Operand, Cycles)                                   \
  {"v_mfma_" Name, multiply<In, M, N, K, Blocks>, OpClass::Matrix, 0, Ty::Result,                  \
   {Ty::Operand, Ty::Operand, Ty::Result}, Cycles}
#define MOVE(Name, Flags)                                                                          \
  {Name, moveAcc, OpClass::Valu, Flags, Ty::B32, {Ty::B32, Ty::None, Ty::None}, 0}

const OpEntry Ops[] = {
    MFMA("f32_32x32x1f32", Single, 32, 32, 1, 2, B1024, F32, 64),
    MFMA("f32_16x16x1f32", Single, 16, 16, 1, 4, B512, F32, 32),
    MFMA("f32_4x4x1f32", Single, 4, 4, 1, 16, B128, F32, 8),
    MFMA("f32_32x32x2f32", Single, 32, 32, 2, 1, B512, F32, 64),
    MFMA("f32_16x16x4f32", Single, 16, 16, 4, 1, B128, F32, 32),
    MFMA("f32_32x32x4f16", Float16, 32, 32, 4, 2, B1024, B64, 64),
    MFMA("f32_16x16x4f16", Float16, 16, 16, 4, 4, B512, B64, 32),
    MFMA("f32_4x4x4f16", Float16, 4, 4, 4, 16, B128, B64, 8),
    MFMA("f32_32x32x8f16", Float16, 32, 32, 8, 1, B512, B64, 64),
    MFMA("f32_16x16x16f16", Float16, 16, 16, 16, 1, B128, B64, 32),
    MFMA("i32_32x32x4i8", Int8, 32, 32, 4, 2, B1024, B32, 64),
    MFMA("i32_16x16x4i8", Int8, 16, 16, 4, 4, B512, B32, 32),
    MFMA("i32_4x4x4i8", Int8, 4, 4, 4, 16, B128, B32, 8),
    MFMA("i32_32x32x8i8", Int8, 32, 32, 8, 1, B512, B32, 64),
    MFMA("i32_16x16x16i8", Int8, 16, 16, 16, 1, B128, B32, 32),
    MFMA("f32_32x32x2bf16", Bfloat16, 32, 32, 2, 2, B1024, B32, 64),
    MFMA("f32_16x16x2bf16", Bfloat16, 16, 16, 2, 4, B512, B32, 32),
    MFMA("f32_4x4x2bf16", Bfloat16, 4, 4, 2, 16, B128, B32, 8),
    MFMA("f32_32x32x4bf16", Bfloat16, 32, 32, 4, 1, B512, B32, 64),
    MFMA("f32_16x16x8bf16", Bfloat16, 16, 16, 8, 1, B128, B32, 32),
    MFMA("f32_32x32x4bf16_1k", Bfloat16, 32, 32, 4, 2, B1024, B64, 64),
    MFMA("f32_16x16x4bf16_1k", Bfloat16, 16, 16, 4, 4, B512, B64, 32),
    MFMA("f32_4x4x4bf16_1k", Bfloat16, 4, 4, 4, 16, B128, B64, 8),
    MFMA("f32_32x32x8bf16_1k", Bfloat16, 32, 32, 8, 1, B512, B64, 64),
    MFMA("f32_16x16x16bf16_1k", Bfloat16, 16, 16, 16, 1, B128, B64, 32),
    MFMA("f64_16x16x4f64", Double, 16, 16, 4, 1, B256, F64, 32),
    MFMA("f64_4x4x4f64", Double, 4, 4, 4, 4, F64, F64, 16),
    MOVE("v_accvgpr_read_b32", OpAccSrc),
    MOVE("v_accvgpr_write_b32", OpAccDst),
    MOVE("v_accvgpr_mov_b32", OpAccSrc | OpAccDst),
};

} // namespace

const OpTable MatrixOps = {Ops, sizeof Ops / sizeof *Ops};

} // namespace vgpu::VGPU_SIMD
