// Precision that the statistics promise.
#include "Histogram.h"

#include <gtest/gtest.h>

#include <initializer_list>

using namespace kprobe;

namespace {

TEST(Histogram, BucketsAreInOrderAndHoldTheirMiddle) {
  unsigned Last = 0;
  for (uint64_t V = 0; V <= UINT32_MAX; V += V / 100 + 1) {
    unsigned B = Histogram::bucketOf(static_cast<uint32_t>(V));
    ASSERT_LT(B, Histogram::Buckets);
    ASSERT_GE(B, Last);
    Last = B;
    ASSERT_EQ(Histogram::bucketOf(Histogram::middleOf(B)), B);
  }
  EXPECT_EQ(Histogram::bucketOf(UINT32_MAX), Histogram::Buckets - 1);
}

TEST(Histogram, ErrorIsAtMostOne256th) {
  for (uint64_t V = 0; V <= UINT32_MAX; V += V / 997 + 1) {
    Histogram H;
    H.add(static_cast<uint32_t>(V));
    double Error = double(H.percentile(1, 500)) - double(V);
    ASSERT_LE(Error < 0 ? -Error : Error, V < 256 ? 0.0 : double(V) / 256) << V;
  }
}

TEST(Histogram, PercentilesAreNearestRanks) {
  Histogram H;
  for (uint32_t V = 1; V <= 50; ++V)
    H.add(V);
  EXPECT_EQ(H.percentile(50, 500), 25u) << "the lower of the middle two";
  EXPECT_EQ(H.percentile(50, 990), 50u);
  EXPECT_EQ(H.percentile(50, 0), 1u);
  EXPECT_EQ(H.percentile(50, 1000), 50u);
}

} // namespace
