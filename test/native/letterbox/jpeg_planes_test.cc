// A JPEG's planes through the letterbox against its RGB through the letterbox: the same bits.
#include <gtest/gtest.h>

#include <cmath>

#include "native/image/decode.h"
#include "native/letterbox/letterbox.h"
#include "test/native/image/encoded_samples.h"

#ifdef LATTICE_WITH_TURBOJPEG
#include "test/native/letterbox/jpeg_samples.h"
#endif

namespace lattice {
namespace {

#ifdef LATTICE_WITH_TURBOJPEG

namespace fs = std::filesystem;

const fs::path kShared = fs::path(LATTICE_SOURCE_DIR) / ".." / "shared";

std::vector<float> Boxed(const Image& image, int width, int height) {
  std::vector<float> input(static_cast<size_t>(3 * width * height), NAN);
  Letterbox(image, ComputeLetterbox(image.width, image.height, width, height), width, height,
            input.data());
  return input;
}

Result<Image> DecodedPlanes(std::span<const uint8_t> bytes, const DecodeLimits& limits = {}) {
  return Decode(bytes, limits, std::pmr::get_default_resource(), PixelLayout::kYuv420);
}

// Whether the file came as planes. Whatever comes of it comes of it as RGB too.
bool ExpectTheSameInput(std::span<const uint8_t> bytes, int width, int height,
                        const DecodeLimits& limits = {}) {
  const Result<Image> rgb = Decode(bytes, limits);
  const Result<Image> planes = DecodedPlanes(bytes, limits);
  EXPECT_EQ(planes.ok(), rgb.ok());
  EXPECT_EQ(planes.status().code(), rgb.status().code());
  EXPECT_EQ(planes.status().message(), rgb.status().message());
  if (!rgb.ok() || !planes.ok()) return false;
  EXPECT_EQ(planes->width, rgb->width);
  EXPECT_EQ(planes->height, rgb->height);
  // EXPECT_EQ would print millions of numbers.
  EXPECT_TRUE(Boxed(*planes, width, height) == Boxed(*rgb, width, height))
      << rgb->width << " x " << rgb->height << " into " << width << " x " << height;
  return planes->layout == PixelLayout::kYuv420;
}

class JpegPlanes : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(InitDecoders().ok()); }
};

TEST_F(JpegPlanes, EverySmallSizeGivesTheInputOfItsRgb) {
  std::mt19937 random(1);
  for (int width = 1; width <= 36; ++width) {
    for (int height = 1; height <= 36; ++height) {
      const auto jpeg = test::NoiseJpeg(width, height, TJSAMP_420, 0, random);
      const auto side = [&] { return static_cast<int>(1 + random() % 60); };
      ASSERT_TRUE(ExpectTheSameInput(jpeg, width, height));
      ASSERT_TRUE(ExpectTheSameInput(jpeg, side(), side()));
    }
  }
}

TEST_F(JpegPlanes, RandomSizesGiveTheInputOfTheirRgb) {
  std::mt19937 random(2);
  for (int round = 0; round < 80; ++round) {
    const auto side = [&](uint32_t most) { return static_cast<int>(1 + random() % most); };
    const int flags = round % 3 == 0 ? TJFLAG_PROGRESSIVE : 0;
    const int sampling = round % 5 == 0 ? TJSAMP_GRAY : TJSAMP_420;
    const auto jpeg = test::NoiseJpeg(side(700), side(700), sampling, flags, random);
    ASSERT_TRUE(ExpectTheSameInput(jpeg, side(700), side(700)));
  }
}

TEST_F(JpegPlanes, OtherFilesComeAsRgb) {
  std::mt19937 random(3);
  for (const int sampling : {TJSAMP_444, TJSAMP_422, TJSAMP_440, TJSAMP_411}) {
    EXPECT_FALSE(ExpectTheSameInput(test::NoiseJpeg(41, 37, sampling, 0, random), 64, 64));
  }
  EXPECT_FALSE(ExpectTheSameInput(samples::kCmykJpeg, 64, 64));
  EXPECT_FALSE(ExpectTheSameInput(samples::kWebp, 64, 64));
  EXPECT_FALSE(ExpectTheSameInput(samples::kAvif, 64, 64));
}

TEST_F(JpegPlanes, TurnedFilesGiveTheInputOfTheirTurnedRgb) {
  std::mt19937 random(6);
  for (int round = 0; round < 240; ++round) {
    const uint32_t most = round % 3 == 0 ? 9 : 500;
    const auto side = [&] { return static_cast<int>(1 + random() % most); };
    const int width = side();
    const int height = side();
    const auto orientation = static_cast<uint16_t>(1 + round % 8);
    const auto jpeg = samples::WithOrientation(
        test::NoiseJpeg(width, height, TJSAMP_420, 0, random), orientation, true);
    const bool quarter = orientation > 4;
    SCOPED_TRACE(orientation);
    ASSERT_TRUE(ExpectTheSameInput(jpeg, side(), side()));
    ASSERT_TRUE(ExpectTheSameInput(jpeg, quarter ? height : width, quarter ? width : height));
  }
}

TEST_F(JpegPlanes, DamagedAndCutFilesComeToTheSameEnd) {
  std::mt19937 random(4);
  int decoded = 0;
  for (int round = 0; round < 400; ++round) {
    const int flags = round % 2 == 0 ? TJFLAG_PROGRESSIVE : 0;
    auto jpeg = test::NoiseJpeg(50, 41, TJSAMP_420, flags, random);
    if (round % 4 == 0) jpeg.resize(random() % jpeg.size());
    for (int flips = 0; flips < 2 && !jpeg.empty(); ++flips) {
      jpeg[random() % jpeg.size()] ^= static_cast<uint8_t>(1u << (random() % 8));
    }
    decoded += ExpectTheSameInput(jpeg, 40, 40, {1'000'000, 4'096});
  }
  EXPECT_GT(decoded, 20);
}

TEST_F(JpegPlanes, LimitsHold) {
  std::mt19937 random(5);
  const auto jpeg = test::NoiseJpeg(50, 40, TJSAMP_420, 0, random);
  EXPECT_TRUE(ExpectTheSameInput(jpeg, 64, 64, {2'000, 50}));
  EXPECT_EQ(DecodedPlanes(jpeg, {1'999, 50}).status().code(), StatusCode::kImageTooLarge);
  EXPECT_EQ(DecodedPlanes(jpeg, {2'000, 49}).status().code(), StatusCode::kImageTooLarge);
}

TEST_F(JpegPlanes, PhotosGiveTheInputOfTheirRgb) {
  if (!fs::exists(kShared / "testdata")) GTEST_SKIP() << "no shared photos at " << kShared;
  int planes = 0;
  for (const auto& [folder, most] : {std::pair{"testdata/images", 100u},
                                     {"testdata/odd", 200u},
                                     {"testdata/coco128", 30u},
                                     {"vehicles", 50u}}) {
    if (!fs::exists(kShared / folder)) continue;
    for (const fs::path& file : test::JpegsBeneath(kShared / folder, most)) {
      SCOPED_TRACE(file);
      planes += ExpectTheSameInput(test::BytesOf(file), 640, 640);
    }
  }
  EXPECT_GE(planes, 60);
}

#else

TEST(JpegPlanes, GiveTheInputOfTheirRgb) {
  GTEST_SKIP() << "libjpeg-turbo is missing, which decodes to planes (libturbojpeg0-dev)";
}

#endif

}  // namespace
}  // namespace lattice
