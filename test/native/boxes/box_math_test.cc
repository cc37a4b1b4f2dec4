#include "native/boxes/box_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lattice {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(BoxMath, CornersComeFromCentreAndSize) {
  const Box box = CornersOf(10, 20, 4, 6);
  EXPECT_EQ(box.x1, 8);
  EXPECT_EQ(box.y1, 17);
  EXPECT_EQ(box.x2, 12);
  EXPECT_EQ(box.y2, 23);
}

TEST(BoxMath, IntersectionOverUnion) {
  const Box unit = {0, 0, 2, 2};
  EXPECT_FLOAT_EQ(IntersectionOverUnion(unit, unit), 1.0f);
  EXPECT_FLOAT_EQ(IntersectionOverUnion(unit, {1, 0, 3, 2}), 1.0f / 3.0f);
  EXPECT_FLOAT_EQ(IntersectionOverUnion(unit, {1, 1, 3, 3}), 1.0f / 7.0f);
  EXPECT_EQ(IntersectionOverUnion(unit, {2, 0, 4, 2}), 0.0f);  // touching
  EXPECT_EQ(IntersectionOverUnion(unit, {5, 5, 6, 6}), 0.0f);
  EXPECT_EQ(IntersectionOverUnion({1, 1, 1, 1}, {1, 1, 1, 1}), 0.0f);  // both empty
}

TEST(BoxMath, SoundBoxesAreFiniteAndInOrder) {
  EXPECT_TRUE(IsSound({0, 0, 1, 1}));
  EXPECT_TRUE(IsSound({1, 1, 1, 1}));
  EXPECT_FALSE(IsSound({0, 0, NAN, 1}));
  EXPECT_FALSE(IsSound({-kInfinity, 0, 1, 1}));
  EXPECT_FALSE(IsSound({2, 0, 1, 1}));
}

TEST(BoxMath, ToSourceUndoesPaddingAndScaleAndClamps) {
  EXPECT_EQ(ToSource(150, 140, 0.5f, 1'000), 20);
  EXPECT_EQ(ToSource(100, 140, 0.5f, 1'000), 0);
  EXPECT_EQ(ToSource(5'000, 140, 0.5f, 1'000), 1'000);
}

TEST(LogitFloorTest, LiesBelowEveryLogitThatPasses) {
  for (const float confidence : {1e-7f, 1e-6f, 1e-3f, 0.01f, 0.25f, 0.5f, 0.9f, 0.999f, 0.9999f,
                                 std::nextafter(1.0f, 0.0f)}) {
    const float floor = LogitFloor(confidence);
    for (float logit = -40; logit < 40; logit += 0.001f) {
      if (Sigmoid(logit) > confidence) {
        ASSERT_GT(logit, floor) << confidence;
      }
    }
  }
  // Few logits are looked at in vain.
  EXPECT_LT(Sigmoid(LogitFloor(0.25f)), 0.25f);
  EXPECT_GT(Sigmoid(LogitFloor(0.25f)), 0.2497f);
}

TEST(LogitFloorTest, AtTheEnds) {
  EXPECT_EQ(LogitFloor(0), -INFINITY);
  EXPECT_EQ(LogitFloor(2), INFINITY);
  EXPECT_EQ(LogitFloor(NAN), INFINITY);
}

TEST(SigmoidTest, HoldsForInfinity) {
  EXPECT_EQ(Sigmoid(INFINITY), 1);
  EXPECT_EQ(Sigmoid(-INFINITY), 0);
  EXPECT_EQ(Sigmoid(0), 0.5f);
}

TEST(ExpectedDistanceTest, IsTheMeanOfTheBins) {
  float logits[kDflBins] = {};
  EXPECT_FLOAT_EQ(ExpectedDistance(logits), 7.5f);
  logits[11] = 1000;  // far beyond what a float's exponential holds
  EXPECT_FLOAT_EQ(ExpectedDistance(logits), 11);
  logits[12] = 1000;
  EXPECT_FLOAT_EQ(ExpectedDistance(logits), 11.5f);
  logits[0] = NAN;
  EXPECT_FALSE(IsFinite(ExpectedDistance(logits)));
}

TEST(BoxAroundTest, ReachesFromTheCentreOfTheCell) {
  const float distances[4] = {1, 2, 3, 4};
  const Box box = BoxAround(5, 7, distances, 8);
  EXPECT_EQ(box.x1, 36);
  EXPECT_EQ(box.y1, 44);
  EXPECT_EQ(box.x2, 68);
  EXPECT_EQ(box.y2, 92);
}

}  // namespace
}  // namespace lattice
