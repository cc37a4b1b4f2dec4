#include "native/cpu/rectangles.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "native/letterbox/letterbox.h"

namespace lattice {
namespace {

ModelInfo WithInput(int width, int height, int stride = 32) {
  ModelInfo info;
  info.input_width = width;
  info.input_height = height;
  info.stride = stride;
  return info;
}

TEST(RectanglesTest, TheUsualOnesAreSmallerThanTheInputAndTheSmallestComesFirst) {
  for (const auto& info : {WithInput(640, 640), WithInput(320, 320), WithInput(1280, 1280),
                           WithInput(640, 384), WithInput(64, 32), WithInput(640, 640, 64)}) {
    const auto sizes = UsualRectangles(info);
    EXPECT_EQ(sizes, SmallestFirst(sizes));
    for (const InputSize& size : sizes) {
      EXPECT_LT(size.area(), InputSize(info.input_width, info.input_height).area());
      EXPECT_LE(size.width, info.input_width);
      EXPECT_LE(size.height, info.input_height);
      EXPECT_EQ(size.width % info.stride, 0);
      EXPECT_EQ(size.height % info.stride, 0);
    }
  }
  EXPECT_TRUE(UsualRectangles(WithInput(32, 32)).empty());
}

TEST(RectanglesTest, PicturesOfCamerasFindOneOfTheirShape) {
  const auto sizes = UsualRectangles(WithInput(640, 640));
  const InputSize pictures[] = {{1920, 1080}, {1280, 720},  {3840, 2160}, {1200, 1000},
                                {6000, 4000}, {4032, 3024}, {1280, 1024}, {2000, 1000}};
  for (const auto& [width, height] : pictures) {
    for (const auto& [w, h] : {InputSize{width, height}, InputSize{height, width}}) {
      const auto held = ComputeLetterbox(w, h, 640, 640);
      const auto fits = [&](const InputSize& size) {
        return held.resized_width <= size.width && held.resized_height <= size.height;
      };
      const auto size = std::find_if(sizes.begin(), sizes.end(), fits);
      ASSERT_NE(size, sizes.end()) << w << " x " << h;
      EXPECT_LT(size->width - held.resized_width, 32) << w << " x " << h;
      EXPECT_LT(size->height - held.resized_height, 32) << w << " x " << h;
    }
  }
}

}  // namespace
}  // namespace lattice
