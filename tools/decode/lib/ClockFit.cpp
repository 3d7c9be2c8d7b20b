// Least squares over clock readings.
#include "ClockFit.h"

#include <algorithm>
#include <cmath>

namespace kprobe {

constexpr int FractionBits = 40;

ClockFit::ClockFit(std::vector<ClockReading> Readings, uint64_t Hz) {
  Count = Readings.size();
  if (Readings.empty())
    return;
  for (size_t I = 1; I < Readings.size(); ++I)
    if (Readings[I].Ticks < Readings[I - 1].Ticks ||
        Readings[I].MonotonicNs < Readings[I - 1].MonotonicNs)
      ++Reversed;
  std::stable_sort(Readings.begin(), Readings.end(),
                   [](const ClockReading &A, const ClockReading &B) {
                     return A.Ticks < B.Ticks;
                   });

  How = Quality::Nominal;
  BaseTicks = Readings.front().Ticks;
  BaseNs = static_cast<int64_t>(Readings.front().MonotonicNs);
  const long double Nominal = 1e9L / static_cast<long double>(Hz);

  // Deviation of each reading from the stated rate through the first one.
  long double MeanX = 0, MeanY = 0;
  std::vector<long double> X, Y;
  for (const ClockReading &R : Readings) {
    long double Ticks = static_cast<long double>(R.Ticks - BaseTicks);
    long double Ns = static_cast<long double>(R.MonotonicNs) -
                     static_cast<long double>(Readings.front().MonotonicNs);
    X.push_back(Ticks);
    Y.push_back(Ns - Ticks * Nominal);
    MeanX += Ticks;
    MeanY += Y.back();
  }
  MeanX /= static_cast<long double>(Count);
  MeanY /= static_cast<long double>(Count);
  long double Sxx = 0, Sxy = 0;
  for (size_t I = 0; I < X.size(); ++I) {
    Sxx += (X[I] - MeanX) * (X[I] - MeanX);
    Sxy += (X[I] - MeanX) * (Y[I] - MeanY);
  }
  long double Slope = 0, Offset = 0;
  if (Sxx > 0) {
    Slope = Sxy / Sxx;
    if (std::fabs(Slope) > Nominal / 100) {
      Rejected = true;
      Slope = 0;
    } else {
      How = Quality::Fitted;
      Offset = MeanY - Slope * MeanX;
    }
  }
  Ppm = static_cast<double>((Nominal / (Nominal + Slope) - 1) * 1e6L);
  BaseNs += static_cast<int64_t>(std::llroundl(Offset));
  NsPerTick = static_cast<int64_t>(std::llroundl(
      (Nominal + Slope) * static_cast<long double>(1ll << FractionBits)));

  long double Squares = 0;
  for (size_t I = 0; I < X.size(); ++I) {
    long double Residual = Y[I] - (Offset + Slope * X[I]);
    Squares += Residual * Residual;
    ResidualMax =
        std::max(ResidualMax, static_cast<double>(std::fabs(Residual)));
  }
  ResidualRms =
      static_cast<double>(std::sqrt(Squares / static_cast<long double>(Count)));
}

int64_t ClockFit::toMonotonicNs(uint64_t Ticks) const {
  if (How == Quality::None)
    return 0;
  __int128 Distance = static_cast<__int128>(Ticks) - BaseTicks;
  __int128 Half = static_cast<__int128>(1) << (FractionBits - 1);
  __int128 Ns = BaseNs + ((Distance * NsPerTick + Half) >> FractionBits);
  return static_cast<int64_t>(std::clamp<__int128>(Ns, INT64_MIN, INT64_MAX));
}

} // namespace kprobe
