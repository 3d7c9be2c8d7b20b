// Lines and LDS conflicts of one access, against what their definitions say of it.
#include "machine/AccessPattern.h"
#include "machine/MemoryTiming.h"
#include "machine/RegisterMemory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <vector>

using namespace vgpu;

namespace {

/// Accesses as kernels make them: side by side, in steps, scattered, in a few places.
class Accesses {
public:
  uint64_t Exec = 0;
  std::array<uint64_t, 64> Address;

  void next() {
    const uint64_t Base = 0x200000000000 + Random() % 4096;
    const uint64_t Step = std::array<uint64_t, 6>{0, 1, 4, 12, 64, 260}[Random() % 6];
    const bool Down = Random() % 4 == 0;
    const uint64_t Places = std::array<uint64_t, 3>{3, 70, 5000}[Random() % 3];
    const unsigned Kind = unsigned(Random() % 3);
    for (unsigned L = 0; L < 64; ++L) {
      const uint64_t Number = Down ? 63 - L : L;
      Address[L] = Base + (Kind == 0   ? Step * Number
                           : Kind == 1 ? Step * (Number % 7) + 4096 * (Number / 21)
                                       : 4 * (Random() % Places));
    }
    Exec = std::array<uint64_t, 5>{~uint64_t(0), 0xffffffff, Random(), Random() & Random() & Random(),
                                   uint64_t(1) << Random() % 64}[Random() % 5];
  }

private:
  std::mt19937_64 Random{1};
};

constexpr unsigned Rounds = 4000;

TEST(LineSet, IsWhatTheLanesTouch) {
  Accesses A;
  for (unsigned Round = 0; Round < Rounds; ++Round) {
    A.next();
    for (unsigned Shift : {6u, 7u})
      for (unsigned Bytes : {1u, 4u, 8u, 12u, 16u}) {
        std::vector<uint64_t> Lines;
        std::map<uint64_t, unsigned> Lanes;
        for (unsigned L = 0; L < 64; ++L)
          if (A.Exec >> L & 1)
            for (uint64_t Line = A.Address[L] >> Shift; Line <= (A.Address[L] + Bytes - 1) >> Shift;
                 ++Line)
              if (!Lanes[Line]++)
                Lines.push_back(Line);
        LineSet S(Shift);
        S.collect(A.Address.data(), A.Exec, Bytes);
        ASSERT_EQ(Lines, std::vector<uint64_t>(S.Line, S.Line + S.Count)) << "round " << Round;
        for (unsigned I = 0; I < S.Count; ++I)
          ASSERT_EQ(Lanes[S.Line[I]], S.Lanes[I]) << "round " << Round << " line " << I;
      }
  }
}

TEST(LineSet, CountsEachLineOnce) {
  LineSet S;
  uint64_t A[64];
  for (unsigned I = 0; I < 64; ++I)
    A[I] = 0x1000 + 4 * (63 - I);
  S.collect(A, ~uint64_t(0), 4);
  EXPECT_EQ(S.Count, 4u);
  for (unsigned I = 0; I < 64; ++I)
    A[I] = 0x1000 + 4096 * I + 60;
  S.collect(A, ~uint64_t(0), 8); // Each crosses into the next line.
  EXPECT_EQ(S.Count, 128u);
  S.collect(A, 5, 4);
  EXPECT_EQ(S.Count, 2u);
}

TEST(LineSet, OfNoLaneIsEmpty) {
  const uint64_t A[64] = {};
  LineSet S;
  S.collect(A, 0, 4);
  EXPECT_EQ(0u, S.Count);
}

TEST(LinePattern, IsTheSameWithoutAvx2) {
  if (!__builtin_cpu_supports("avx2"))
    GTEST_SKIP() << "a host without AVX2";
  Accesses A;
  for (unsigned Round = 0; Round < Rounds; ++Round) {
    A.next();
    for (unsigned Lanes : {32u, 64u}) {
      const LinePattern One = linePattern(A.Address.data(), Lanes, 8, 6);
      const LinePattern Other = linePatternAvx2(A.Address.data(), Lanes, 8, 6);
      ASSERT_EQ(One.Begins, Other.Begins) << "round " << Round;
      ASSERT_EQ(One.Straddles, Other.Straddles) << "round " << Round;
    }
  }
}

TEST(ConflictMemo, CountsDwordsOfABankBeyondTheFirst) {
  Accesses A;
  ConflictMemo Memo;
  for (unsigned Round = 0; Round < Rounds; ++Round) {
    A.next();
    uint32_t Address[64];
    std::copy(A.Address.begin(), A.Address.end(), Address);
    for (unsigned Dwords : {1u, 2u, 4u}) {
      unsigned Expected = 0;
      for (unsigned Half = 0; Half < 64; Half += 32) {
        std::set<uint32_t> Banks[32];
        for (unsigned L = Half; L < Half + 32; ++L)
          if (A.Exec >> L & 1)
            Banks[Address[L] / 4 % 32].insert(Address[L] / 4);
        size_t Most = 0;
        for (const std::set<uint32_t> &Words : Banks)
          Most = std::max(Most, Words.size());
        Expected += unsigned(std::max<size_t>(Most, Dwords)) - Dwords;
      }
      // Twice from one instruction: the second answer is remembered.
      const uint64_t Pc = 4 * (Round % 8);
      ASSERT_EQ(Expected, Memo.ldsConflicts(Pc, Address, A.Exec, Dwords)) << "round " << Round;
      for (uint32_t &Moved : Address)
        Moved += 128;
      ASSERT_EQ(Expected, Memo.ldsConflicts(Pc, Address, A.Exec, Dwords)) << "round " << Round;
    }
  }
}

TEST(PageNumbers, CountByFirstUse) {
  PageNumbers P;
  EXPECT_EQ(0u, P.of(7));
  EXPECT_EQ(1u, P.of(7 + 64)); // Falls in the same place of what is at hand.
  EXPECT_EQ(0u, P.of(7));
  EXPECT_EQ(2u, P.of(3));
  EXPECT_EQ(1u, P.of(7 + 64));
}

TEST(RegisterMemory, GivesPlacesAgainAndNoneTwice) {
  RegisterMemory M;
  std::map<Vreg *, unsigned> Places;
  for (unsigned Count = 1; Count <= 512; Count += 7) { // Some stretches of 2 MiB.
    unsigned Given = Count;
    for (unsigned Times = 0; Times < 4; ++Times) {
      Vreg *Place = M.take(Given);
      ASSERT_GE(Given, Count);
      Place[0].Lane[0] = Place[Count - 1].Lane[63] = Count;
      Places[Place] = Given;
    }
  }
  Vreg *Before = nullptr;
  for (auto [Place, Count] : Places) {
    EXPECT_TRUE(!Before || Before <= Place) << "places overlap";
    Before = Place + Count;
  }
  Vreg *Some = Places.begin()->first;
  M.give(Some, Places[Some]);
  unsigned Count = Places[Some];
  EXPECT_EQ(Some, M.take(Count));
}

} // namespace
