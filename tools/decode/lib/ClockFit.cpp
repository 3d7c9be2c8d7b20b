// Least squares over clock readings.
#include "ClockFit.h"

#include <algorithm>
#include <cmath>

namespace kprobe {

constexpr int FractionBits = 40;
/// No step below is a jump, whatever the others are like: readings of a busy
/// machine scatter by this much.
constexpr long double LeastJumpNs = 100000;
/// A jump is that many times the median departure of a step.
constexpr long double JumpByMedian = 16;
/// With fewer readings a jump cannot be told from a wrong rate.
constexpr size_t LeastReadings = 4;

namespace {

/// A reading against the stated rate through the first one; of one piece.
struct Point {
  long double X; ///< ticks
  long double Y; ///< nanoseconds that it is late
  size_t Piece;
  bool Bad;
};

long double medianOf(std::vector<long double> Values) {
  auto Middle = Values.begin() + static_cast<long>(Values.size() / 2);
  std::nth_element(Values.begin(), Middle, Values.end());
  return *Middle;
}

/// Numbers the pieces and marks bad readings.
void findJumps(std::vector<Point> &Points) {
  if (Points.size() < LeastReadings)
    return;
  std::vector<long double> Rates, Departures;
  for (size_t I = 1; I < Points.size(); ++I)
    if (Points[I].X > Points[I - 1].X)
      Rates.push_back((Points[I].Y - Points[I - 1].Y) /
                      (Points[I].X - Points[I - 1].X));
  if (Rates.size() + 1 < LeastReadings)
    return;
  long double Rate = medianOf(Rates);
  // Of each step, from the rate that most steps have.
  auto departure = [&](const Point &From, const Point &To) {
    return To.Y - From.Y - Rate * (To.X - From.X);
  };
  for (size_t I = 1; I < Points.size(); ++I)
    Departures.push_back(std::fabs(departure(Points[I - 1], Points[I])));
  long double Most = std::max(LeastJumpNs, JumpByMedian * medianOf(Departures));
  size_t Before = 0, Piece = 0;
  std::vector<Point> Cut = Points;
  for (size_t I = 1; I < Cut.size(); ++I) {
    Cut[I].Piece = Piece;
    if (std::fabs(departure(Cut[Before], Cut[I])) > Most) {
      // Back at the next one: it was this reading and not the counter.
      if (I + 1 < Cut.size() &&
          std::fabs(departure(Cut[Before], Cut[I + 1])) <= Most) {
        Cut[I].Bad = true;
        continue;
      }
      Cut[I].Piece = ++Piece;
    }
    Before = I;
  }
  // Jumps everywhere are none: these readings scatter.
  if (Piece * LeastReadings <= Points.size())
    Points = std::move(Cut);
}

} // namespace

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
  cutAndFit(Readings, 1e9L / static_cast<long double>(Hz));
}

void ClockFit::cutAndFit(const std::vector<ClockReading> &Readings,
                         long double Nominal) {
  How = Quality::Nominal;
  const ClockReading &First = Readings.front();
  std::vector<Point> Points;
  for (const ClockReading &R : Readings) {
    long double Ticks = static_cast<long double>(R.Ticks - First.Ticks);
    long double Ns = static_cast<long double>(R.MonotonicNs) -
                     static_cast<long double>(First.MonotonicNs);
    Points.push_back({Ticks, Ns - Ticks * Nominal, 0, false});
  }
  findJumps(Points);

  // One rate for all pieces, an offset for each.
  struct Sums {
    long double N = 0, X = 0, Y = 0;
  };
  std::vector<Sums> Means(Points.back().Piece + 1);
  for (const Point &P : Points)
    if (!P.Bad) {
      Sums &S = Means[P.Piece];
      S.N += 1;
      S.X += P.X;
      S.Y += P.Y;
    }
  for (Sums &S : Means) {
    S.X /= S.N;
    S.Y /= S.N;
  }
  long double Sxx = 0, Sxy = 0;
  for (const Point &P : Points)
    if (!P.Bad) {
      const Sums &S = Means[P.Piece];
      Sxx += (P.X - S.X) * (P.X - S.X);
      Sxy += (P.X - S.X) * (P.Y - S.Y);
    }
  long double Slope = 0;
  if (Sxx > 0) {
    Slope = Sxy / Sxx;
    if (std::fabs(Slope) > Nominal / 100) {
      // What cannot be trusted for a rate is not trusted for jumps either.
      Rejected = true;
      Slope = 0;
      Means.resize(1);
      for (Point &P : Points) {
        P.Piece = 0;
        P.Bad = false;
      }
    } else {
      How = Quality::Fitted;
    }
  }
  Ppm = static_cast<double>((Nominal / (Nominal + Slope) - 1) * 1e6L);
  NsPerTick = static_cast<int64_t>(std::llroundl(
      (Nominal + Slope) * static_cast<long double>(1ll << FractionBits)));

  // Without a rate of its own the line goes through the first reading.
  long double Before = 0;
  for (size_t I = 0; I < Means.size(); ++I) {
    long double Offset =
        How == Quality::Fitted ? Means[I].Y - Slope * Means[I].X : 0;
    Pieces.push_back({0, First.Ticks,
                      static_cast<int64_t>(First.MonotonicNs) +
                          static_cast<int64_t>(std::llroundl(Offset))});
    if (I != 0 && std::fabs(Offset - Before) > std::llabs(LargestJump))
      LargestJump = static_cast<int64_t>(std::llroundl(Offset - Before));
    Before = Offset;
  }
  // Where between two readings it jumped is not known: in the middle.
  const Point *Last = nullptr;
  long double Squares = 0;
  uint64_t Used = 0;
  for (size_t I = 0; I < Points.size(); ++I) {
    const Point &P = Points[I];
    if (P.Bad) {
      ++Outliers;
      continue;
    }
    if (Last && Last->Piece != P.Piece)
      Pieces[P.Piece].FirstTicks =
          First.Ticks + static_cast<uint64_t>((Last->X + P.X) / 2);
    Last = &P;
    long double Residual =
        P.Y - Slope * P.X -
        static_cast<long double>(Pieces[P.Piece].BaseNs -
                                 static_cast<int64_t>(First.MonotonicNs));
    Squares += Residual * Residual;
    ++Used;
    ResidualMax =
        std::max(ResidualMax, static_cast<double>(std::fabs(Residual)));
  }
  ResidualRms =
      static_cast<double>(std::sqrt(Squares / static_cast<long double>(Used)));
}

int64_t ClockFit::toMonotonicNs(uint64_t Ticks) const {
  if (How == Quality::None)
    return 0;
  size_t Which = Pieces.size() - 1;
  while (Which > 0 && Ticks < Pieces[Which].FirstTicks)
    --Which;
  const Piece &Line = Pieces[Which];
  __int128 Distance = static_cast<__int128>(Ticks) - Line.BaseTicks;
  __int128 Half = static_cast<__int128>(1) << (FractionBits - 1);
  __int128 Ns = Line.BaseNs + ((Distance * NsPerTick + Half) >> FractionBits);
  return static_cast<int64_t>(std::clamp<__int128>(Ns, INT64_MIN, INT64_MAX));
}

} // namespace kprobe
