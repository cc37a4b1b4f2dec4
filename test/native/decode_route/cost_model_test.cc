#include "native/decode_route/cost_model.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "test/native/decode_route/simulated_devices.h"

namespace lattice::test {
namespace {

TEST(CostModel, FitFindsTheCostBehindNoisySamples) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> part(0.05, 5);
  std::uniform_real_distribution<double> noise(0.97, 1.03);
  for (int round = 0; round < 50; ++round) {
    const DecodeCost truth{part(random), part(random), 0.01 * part(random)};
    std::vector<CostSample> samples;
    for (int i = 0; i < 40; ++i) {
      CostSample sample{part(random) * part(random), 200 * part(random), 0};
      sample.ms = truth.Of(sample.megapixels, sample.kilobytes) * noise(random);
      samples.push_back(sample);
    }
    const DecodeCost fitted = FitCost(samples, {});
    for (const CostSample& sample : samples) {
      EXPECT_NEAR(fitted.Of(sample.megapixels, sample.kilobytes) / sample.ms, 1, 0.08);
    }
  }
}

TEST(CostModel, FitNeedsNoSamplesAndNeverGoesBelowZero) {
  const DecodeCost start{1, 2, 3};
  const DecodeCost same = FitCost({}, start);
  EXPECT_EQ(same.Of(1, 1), start.Of(1, 1));
  const CostSample falling[] = {{1, 100, 9}, {2, 100, 6}, {3, 100, 3}};
  const DecodeCost fitted = FitCost(falling, start);
  EXPECT_GE(fitted.fixed, 0);
  EXPECT_GE(fitted.per_megapixel, 0);
  EXPECT_GE(fitted.per_kilobyte, 0);
  const CostSample one[] = {{2, 300, 7}};
  EXPECT_NEAR(FitCost(one, start).Of(2, 300), 7, 0.1);
}

TEST(CostModel, LearnsEachClassOfFileForItself) {
  CostModel model({0, 1, 0});
  DecodeRequest baseline = PictureOf(1, 1000, 1000, 1000);
  DecodeRequest progressive = baseline;
  progressive.encoded.jpeg.process = 2;
  for (int i = 0; i < 100; ++i) model.Observe(progressive.encoded, 3);
  EXPECT_NEAR(model.PredictMs(progressive.encoded), 3, 0.05);
  EXPECT_NEAR(model.PredictMs(baseline.encoded), 1, 1e-9);
}

TEST(CostModel, ForgetsOneOutlierAndFollowsAChange) {
  CostModel model({0, 1, 0});
  const EncodedImage image = PictureOf(1, 1000, 1000, 1000).encoded;
  model.Observe(image, 1000);
  EXPECT_LT(model.PredictMs(image), 1.4);
  for (int i = 0; i < 60; ++i) model.Observe(image, 5);
  EXPECT_NEAR(model.PredictMs(image), 5, 0.1);
  for (int i = 0; i < 80; ++i) model.Observe(image, 0.5);
  EXPECT_NEAR(model.PredictMs(image), 0.5, 0.05);
}

}  // namespace
}  // namespace lattice::test
