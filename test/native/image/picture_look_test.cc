#include "native/image/picture_look.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "native/image/turn.h"

namespace lattice {
namespace {

using LevelAt = std::function<double(double x, double y)>;

// Grey pixels; `level` is asked at shares of the sides.
Image Rgb(int width, int height, const LevelAt& level) {
  Image image{width, height, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const auto value = static_cast<uint8_t>(level((x + 0.5) / width, (y + 0.5) / height));
      image.data.insert(image.data.end(), 3, value);
    }
  }
  return image;
}

Image Planes(int width, int height, const LevelAt& level) {
  Image image{width, height, {}, PixelLayout::kYuv420};
  const PackedPlanes planes = StoredPlanes(image);
  image.data.assign(planes.bytes, 128);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image.data[static_cast<size_t>(y * planes.pitches[0] + x)] =
          static_cast<uint8_t>(level((x + 0.5) / width, (y + 0.5) / height));
    }
  }
  return image;
}

double Waves(double x, double y) { return 128 + 60 * std::sin(130 * x) * std::cos(90 * y); }
double Slow(double x, double y) { return 128 + 60 * std::sin(20 * x) * std::cos(15 * y); }
double Ramp(double x, double y) { return 200 * x + 50 * y; }

TEST(PictureLook, CellsAreAreaMeans) {
  const PictureLook look = LookOf(Rgb(640, 320, Ramp));
  for (int y = 0; y < kLookSide; ++y) {
    for (int x = 0; x < kLookSide; ++x) {
      EXPECT_NEAR(look.grey[static_cast<size_t>(y * kLookSide + x)],
                  Ramp((x + 0.5) / kLookSide, (y + 0.5) / kLookSide), 1.5);
    }
  }
}

TEST(PictureLook, PlanesAndRgbOfGreyAreOne) {
  const PictureLook rgb = LookOf(Rgb(1001, 667, Waves));
  const PictureLook planes = LookOf(Planes(1001, 667, Waves));
  for (size_t cell = 0; cell < rgb.grey.size(); ++cell) {
    EXPECT_NEAR(rgb.grey[cell], planes.grey[cell], 1);
  }
  EXPECT_NEAR(rgb.sharpness, planes.sharpness, 0.01 * rgb.sharpness);
}

TEST(PictureLook, IsThatOfTheShownPicture) {
  const PictureLook stored = LookOf(Planes(640, 480, Ramp));
  for (int orientation = 1; orientation <= 8; ++orientation) {
    Image image = Planes(640, 480, Ramp);
    image.orientation = orientation;
    if (orientation > 4) std::swap(image.width, image.height);
    const PictureLook shown = LookOf(image);
    EXPECT_FLOAT_EQ(shown.sharpness, stored.sharpness);
    for (int y = 0; y < kLookSide; ++y) {
      for (int x = 0; x < kLookSide; ++x) {
        const StoredPoint at = Turn::Of(orientation).At(x, y, kLookSide, kLookSide);
        ASSERT_EQ(shown.grey[static_cast<size_t>(y * kLookSide + x)],
                  stored.grey[static_cast<size_t>(at.y * kLookSide + at.x)]);
      }
    }
  }
}

TEST(PictureLook, SharpnessFallsWithBlurAndNotWithLight) {
  const float sharp = LookOf(Rgb(1280, 720, Waves)).sharpness;
  EXPECT_LT(LookOf(Rgb(1280, 720, Slow)).sharpness, 0.2F * sharp);
  const auto dim = [](double x, double y) { return 0.4 * Waves(x, y) + 10; };
  EXPECT_NEAR(LookOf(Rgb(1280, 720, dim)).sharpness, sharp, 0.1F * sharp);
}

TEST(PictureLook, IsOneForAllSizesOfAPicture) {
  const PictureLook large = LookOf(Planes(3840, 2160, Waves));
  for (const int width : {512, 960, 1280, 1920}) {
    const PictureLook look = LookOf(Planes(width, width * 9 / 16, Waves));
    EXPECT_NEAR(look.sharpness, large.sharpness, 0.1F * large.sharpness) << width;
    for (size_t cell = 0; cell < look.grey.size(); ++cell) {
      EXPECT_NEAR(look.grey[cell], large.grey[cell], 8) << width;
    }
  }
}

TEST(PictureLook, OneColourHasNoSharpness) {
  const auto black = [](double, double) { return 0; };
  const auto white = [](double, double) { return 255; };
  for (const LevelAt& level : {LevelAt(black), LevelAt(white)}) {
    const PictureLook look = LookOf(Rgb(300, 200, level));
    EXPECT_EQ(look.sharpness, 0);
    const auto wanted = static_cast<uint8_t>(level(0, 0));
    EXPECT_TRUE(std::all_of(look.grey.begin(), look.grey.end(),
                            [&](uint8_t each) { return each == wanted; }));
  }
}

TEST(PictureLook, OfEverySize) {
  for (const int width : {1, 2, 3, 31, 33, 257, 5000}) {
    for (const int height : {1, 2, 3, 31, 33, 257, 5000}) {
      if (int64_t{width} * height > 1'000'000) continue;
      const PictureLook look = LookOf(Planes(width, height, Ramp));
      EXPECT_LE(look.grey.front(), look.grey.back() + 1) << width << " x " << height;
      EXPECT_GE(look.sharpness, 0);
    }
  }
  // A sum of 16 bits does not hold the rows of a cell.
  const auto white = [](double, double) { return 255; };
  EXPECT_EQ(LookOf(Planes(2, 100'000, white)).grey[500], 255);
}

}  // namespace
}  // namespace lattice
