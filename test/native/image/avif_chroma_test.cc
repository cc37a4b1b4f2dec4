#include "native/image/avif_chroma.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <utility>

namespace lattice {
namespace {

struct Ycbcr {
  double y = 128, cb = 0, cr = 0;
};

uint8_t Byte(double value) {
  return static_cast<uint8_t>(std::clamp(std::lround(value), 0L, 255L));
}

// Full-range BT.601, as a decoder turns it into RGB.
void Store(const Ycbcr& colour, uint8_t* rgb) {
  rgb[0] = Byte(colour.y + 1.402 * colour.cr);
  rgb[1] = Byte(colour.y - 0.344136 * colour.cb - 0.714136 * colour.cr);
  rgb[2] = Byte(colour.y + 1.772 * colour.cb);
}

// `colour` is given the pixel for the luma, and the block for the chroma.
Image Repeated(int width, int height, const std::function<double(int, int)>& luma,
               const std::function<Ycbcr(int, int)>& chroma) {
  Image image{width, height, {}};
  image.data.resize(static_cast<size_t>(3 * width * height));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      Ycbcr colour = chroma(x / 2, y / 2);
      colour.y = luma(x, y);
      Store(colour, &image.data[static_cast<size_t>(3 * (y * width + x))]);
    }
  }
  return image;
}

AvifProperties Halved() {
  AvifProperties properties;
  properties.halved_chroma = true;
  properties.matrix = kMatrixBt601;
  return properties;
}

Image Interpolated(Image image, const AvifProperties& properties = Halved()) {
  InterpolateRepeatedChroma(properties, &image);
  return image;
}

int LargestDifference(const Image& a, const Image& b) {
  int largest = 0;
  for (size_t i = 0; i < a.data.size(); ++i) {
    largest = std::max(largest, std::abs(a.data[i] - b.data.at(i)));
  }
  return largest;
}

double Mid(int, int) { return 128; }

Image RedEdge(int width, int height, double cr) {
  return Repeated(width, height, Mid, [&](int x, int) { return Ycbcr{0, 0, x == 0 ? 0 : cr}; });
}

std::vector<int> Reds(const Image& image, int y = 0) {
  std::vector<int> reds;
  for (int x = 0; x < image.width; ++x) {
    reds.push_back(image.data[static_cast<size_t>(3 * (y * image.width + x))]);
  }
  return reds;
}

constexpr std::pair<int, int> kSizes[] = {{1, 1}, {1, 2}, {2, 1},  {2, 2}, {3, 1},
                                          {1, 5}, {5, 3}, {16, 9}, {7, 8}, {20, 20}};

TEST(AvifChroma, GreyPicturesStayAsTheyAre) {
  std::mt19937 random(3);
  AvifProperties rough = Halved();
  rough.eight_bit = false;
  for (const auto& [width, height] : kSizes) {
    const Image grey = Repeated(
        width, height, [&](int, int) { return static_cast<double>(random() % 256); },
        [](int, int) { return Ycbcr{}; });
    EXPECT_EQ(Interpolated(grey).data, grey.data) << width << " x " << height;
    EXPECT_EQ(Interpolated(grey, rough).data, grey.data) << width << " x " << height;
  }
}

TEST(AvifChroma, OneColourStaysWithinALevel) {
  std::mt19937 random(4);
  for (int round = 0; round < 500; ++round) {
    const auto& [width, height] = kSizes[static_cast<size_t>(round) % std::size(kSizes)];
    Image image{width, height, {}};
    const auto level = [&] { return static_cast<uint8_t>(1 + random() % 254); };
    const uint8_t rgb[] = {level(), level(), level()};
    for (int i = 0; i < width * height; ++i) {
      image.data.insert(image.data.end(), std::begin(rgb), std::end(rgb));
    }
    for (const int matrix : {kMatrixBt601, kMatrixBt709, kMatrixUnspecified, kMatrixBt470Bg}) {
      for (const bool full_range : {true, false}) {
        AvifProperties properties = Halved();
        properties.matrix = matrix;
        properties.full_range = full_range;
        EXPECT_LE(LargestDifference(Interpolated(image, properties), image), full_range ? 1 : 0)
            << int{rgb[0]} << ' ' << int{rgb[1]} << ' ' << int{rgb[2]} << ", matrix " << matrix;
      }
    }
  }
}

// 12 and 4 sixteenths on a row whose neighbours are like it: 0, 8, 24 and 32 of a Cr of 32.
TEST(AvifChroma, WeightsAlongARowAndAColumn) {
  EXPECT_EQ(Reds(RedEdge(4, 1, 32)), (std::vector<int>{128, 128, 173, 173}));
  EXPECT_EQ(Reds(Interpolated(RedEdge(4, 1, 32))), (std::vector<int>{128, 139, 162, 173}));
  const Image column = Interpolated(Repeated(1, 4, Mid, [](int, int y) {
    return Ycbcr{0, 0, y == 0 ? 0.0 : 32.0};
  }));
  EXPECT_EQ((std::vector<int>{column.data[0], column.data[3], column.data[6], column.data[9]}),
            (std::vector<int>{128, 139, 162, 173}));
}

// A Cr of 32 in the last of four blocks: 32 times 1, 3, 3 and 9 sixteenths in the middle.
TEST(AvifChroma, WeightsWhereFourBlocksMeet) {
  const Image image = Interpolated(Repeated(4, 4, Mid, [](int x, int y) {
    return Ycbcr{0, 0, x == 1 && y == 1 ? 32.0 : 0.0};
  }));
  EXPECT_EQ(Reds(image, 1)[1], 131);
  EXPECT_EQ(Reds(image, 1)[2], 136);
  EXPECT_EQ(Reds(image, 2)[1], 136);
  EXPECT_EQ(Reds(image, 2)[2], 153);
  EXPECT_EQ(Reds(image, 0)[0], 128);
  EXPECT_EQ(Reds(image, 3)[3], 173);
}

TEST(AvifChroma, EdgesRiseWithoutOvershoot) {
  for (const double cr : {4.0, 17.0, 60.0, 85.0}) {
    for (const bool eight_bit : {true, false}) {
      AvifProperties properties = Halved();
      properties.eight_bit = eight_bit;
      const std::vector<int> before = Reds(RedEdge(9, 5, cr), 2);
      const std::vector<int> after = Reds(Interpolated(RedEdge(9, 5, cr), properties), 2);
      EXPECT_TRUE(std::is_sorted(after.begin(), after.end())) << cr;
      EXPECT_NEAR(after.front(), before.front(), 1);
      EXPECT_NEAR(after.back(), before.back(), 1);
    }
  }
}

TEST(AvifChroma, LumaKeepsItsDetail) {
  std::mt19937 random(5);
  const auto noise = [&](int, int) { return 100.0 + static_cast<double>(random() % 56); };
  const Image image = Repeated(18, 11, noise, [](int x, int y) {
    return Ycbcr{0, 6.0 * x - 24, 20 - 8.0 * y};
  });
  const Image after = Interpolated(image);
  for (size_t i = 0; i < image.data.size(); i += 3) {
    const auto luma = [i](const Image& of) {
      return 0.299 * of.data[i] + 0.587 * of.data[i + 1] + 0.114 * of.data[i + 2];
    };
    EXPECT_NEAR(luma(after), luma(image), 1.0);
  }
}

// Saturated pixels lost what was above white; their neighbours in the block still have the hue.
TEST(AvifChroma, ChannelsCutOffDoNotBleedIntoTheirBlock) {
  const Image image = Repeated(
      12, 12, [](int x, int y) { return (x + y) % 2 == 0 ? 230.0 : 120.0; },
      [](int, int) {
        return Ycbcr{0, -40, 60};
      });
  ASSERT_EQ(image.data[0], 255);
  EXPECT_LE(LargestDifference(Interpolated(image), image), 2);
}

TEST(AvifChroma, LeftAloneWhereTheBlocksCannotBeKnown) {
  const auto unchanged = [](int width, int height, const auto& change) {
    AvifProperties properties = Halved();
    change(&properties);
    const Image image = RedEdge(width, height, 60);
    return Interpolated(image, properties).data == image.data;
  };
  EXPECT_FALSE(unchanged(8, 6, [](AvifProperties*) {}));
  EXPECT_TRUE(unchanged(8, 6, [](AvifProperties* p) { p->halved_chroma = false; }));
  EXPECT_TRUE(unchanged(8, 6, [](AvifProperties* p) { p->cropped = true; }));
  EXPECT_TRUE(unchanged(8, 6, [](AvifProperties* p) { p->matrix.reset(); }));
  EXPECT_TRUE(unchanged(8, 6, [](AvifProperties* p) { p->matrix = 0; }));
  EXPECT_TRUE(unchanged(8, 6, [](AvifProperties* p) { p->matrix = 9; }));
  EXPECT_TRUE(unchanged(7, 6, [](AvifProperties* p) { p->turned = true; }));
  EXPECT_TRUE(unchanged(8, 5, [](AvifProperties* p) { p->turned = true; }));
  EXPECT_FALSE(unchanged(8, 6, [](AvifProperties* p) { p->turned = true; }));
}

}  // namespace
}  // namespace lattice
