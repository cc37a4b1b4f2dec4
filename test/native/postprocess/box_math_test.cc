#include "native/postprocess/box_math.h"

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

}  // namespace
}  // namespace lattice
