#include "native/image/box_descriptor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include "native/image/turn.h"

namespace lattice {
namespace {

struct Box {
  float x1, y1, x2, y2;
};

using LevelAt = std::function<double(int x, int y)>;

double Waves(int x, int y) {
  return 128 + 60 * std::sin(0.13 * x + 0.002 * y * y) * std::cos(0.09 * y);
}
double Others(int x, int y) { return 128 + 60 * std::sin(0.05 * x * y / 40.0) * std::cos(0.2 * x); }

Image Planes(int width, int height, const LevelAt& level) {
  Image image{width, height, {}, PixelLayout::kYuv420};
  const PackedPlanes planes = StoredPlanes(image);
  image.data.assign(planes.bytes, 128);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image.data[static_cast<size_t>(y * planes.pitches[0] + x)] =
          static_cast<uint8_t>(level(x, y));
    }
  }
  return image;
}

BoxDescriptor Of(const Image& image, const Box& box) {
  return DescriptorOf(DescribedPictureOf(image), box.x1, box.y1, box.x2, box.y2);
}

// Mean difference of the bytes.
double Distance(const BoxDescriptor& one, const BoxDescriptor& other) {
  double sum = 0;
  for (size_t i = 0; i < one.size(); ++i) sum += std::abs(one[i] - other[i]);
  return sum / static_cast<double>(one.size());
}

// The definition in src/cameras/stays.ts, step by step, of a picture of `width` x `height` that is
// not reduced.
std::vector<double> Reference(const LevelAt& level, int width, int height, const Box& box) {
  const auto first = [](double at, int size) {
    return std::clamp(static_cast<int>(std::floor(at)), 0, size - 1);
  };
  const auto cell = [&](int column, int row) {
    const auto edge = [](double from, double to, int i) { return from + (to - from) * i / 24; };
    const int left = first(edge(box.x1, box.x2, column), width);
    const int top = first(edge(box.y1, box.y2, row), height);
    const double right = std::min<double>(edge(box.x1, box.x2, column + 1), width);
    const double bottom = std::min<double>(edge(box.y1, box.y2, row + 1), height);
    double sum = 0;
    int pixels = 0;
    for (int y = top; y == top || y < bottom; ++y) {
      for (int x = left; x == left || x < right; ++x, ++pixels) {
        sum += static_cast<uint8_t>(level(x, y));
      }
    }
    return sum / pixels;
  };
  std::vector<double> sums(64);
  for (int y = 1; y < 23; ++y) {
    for (int x = 1; x < 23; ++x) {
      const double across = cell(x + 1, y) - cell(x - 1, y);
      const double down = cell(x, y + 1) - cell(x, y - 1);
      // The little that is added makes up for what rounding takes from multiples of 45.
      const double degrees = std::atan2(down, across) * 180 / std::numbers::pi + 360 + 1e-9;
      const int orientation = static_cast<int>(std::fmod(degrees, 180) / 45);
      sums[static_cast<size_t>(16 * (y / 6) + 4 * (x / 6) + orientation)] +=
          std::hypot(across, down);
    }
  }
  double squares = 0;
  for (const double sum : sums) squares += sum * sum;
  for (double& sum : sums) sum = 255 * std::min(1.0, 3 * sum / (std::sqrt(squares) + 20));
  return sums;
}

TEST(BoxDescriptor, IsAsItIsDefined) {
  for (const Box& box : {Box{20.5F, 30.2F, 141, 105}, Box{300.4F, 200.7F, 333.3F, 221.2F},
                         Box{620, 350, 640, 360}, Box{0, 0, 640, 360}, Box{7, 9, 12, 15}}) {
    for (const LevelAt& level : {LevelAt(Waves), LevelAt(Others)}) {
      const BoxDescriptor found = Of(Planes(640, 360, level), box);
      const std::vector<double> wanted = Reference(level, 640, 360, box);
      for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 0.6) << i;
      EXPECT_GT(*std::max_element(found.begin(), found.end()), 100);
    }
  }
}

TEST(BoxDescriptor, OfALargePictureIsThatOfTheReducedOne) {
  const auto large = [](int x, int y) { return Waves(x / 3, y / 3); };
  const BoxDescriptor small = Of(Planes(1280, 720, Waves), {100, 90, 220, 160});
  EXPECT_EQ(Of(Planes(3840, 2160, large), {300, 270, 660, 480}), small);
  EXPECT_EQ(DescribedPictureOf(Planes(3841, 2160, large)).luma.width, 961);
  EXPECT_EQ(DescribedPictureOf(Planes(1280, 720, Waves)).luma.levels.size(), 1280U * 720);
}

TEST(BoxDescriptor, PlanesAndRgbOfGreyAreOne) {
  Image rgb{320, 200, {}};
  for (int y = 0; y < 200; ++y) {
    for (int x = 0; x < 320; ++x) {
      rgb.data.insert(rgb.data.end(), 3, static_cast<uint8_t>(Waves(x, y)));
    }
  }
  const Box box{10, 20, 130, 90};
  EXPECT_EQ(Of(rgb, box), Of(Planes(320, 200, Waves), box));
}

TEST(BoxDescriptor, IsThatOfTheShownPicture) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    Image turned = Planes(320, 200, Waves);
    turned.orientation = orientation;
    if (orientation > 4) std::swap(turned.width, turned.height);
    const LevelAt shown = [&](int x, int y) {
      const StoredPoint at = Turn::Of(orientation).At(x, y, turned.width, turned.height);
      return Waves(at.x, at.y);
    };
    const Box box{30, 40, 150, 130};
    EXPECT_EQ(Of(turned, box), Of(Planes(turned.width, turned.height, shown), box)) << orientation;
  }
}

TEST(BoxDescriptor, OneVehicleIsNearerToItselfThanToAnother) {
  const auto dim = [](int x, int y) { return 0.5 * Waves(x, y) + 30; };
  const BoxDescriptor self = Of(Planes(640, 360, Waves), {100, 90, 220, 160});
  EXPECT_LT(Distance(Of(Planes(640, 360, dim), {100, 90, 220, 160}), self), 4);
  EXPECT_LT(Distance(Of(Planes(640, 360, Waves), {101.5F, 88.8F, 218.6F, 161.4F}), self), 20);
  EXPECT_GT(Distance(Of(Planes(640, 360, Others), {100, 90, 220, 160}), self), 40);
}

TEST(BoxDescriptor, OfOneColourIsEmptyAndTakesAnyNumbers) {
  const Image grey = Planes(64, 48, [](int, int) { return 90; });
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();
  for (const Box& box : {Box{0, 0, 64, 48}, Box{-5e9F, -3, 5e9F, 900}, Box{20, 20, 10, 10},
                         Box{kNoNumber, 0, kInfinity, 10}, Box{-kInfinity, 70, kInfinity, 80}}) {
    EXPECT_EQ(Of(grey, box), BoxDescriptor{});
  }
  EXPECT_EQ(Of(Planes(1, 1, Waves), {0, 0, 1, 1}), BoxDescriptor{});
}

}  // namespace
}  // namespace lattice
