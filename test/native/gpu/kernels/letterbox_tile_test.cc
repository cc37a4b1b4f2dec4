#include "native/gpu/kernels/letterbox_tile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <random>
#include <vector>

#include "test/native/gpu/kernels/host_block.h"
#include "test/native/gpu/kernels/random_pictures.h"

namespace lattice {

void PrintTo(PixelLayout layout, std::ostream* out) {
  *out << (layout == PixelLayout::kRgb ? "RGB" : "4:2:0");
}

namespace {

// The output of the kernel for one image, block after block. Pixels that no thread writes stay NaN;
// one that two write is a failure.
std::vector<float> TiledInput(const DeviceImage& image, int width, int height, uint32_t seed) {
  const auto plane_size = static_cast<size_t>(width) * static_cast<size_t>(height);
  std::vector<float> input(3 * plane_size, NAN);
  const auto sink = [&](const PixelRun& run) {
    ASSERT_TRUE(run.down || run.x % kRunPixels == 0);
    for (int i = 0; i < kRunPixels; ++i) {
      const int x = run.down ? run.x : run.x + i;
      const int y = run.down ? run.y + i : run.y;
      if (y >= height) break;
      for (size_t plane = 0; plane < 3; ++plane) {
        float& value = input.at(plane * plane_size + static_cast<size_t>(y * width + x));
        ASSERT_TRUE(std::isnan(value));
        value = Normalised(run.levels[plane][i]);
      }
    }
  };
  for (int y = 0; y < height; y += kTileSide) {
    for (int x = 0; x < width; x += kTileSide) {
      TileTaps taps;
      FillWithRubbish(&taps);
      LetterboxTile(HostBlock(kTileThreads, seed), image, width, height, x, y, &taps, sink);
    }
  }
  return input;
}

void ExpectTheCpusInput(PixelLayout layout, int source_width, int source_height, int width,
                        int height, std::mt19937& random) {
  const RandomPicture picture = MakeRandomPicture(layout, source_width, source_height, random);
  const LetterboxTransform t = ComputeLetterbox(source_width, source_height, width, height);
  std::vector<float> expected(static_cast<size_t>(3 * width * height));
  Letterbox(picture.image, t, width, height, expected.data());
  const uint8_t* const planes[3] = {picture.planes[0].data(), picture.planes[1].data(),
                                    picture.planes[2].data()};
  EXPECT_EQ(TiledInput(DescribePicture(picture, planes, t), width, height, random()), expected)
      << source_width << " x " << source_height << " into " << width << " x " << height;
}

class EveryLayout : public testing::TestWithParam<PixelLayout> {};

TEST_P(EveryLayout, RandomSizesGiveTheCpusLevels) {
  std::mt19937 random(1);
  for (int round = 0; round < 150; ++round) {
    const auto side = [&](uint32_t most) { return static_cast<int>(1 + random() % most); };
    const uint32_t most = round % 3 == 0 ? 9 : 400;
    ExpectTheCpusInput(GetParam(), side(most), side(most), 8 * side(40), side(200), random);
  }
}

TEST_P(EveryLayout, OddShapesGiveTheCpusLevels) {
  std::mt19937 random(2);
  const int sizes[][2] = {{1, 1},     {2, 2},     {4, 4},     {5, 5},     {1, 1000}, {1000, 1},
                          {3000, 2},  {640, 640}, {640, 427}, {320, 320}, {641, 3},  {3, 641},
                          {1920, 81}, {80, 1080}, {639, 480}, {1281, 721}};
  for (const auto& size : sizes) ExpectTheCpusInput(GetParam(), size[0], size[1], 640, 640, random);
  ExpectTheCpusInput(GetParam(), 1920, 1080, 640, 384, random);
}

INSTANTIATE_TEST_SUITE_P(LetterboxTile, EveryLayout,
                         testing::Values(PixelLayout::kRgb, PixelLayout::kYuv420),
                         [](const auto& layout) {
                           return layout.param == PixelLayout::kRgb ? "Rgb" : "Yuv420";
                         });

TEST(DescribeImage, GivesTheInputOfTheImage) {
  std::mt19937 random(4);
  for (int round = 0; round < 120; ++round) {
    const auto side = [&](uint32_t most) { return static_cast<int>(1 + random() % most); };
    const int width = 8 * side(20);
    const int height = side(100);
    Image image{side(200), side(200), {}};
    if (round % 9 > 0) {
      image.layout = PixelLayout::kYuv420;
      image.orientation = round % 9;
    }
    image.data.resize(StoredPlanes(image).bytes);
    for (uint8_t& level : image.data) level = static_cast<uint8_t>(random());
    const LetterboxTransform t = ComputeLetterbox(image.width, image.height, width, height);
    std::vector<float> expected(static_cast<size_t>(3 * width * height));
    Letterbox(image, t, width, height, expected.data());
    const DeviceImage described = DescribeImage(image.data.data(), image, t);
    ASSERT_EQ(TiledInput(described, width, height, random()), expected)
        << image.width << " x " << image.height << ", orientation " << image.orientation;
  }
}

TEST(LetterboxTile, ReadsOnePixelForAnotherWhereNothingIsScaled) {
  std::mt19937 random(5);
  const RandomPicture picture = MakeRandomPicture(PixelLayout::kRgb, 40, 40, random);
  const uint8_t* const planes[3] = {picture.planes[0].data()};
  const DeviceImage image = DescribePicture(picture, planes, ComputeLetterbox(40, 40, 40, 40));
  TileTaps taps;
  for (int thread = 0; thread < kTileThreads; ++thread) FillTaps(image, 0, 0, thread, &taps);
  int reads = 0;
  const auto pixel_at = [&](const YuvRow& row, int x) {
    ++reads;
    return RgbLevels{row.luma[3 * x], row.luma[3 * x + 1], row.luma[3 * x + 2]};
  };
  PixelRun run{};
  SampleRun<true>(pixel_at, taps, kTileSide + 5, &run);
  EXPECT_EQ(reads, kRunPixels);
  for (int i = 0; i < kRunPixels; ++i) {
    EXPECT_EQ(run.levels[1][i],
              picture.image.data[static_cast<size_t>(3 * ((8 + i) * 40 + 5) + 1)]);
  }
}

TEST(LetterboxTile, NoPictureIsGrey) {
  for (const float value : TiledInput(DeviceImage{}, 136, 20, 3)) {
    ASSERT_EQ(value, Normalised(kPadGrey));
  }
}

}  // namespace
}  // namespace lattice
