//===- AccessPattern.cpp - Lines and LDS banks of one access ----------------===//
#include "machine/AccessPattern.h"

#include "core/TargetClones.h"
#include "machine/Timing.h"

#include <algorithm>
#include <immintrin.h>

namespace vgpu {

using timing::LdsBanks;

void LineSet::add(uint64_t Number, unsigned Times) {
  // Lanes mostly walk upwards: look at the newest lines first.
  for (unsigned I = Count; I-- > 0;)
    if (Line[I] == Number) {
      Lanes[I] = uint8_t(Lanes[I] + Times);
      return;
    }
  Line[Count] = Number;
  Lanes[Count++] = uint8_t(Times);
}

LinePattern linePattern(const uint64_t *Address, unsigned Lanes, unsigned Bytes, unsigned LineShift) {
  LinePattern P;
  for (unsigned L = 0; L < Lanes; ++L) {
    const uint64_t Line = Address[L] >> LineShift, Before = Address[L ? L - 1 : 0] >> LineShift;
    P.Begins |= uint64_t(Line != Before) << L;
    P.Straddles |= uint64_t((Address[L] + Bytes - 1) >> LineShift != Line) << L;
  }
  return P;
}

__attribute__((target("avx2"))) static inline __m256i load4(const uint64_t *From) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(From));
}

__attribute__((target("avx2"))) LinePattern
linePatternAvx2(const uint64_t *Address, unsigned Lanes, unsigned Bytes, unsigned LineShift) {
  const __m128i By = _mm_cvtsi32_si128(int(LineShift));
  const __m256i Further = _mm256_set1_epi64x(Bytes - 1);
  // The lane before the first is itself.
  __m256i Before = _mm256_permute4x64_epi64(load4(Address), 0x90);
  LinePattern P;
  for (unsigned L = 0;;) {
    const __m256i A = load4(Address + L), Line = _mm256_srl_epi64(A, By);
    const __m256i Last = _mm256_srl_epi64(_mm256_add_epi64(A, Further), By);
    const __m256i AsBefore = _mm256_cmpeq_epi64(Line, _mm256_srl_epi64(Before, By));
    const __m256i AsLast = _mm256_cmpeq_epi64(Line, Last);
    P.Begins |= uint64_t(15 ^ _mm256_movemask_pd(_mm256_castsi256_pd(AsBefore))) << L;
    P.Straddles |= uint64_t(15 ^ _mm256_movemask_pd(_mm256_castsi256_pd(AsLast))) << L;
    if ((L += 4) == Lanes)
      return P;
    Before = load4(Address + L - 1);
  }
}

static LinePattern (*const patternOfHost)(const uint64_t *, unsigned, unsigned, unsigned) =
    __builtin_cpu_supports("avx2") ? linePatternAvx2 : linePattern;

VGPU_TARGET_CLONES
void LineSet::collect(const uint64_t *Address, uint64_t Exec, unsigned Bytes) {
  Count = 0;
  if (!Exec)
    return;
  const LinePattern P = patternOfHost(Address, lanesOf(Exec), Bytes, LineShift);
  if (!(P.Straddles & Exec)) {
    // A run of lanes on one line at a time.
    for (uint64_t Begins = P.Begins | 1; Begins;) {
      const unsigned First = unsigned(__builtin_ctzll(Begins));
      Begins &= Begins - 1;
      const uint64_t Below = Begins ? (Begins & -Begins) - 1 : ~uint64_t(0);
      if (const uint64_t Run = Exec & Below >> First << First)
        add(Address[First] >> LineShift, unsigned(__builtin_popcountll(Run)));
    }
    return;
  }
  for (uint64_t Rest = Exec; Rest; Rest &= Rest - 1) {
    const uint64_t Begin = Address[__builtin_ctzll(Rest)];
    const uint64_t First = Begin >> LineShift, Last = (Begin + Bytes - 1) >> LineShift;
    add(First, 1);
    if (Last != First)
      add(Last, 1);
  }
}

static unsigned ldsConflictCycles(const uint32_t *Address, uint64_t Exec, unsigned Dwords) {
  // 32 lanes are served at a time; a bank gives one dword a cycle, and lanes
  // that want the same dword share it.
  unsigned Extra = 0;
  for (unsigned Half = 0; Half < 2; ++Half) {
    uint32_t Active = uint32_t(Exec >> (32 * Half));
    if (!Active)
      continue;
    const uint32_t *A = Address + 32 * Half;
    uint32_t Words[LdsBanks][32];
    uint8_t Used[LdsBanks] = {};
    unsigned Most = 1;
    for (uint32_t Rest = Active; Rest; Rest &= Rest - 1) {
      uint32_t Word = A[__builtin_ctz(Rest)] >> 2;
      unsigned Bank = Word % LdsBanks, I = 0;
      while (I < Used[Bank] && Words[Bank][I] != Word)
        ++I;
      if (I == Used[Bank]) {
        Words[Bank][Used[Bank]++] = Word;
        Most = std::max<unsigned>(Most, Used[Bank]);
      }
    }
    // A stride of two dwords is what a b64 access has by itself, and so on.
    Extra += Most > Dwords ? Most - Dwords : 0;
  }
  return Extra;
}

/// Whether 32 lanes want dwords of one row of banks; a row may begin anywhere.
VGPU_TARGET_CLONES static bool inOneRow(const uint32_t *Address) {
  uint32_t Least = ~uint32_t(0), Most = 0;
  for (unsigned L = 0; L < 32; ++L) {
    Least = std::min(Least, Address[L] >> 2);
    Most = std::max(Most, Address[L] >> 2);
  }
  return Most - Least < LdsBanks;
}

/// Whether no two of \p Active, some of 32 lanes, want different dwords of one bank.
static bool withoutConflict(const uint32_t *Address, uint32_t Active) {
  if (!Active || inOneRow(Address))
    return true;
  uint32_t Wanted[LdsBanks], Differ = 0;
  auto ForActive = [&](auto Body) {
    if (Active == ~uint32_t(0))
      for (unsigned L = 0; L < 32; ++L)
        Body(Address[L] >> 2);
    else
      for (uint32_t Rest = Active; Rest; Rest &= Rest - 1)
        Body(Address[__builtin_ctz(Rest)] >> 2);
  };
  ForActive([&](uint32_t Word) { Wanted[Word % LdsBanks] = Word; });
  ForActive([&](uint32_t Word) { Differ |= Wanted[Word % LdsBanks] ^ Word; });
  return !Differ;
}

/// True when Address - Address[0] equals Delta in \p Lanes (32 or 64), the
/// inactive ones too: a lane of no use may only cost a repetition.
VGPU_TARGET_CLONES static bool
sameDeltas(const uint32_t *Address, const uint32_t *Delta, unsigned Lanes) {
  const uint32_t First = Address[0];
  uint32_t Differ = 0;
  for (; Lanes; Lanes -= 32, Address += 32, Delta += 32)
    for (unsigned L = 0; L < 32; ++L)
      Differ |= (Address[L] - First) ^ Delta[L];
  return !Differ;
}

unsigned ConflictMemo::ldsConflicts(uint64_t Pc, const uint32_t *Address, uint64_t Exec,
                                    unsigned Dwords) {
  if (withoutConflict(Address, uint32_t(Exec)) &&
      withoutConflict(Address + 32, uint32_t(Exec >> 32)))
    return 0;
  Entry &E = Known[(Pc >> 2) % Entries];
  if (E.Pc == Pc && E.Exec == Exec && E.Low == (Address[0] & 3) && E.Dwords == Dwords &&
      sameDeltas(Address, E.Delta, lanesOf(Exec)))
    return E.Cycles;
  E.Pc = Pc;
  E.Exec = Exec;
  E.Low = Address[0] & 3;
  E.Dwords = Dwords;
  for (unsigned L = 0; L < lanesOf(Exec); ++L)
    E.Delta[L] = Address[L] - Address[0];
  return E.Cycles = ldsConflictCycles(Address, Exec, Dwords);
}

} // namespace vgpu
