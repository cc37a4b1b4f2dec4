#include "native/scheduler/slice_costs.h"

#include <gtest/gtest.h>

#include <random>

namespace lattice {
namespace {

TEST(SliceCostsTest, LearnsEachGpuAndBucketOnItsOwn) {
  SliceCosts costs(2);
  for (int i = 0; i < 30; ++i) {
    costs.Observe(0, 1, 2);
    costs.Observe(0, 8, 5);
    costs.Observe(1, 1, 20);
  }
  EXPECT_NEAR(costs.PredictMs(0, 1), 2, 0.01);
  EXPECT_NEAR(costs.PredictMs(0, 5), 5, 0.01);  // 5 to 8 share a bucket
  EXPECT_NEAR(costs.PredictMs(1, 1), 20, 0.1);
}

TEST(SliceCostsTest, ReckonsUnknownBucketsFromTheNearestAndUnknownGpusAsTheFastest) {
  SliceCosts costs(3);
  EXPECT_GT(costs.PredictMs(0, 1), 0);
  costs.Observe(0, 4, 8);
  costs.Observe(1, 4, 2);
  EXPECT_LT(costs.PredictMs(0, 1), 8);
  EXPECT_GT(costs.PredictMs(0, 32), 8);
  EXPECT_LT(costs.PredictMs(0, 32), 8 * 8);
  EXPECT_EQ(costs.PredictMs(2, 4), 2);
}

TEST(SliceCostsTest, OneStallMovesItLittleAndANewSpeedIsLearned) {
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    SliceCosts costs(1);
    const double ms = 1 + static_cast<double>(random() % 100);
    for (int i = 0; i < 20; ++i) costs.Observe(0, 1, ms);
    costs.Observe(0, 1, 1000 * ms);
    EXPECT_LE(costs.PredictMs(0, 1), 2 * ms);
    const double faster = ms / 8;
    for (int i = 0; i < 40; ++i) costs.Observe(0, 1, faster);
    EXPECT_NEAR(costs.PredictMs(0, 1), faster, 0.1 * faster);
  }
}

}  // namespace
}  // namespace lattice
