// Ticks to CLOCK_MONOTONIC: drift, jumps, too few and contradictory readings.
#include "ClockFit.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace kprobe;

namespace {

constexpr uint64_t Hz = 100000000;

/// Readings every second of a counter that runs \p Ppm fast.
std::vector<ClockReading> drifting(double Ppm, uint64_t Start, int Count) {
  std::vector<ClockReading> Readings;
  for (int I = 0; I < Count; ++I)
    Readings.push_back(
        {Start + static_cast<uint64_t>(std::llround(I * Hz * (1 + Ppm / 1e6))),
         5000000000ull + 1000000000ull * static_cast<uint64_t>(I)});
  return Readings;
}

TEST(ClockFit, FiftyPpmOfDriftAreMeasuredAndRemoved) {
  for (double Ppm : {50.0, -50.0, 0.0}) {
    ClockFit Fit(drifting(Ppm, 123456789, 10), Hz);
    EXPECT_EQ(Fit.quality(), ClockFit::Quality::Fitted);
    EXPECT_NEAR(Fit.ratePpm(), Ppm, 0.01);
    EXPECT_LT(Fit.residualMaxNs(), 10);
    for (const ClockReading &R : drifting(Ppm, 123456789, 10))
      EXPECT_NEAR(static_cast<double>(Fit.toMonotonicNs(R.Ticks) -
                                      static_cast<int64_t>(R.MonotonicNs)),
                  0, 10);
  }
}

TEST(ClockFit, AJumpIsFoundUnderDrift) {
  for (int64_t Jump : {1000000, -1000000}) {
    std::vector<ClockReading> Readings = drifting(50, 1000, 10);
    for (size_t I = 5; I < 10; ++I)
      Readings[I].MonotonicNs += static_cast<uint64_t>(Jump);
    ClockFit Fit(Readings, Hz);
    EXPECT_EQ(Fit.jumps(), 1u);
    EXPECT_NEAR(static_cast<double>(Fit.largestJumpNs()),
                static_cast<double>(Jump), 20);
    EXPECT_NEAR(Fit.ratePpm(), 50, 0.01);
    EXPECT_LT(Fit.residualMaxNs(), 20);
    for (const ClockReading &R : Readings)
      EXPECT_NEAR(static_cast<double>(Fit.toMonotonicNs(R.Ticks) -
                                      static_cast<int64_t>(R.MonotonicNs)),
                  0, 20);
  }
}

TEST(ClockFit, OneBadReadingIsLeftOut) {
  std::vector<ClockReading> Readings = drifting(50, 1000, 10);
  Readings[4].MonotonicNs += 2000000;
  ClockFit Fit(Readings, Hz);
  EXPECT_EQ(Fit.jumps(), 0u);
  EXPECT_EQ(Fit.leftOut(), 1u);
  EXPECT_NEAR(Fit.ratePpm(), 50, 0.01);
  EXPECT_LT(Fit.residualMaxNs(), 20);
}

TEST(ClockFit, ScatterIsNoJumpButShowsInTheResidual) {
  std::vector<ClockReading> Readings = drifting(0, 1000, 10);
  for (size_t I = 0; I < 10; I += 2)
    Readings[I].MonotonicNs += 90000 + 1000 * I;
  ClockFit Fit(Readings, Hz);
  EXPECT_EQ(Fit.jumps(), 0u);
  EXPECT_EQ(Fit.leftOut(), 0u);
  EXPECT_GT(Fit.residualMaxNs(), 30000);
  EXPECT_GE(Fit.residualMaxNs(), Fit.residualRmsNs());
}

TEST(ClockFit, OneReadingUsesTheStatedRate) {
  ClockFit Fit({{1000, 5000}}, Hz);
  EXPECT_EQ(Fit.quality(), ClockFit::Quality::Nominal);
  EXPECT_EQ(Fit.toMonotonicNs(1000), 5000);
  EXPECT_EQ(Fit.toMonotonicNs(1100), 6000);
  EXPECT_EQ(Fit.toMonotonicNs(900), 4000);
}

TEST(ClockFit, NoReadingSaysSo) {
  ClockFit Fit({}, Hz);
  EXPECT_EQ(Fit.quality(), ClockFit::Quality::None);
  EXPECT_EQ(Fit.toMonotonicNs(1234), 0);
}

TEST(ClockFit, OrderOfReadingsDoesNotMatterButIsCounted) {
  std::vector<ClockReading> Readings = drifting(50, 1000, 5);
  ClockFit Forward(Readings, Hz);
  std::vector<ClockReading> Reversed(Readings.rbegin(), Readings.rend());
  ClockFit Backward(Reversed, Hz);
  EXPECT_EQ(Forward.reversed(), 0u);
  EXPECT_EQ(Backward.reversed(), 4u);
  EXPECT_EQ(Forward.toMonotonicNs(77777777), Backward.toMonotonicNs(77777777));
}

TEST(ClockFit, ContradictoryReadingsFallBackToTheStatedRate) {
  // Time goes back while ticks go on; a rate ten times the stated one.
  ClockFit Back({{1000, 900000000}, {100001000, 5000}}, Hz);
  EXPECT_TRUE(Back.rateRejected());
  EXPECT_EQ(Back.quality(), ClockFit::Quality::Nominal);
  ClockFit Tenfold({{0, 0}, {1000000000, 1000000000}}, Hz);
  EXPECT_TRUE(Tenfold.rateRejected());
  EXPECT_EQ(Tenfold.toMonotonicNs(100), 1000);
  ClockFit Same({{7, 100}, {7, 200}}, Hz);
  EXPECT_EQ(Same.quality(), ClockFit::Quality::Nominal);
}

TEST(ClockFit, ExtremesSaturateInsteadOfWrapping) {
  ClockFit Fit({{0, UINT64_MAX / 2}}, 1000);
  EXPECT_EQ(Fit.toMonotonicNs(UINT64_MAX), INT64_MAX);
  ClockFit Early({{UINT64_MAX, 0}}, 1000);
  EXPECT_EQ(Early.toMonotonicNs(0), INT64_MIN);
}

TEST(ClockFit, RatesOfRealParts) {
  for (uint64_t Rate : {25000000ull, 27000000ull, 100000000ull}) {
    ClockFit Fit({{Rate, 1000000000}, {3 * Rate, 3000000000ull}}, Rate);
    EXPECT_EQ(Fit.toMonotonicNs(2 * Rate), 2000000000) << Rate;
    EXPECT_EQ(Fit.offsetNs(), 0) << Rate;
  }
}

} // namespace
