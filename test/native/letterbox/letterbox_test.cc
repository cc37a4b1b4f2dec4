#include "native/letterbox/letterbox.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "native/letterbox/letterbox_rows.h"
#include "native/letterbox/letterbox_sample.h"

namespace lattice {
namespace {

constexpr float kGrey = 114.0f / 255.0f;

Image RandomImage(int width, int height, uint32_t seed) {
  Image image{width, height, {}};
  image.data.resize(static_cast<size_t>(3 * width * height));
  std::mt19937 random(seed);
  for (uint8_t& level : image.data) level = static_cast<uint8_t>(random());
  return image;
}

struct Input {
  int width, height;
  std::vector<float> values;

  float At(int plane, int y, int x) const {
    return values.at(static_cast<size_t>((plane * height + y) * width + x));
  }
};

Input Placed(const Image& image, const LetterboxTransform& transform, int width, int height) {
  Input input{width, height, std::vector<float>(static_cast<size_t>(3 * width * height), NAN)};
  Letterbox(image, transform, width, height, input.values.data());
  return input;
}

Input Boxed(const Image& image, int width, int height) {
  return Placed(image, ComputeLetterbox(image.width, image.height, width, height), width, height);
}

int Level(const Image& image, int x, int y, int plane) {
  const int row = ClampIndex(y, image.height);
  const int column = ClampIndex(x, image.width);
  return image.data[static_cast<size_t>(3 * (row * image.width + column) + plane)];
}

// One pixel at a time by the shared arithmetic: what a CUDA thread does.
float Sampled(const Image& image, const LetterboxTransform& t, int plane, int y, int x) {
  const int column = x - t.pad_left;
  const int row = y - t.pad_top;
  if (column < 0 || column >= t.resized_width || row < 0 || row >= t.resized_height) return kGrey;
  if (t.resized_width == image.width && t.resized_height == image.height) {
    return Normalised(Level(image, column, row, plane));
  }
  const Tap across =
      ColumnTap(column, static_cast<double>(image.width) / t.resized_width, image.width);
  const Tap down = RowTap(row, static_cast<double>(image.height) / t.resized_height);
  const auto blend = [&](int source_row) {
    return BlendColumns(Level(image, across.first, source_row, plane),
                        Level(image, across.first + 1, source_row, plane), across);
  };
  return Normalised(
      BlendRows(blend(down.first), blend(down.first + 1), down.weight0, down.weight1));
}

TEST(ComputeLetterbox, FollowsTheReferencesRounding) {
  const LetterboxTransform wide = ComputeLetterbox(1920, 1080, 640, 640);
  EXPECT_FLOAT_EQ(wide.scale_x, 1.0f / 3.0f);
  EXPECT_EQ(wide.resized_width, 640);
  EXPECT_EQ(wide.resized_height, 360);
  EXPECT_EQ(wide.pad_left, 0);
  EXPECT_EQ(wide.pad_top, 140);
  // An odd rest: the smaller half is in front.
  const LetterboxTransform odd = ComputeLetterbox(640, 427, 640, 640);
  EXPECT_EQ(odd.resized_height, 427);
  EXPECT_EQ(odd.pad_top, 106);
  // Halves round to even: 480 x 313 -> 640 x 417.33, 1000 x 999 at 0.5 -> 499.5 -> 500.
  EXPECT_EQ(ComputeLetterbox(480, 313, 640, 640).resized_height, 417);
  EXPECT_EQ(ComputeLetterbox(1000, 999, 500, 500).resized_height, 500);
  EXPECT_EQ(ComputeLetterbox(1000, 997, 500, 500).resized_height, 498);
}

TEST(ComputeLetterbox, ThinPicturesKeepOnePixel) {
  const LetterboxTransform t = ComputeLetterbox(10'000, 1, 640, 640);
  EXPECT_EQ(t.resized_height, 1);
  EXPECT_EQ(ComputeLetterbox(1, 10'000, 640, 640).resized_width, 1);
}

TEST(Letterbox, FillsPaddingWithGrey) {
  const Input input = Boxed(RandomImage(8, 4, 1), 16, 16);
  EXPECT_EQ(input.At(0, 3, 5), kGrey);
  EXPECT_EQ(input.At(2, 12, 15), kGrey);
  const Input tall = Boxed(RandomImage(4, 8, 1), 16, 16);
  EXPECT_EQ(tall.At(1, 5, 3), kGrey);
  EXPECT_EQ(tall.At(1, 5, 12), kGrey);
}

TEST(Letterbox, SameSizeIsACopy) {
  const Image image = RandomImage(37, 21, 2);
  const Input input = Boxed(image, 37, 21);
  for (int plane = 0; plane < 3; ++plane) {
    for (int y = 0; y < 21; ++y) {
      for (int x = 0; x < 37; ++x) {
        ASSERT_EQ(input.At(plane, y, x), static_cast<float>(Level(image, x, y, plane)) / 255.0f);
      }
    }
  }
}

// Values of OpenCV 5.0, cv2.resize with INTER_LINEAR, for the same source.
TEST(Letterbox, MatchesOpenCv) {
  Image image{5, 4, {}};
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 5; ++x) {
      image.data.insert(image.data.end(), 3,
                        static_cast<uint8_t>(37 * x * x + 91 * y + 13 * x * y));
    }
  }
  const int larger[6][8] = {
      {0, 16, 44, 113, 126, 81, 79, 80},        {46, 64, 88, 82, 98, 138, 147, 152},
      {106, 129, 150, 69, 78, 176, 196, 204},   {167, 193, 220, 144, 105, 102, 117, 129},
      {100, 130, 170, 180, 172, 148, 166, 182}, {17, 50, 102, 196, 233, 213, 235, 253}};
  const int smaller[2][3] = {{60, 79, 148}, {123, 185, 169}};
  LetterboxTransform t = ComputeLetterbox(5, 4, 8, 6);
  ASSERT_EQ(t.resized_width, 8);
  ASSERT_EQ(t.resized_height, 6);
  std::vector<float> out(3 * 8 * 6);
  Letterbox(image, t, 8, 6, out.data());
  for (size_t i = 0; i < 48; ++i) {
    EXPECT_EQ(out[i], static_cast<float>(larger[i / 8][i % 8]) / 255.0f) << i;
  }
  t = ComputeLetterbox(5, 4, 3, 2);
  ASSERT_EQ(t.resized_width, 2);
  t.resized_width = 3;
  t.pad_left = 0;
  Letterbox(image, t, 3, 2, out.data());
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(out[i], static_cast<float>(smaller[i / 3][i % 3]) / 255.0f) << i;
  }
}

TEST(Letterbox, EveryPixelIsTheSharedSample) {
  std::mt19937 random(3);
  for (int round = 0; round < 120; ++round) {
    const auto side = [&](uint32_t most) { return static_cast<int>(1 + random() % most); };
    const Image image = RandomImage(side(90), side(90), random());
    const int width = side(70);
    const int height = side(70);
    const LetterboxTransform t = (round % 2 == 0 ? ComputeLetterbox : ComputeStretch)(
        image.width, image.height, width, height);
    const Input input = Placed(image, t, width, height);
    for (int plane = 0; plane < 3; ++plane) {
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
          ASSERT_EQ(input.At(plane, y, x), Sampled(image, t, plane, y, x))
              << image.width << " x " << image.height << " into " << width << " x " << height
              << " at " << x << ", " << y;
        }
      }
    }
  }
}

TEST(Letterbox, BytesAreTheLevelsOfTheFloats) {
  std::mt19937 random(6);
  for (int round = 0; round < 60; ++round) {
    const auto side = [&](uint32_t most) { return static_cast<int>(1 + random() % most); };
    const Image image = RandomImage(side(90), side(90), random());
    const bool unscaled = round % 3 == 0;
    const int width = unscaled ? image.width + side(9) : side(70);
    const int height = unscaled ? image.height : side(70);
    const Input input = Boxed(image, width, height);
    std::vector<uint8_t> levels(input.values.size());
    Letterbox(image, ComputeLetterbox(image.width, image.height, width, height), width, height,
              levels.data());
    for (size_t i = 0; i < levels.size(); ++i) {
      ASSERT_EQ(Normalised(levels[i]), input.values[i])
          << image.width << " x " << image.height << " into " << width << " x " << height;
    }
  }
}

TEST(ComputeStretch, FillsTheInputAndScalesEachSide) {
  const LetterboxTransform t = ComputeStretch(1920, 1080, 640, 480);
  EXPECT_EQ(t.resized_width, 640);
  EXPECT_EQ(t.resized_height, 480);
  EXPECT_EQ(t.pad_left, 0);
  EXPECT_EQ(t.pad_top, 0);
  EXPECT_FLOAT_EQ(640 / t.scale_x, 1920);
  EXPECT_FLOAT_EQ(480 / t.scale_y, 1080);
}

TEST(Letterbox, CornersMapBackToTheSource) {
  std::mt19937 random(4);
  for (int round = 0; round < 500; ++round) {
    const auto width = static_cast<int>(16 + random() % 4'000);
    const auto height = static_cast<int>(16 + random() % 4'000);
    const LetterboxTransform t = ComputeLetterbox(width, height, 640, 640);
    // Rounding moves an edge by half an input pixel at most, and the padding by as much.
    const float tolerance = 1.0f / t.scale_x + 0.01f;
    const auto left = static_cast<float>(t.pad_left);
    const auto right = static_cast<float>(t.pad_left + t.resized_width);
    const auto bottom = static_cast<float>(t.pad_top + t.resized_height);
    EXPECT_EQ((left - left) / t.scale_x, 0.0f);
    EXPECT_NEAR((right - left) / t.scale_x, static_cast<float>(width), tolerance);
    EXPECT_NEAR((bottom - static_cast<float>(t.pad_top)) / t.scale_y, static_cast<float>(height),
                tolerance);
    EXPECT_GE(t.pad_left, 0);
    EXPECT_GE(t.pad_top, 0);
    EXPECT_LE(t.pad_left + t.resized_width, 640);
    EXPECT_LE(t.pad_top + t.resized_height, 640);
  }
}

TEST(LetterboxRows, EveryLevelIsDividedExactly) {
  std::vector<uint8_t> levels;
  for (int i = 0; i < 256; ++i) levels.insert(levels.end(), 4, static_cast<uint8_t>(i));
  std::vector<float> red(256), green(256), blue(256);
  BestLetterboxRows().to_floats.levels(levels.data(), 256, {red.data(), green.data(), blue.data()});
  for (size_t i = 0; i < 256; ++i) {
    EXPECT_EQ(red[i], static_cast<float>(i) / 255.0f);
    EXPECT_EQ(green[i], red[i]);
    EXPECT_EQ(blue[i], red[i]);
  }
}

// The three rows of `pixels`, one after the other.
template <typename Value>
std::vector<Value> Split(const LetterboxRows& rows, const std::vector<uint8_t>& source, int pixels,
                         bool is_rgb) {
  const auto count = static_cast<size_t>(pixels);
  std::vector<Value> out(3 * count);
  const PlaneRows<Value> to{out.data(), out.data() + count, out.data() + 2 * count};
  if (is_rgb) {
    rows.SplitTo<Value>().rgb(source.data(), static_cast<int64_t>(source.size()), pixels, to);
  } else {
    rows.SplitTo<Value>().levels(source.data(), pixels, to);
  }
  return out;
}

TEST(LetterboxRows, WideInstructionsSplitAsPlainOnes) {
  std::mt19937 random(7);
  for (const int pixels : {1, 7, 8, 9, 15, 16, 31, 32, 33, 65}) {
    for (const bool is_rgb : {false, true}) {
      std::vector<uint8_t> source(static_cast<size_t>((is_rgb ? 3 : 4) * pixels));
      for (uint8_t& level : source) level = static_cast<uint8_t>(random());
      EXPECT_EQ(Split<float>(BestLetterboxRows(), source, pixels, is_rgb),
                Split<float>(PlainLetterboxRows(), source, pixels, is_rgb));
      EXPECT_EQ(Split<uint8_t>(BestLetterboxRows(), source, pixels, is_rgb),
                Split<uint8_t>(PlainLetterboxRows(), source, pixels, is_rgb));
    }
  }
}

TEST(LetterboxRows, WideInstructionsGiveThePlainBits) {
  std::mt19937 random(5);
  for (const int pixels : {1, 3, 4, 7, 8, 9, 31, 64, 65}) {
    std::vector<int16_t> upper(static_cast<size_t>(4 * pixels));
    std::vector<int16_t> lower(upper.size());
    for (int16_t& value : upper) value = static_cast<int16_t>(random() % 32'641);
    for (int16_t& value : lower) value = static_cast<int16_t>(random() % 32'641);
    const auto weight = static_cast<int>(random() % 2'049);
    std::vector<uint8_t> best(upper.size());
    std::vector<uint8_t> plain(upper.size());
    BestLetterboxRows().blend_rows(upper.data(), lower.data(), weight, 2'048 - weight, pixels,
                                   best.data());
    PlainLetterboxRows().blend_rows(upper.data(), lower.data(), weight, 2'048 - weight, pixels,
                                    plain.data());
    EXPECT_EQ(best, plain) << pixels;
  }
}

}  // namespace
}  // namespace lattice
