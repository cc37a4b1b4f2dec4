#include "native/image/decode.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>

#include "native/image/jpeg_header.h"
#include "test/native/image/encoded_samples.h"

namespace lattice {
namespace {

using samples::Bytes;
using samples::CopyOf;
using samples::MakePng;
using samples::WithOrientation;
using Pixel = std::array<int, 3>;

Pixel At(const Image& image, int x, int y) {
  const auto at = static_cast<size_t>(3 * (y * image.width + x));
  return {image.data.at(at), image.data.at(at + 1), image.data.at(at + 2)};
}

// Position-weighted, so that no two pixels can change places unnoticed.
uint64_t Fingerprint(const Image& image) {
  uint64_t sum = 0;
  for (size_t i = 0; i < image.data.size(); ++i) sum += image.data[i] * (i + 1);
  return sum;
}

Image Decoded(std::span<const uint8_t> bytes) {
  Result<Image> image = Decode(bytes, {});
  EXPECT_TRUE(image.ok()) << image.status().message();
  if (!image.ok()) return {};
  EXPECT_EQ(image->data.size(),
            size_t{3} * static_cast<size_t>(image->width) * static_cast<size_t>(image->height));
  return *std::move(image);
}

StatusCode Refused(std::span<const uint8_t> bytes, const DecodeLimits& limits = {}) {
  return Decode(bytes, limits).status().code();
}

// The sums are OpenCV's, for the same bytes.
TEST(Decode, JpegGivesThePixelsOfTheReferenceDecoder) {
  const Image image = Decoded(samples::kJpeg);
  ASSERT_EQ(image.width, 24);
  ASSERT_EQ(image.height, 16);
  EXPECT_EQ(Fingerprint(image), 88977440u);
  EXPECT_EQ(At(image, 11, 7), (Pixel{111, 106, 110}));
  EXPECT_EQ(Fingerprint(Decoded(samples::kProgressiveJpeg)), 88977440u);
  EXPECT_EQ(Fingerprint(Decoded(samples::kGreyJpeg)), 92496522u);
}

TEST(Decode, WebpGivesThePixelsOfTheReferenceDecoder) {
  EXPECT_EQ(Fingerprint(Decoded(samples::kWebp)), 88820640u);
}

// The pixels are libavif's, which interpolates the chroma of 4:2:0; libheif repeats it.
TEST(Decode, AvifComesWithinTheChromaOfTheReferenceDecoder) {
  const Image image = Decoded(samples::kAvif);
  ASSERT_EQ(image.width, 24);
  ASSERT_EQ(image.height, 16);
  const struct {
    int x, y;
    Pixel rgb;
  } expected[] = {{0, 0, {4, 4, 2}},         {23, 0, {218, 9, 132}},    {0, 15, {11, 218, 94}},
                  {23, 15, {224, 222, 223}}, {11, 7, {111, 107, 108}},  {8, 11, {78, 167, 113}},
                  {9, 12, {87, 182, 124}},   {18, 11, {178, 165, 172}}, {11, 12, {109, 182, 137}}};
  for (const auto& [x, y, rgb] : expected) {
    const Pixel found = At(image, x, y);
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(found[i], rgb[i], 10) << x << ", " << y;
  }
}

TEST(Decode, CmykBecomesRgb) {
  const Image image = Decoded(samples::kCmykJpeg);
  ASSERT_EQ(image.width, 24);
  EXPECT_GT(At(image, 23, 0)[0], At(image, 0, 0)[0] + 60);  // red grows to the right
  EXPECT_GT(At(image, 0, 15)[1], At(image, 0, 0)[1] + 60);  // green grows downwards
}

TEST(Decode, PngLayouts) {
  EXPECT_EQ(At(Decoded(MakePng({1, 1, 8, 2, {}}, Bytes{10, 20, 30})), 0, 0), (Pixel{10, 20, 30}));
  EXPECT_EQ(At(Decoded(MakePng({1, 1, 8, 0, {}}, Bytes{77})), 0, 0), (Pixel{77, 77, 77}));
  // Alpha is dropped, not mixed with a background.
  EXPECT_EQ(At(Decoded(MakePng({1, 1, 8, 6, {}}, Bytes{10, 20, 30, 0})), 0, 0),
            (Pixel{10, 20, 30}));
  EXPECT_EQ(At(Decoded(MakePng({1, 1, 8, 4, {}}, Bytes{55, 3})), 0, 0), (Pixel{55, 55, 55}));
  // 16 bits lose the lower byte.
  EXPECT_EQ(At(Decoded(MakePng({1, 1, 16, 2, {}}, Bytes{101, 255, 2, 255, 3, 255})), 0, 0),
            (Pixel{101, 2, 3}));
  EXPECT_EQ(At(Decoded(MakePng({1, 1, 16, 0, {}}, Bytes{200, 255})), 0, 0), (Pixel{200, 200, 200}));
  const Image palette = Decoded(MakePng({2, 1, 8, 3, {9, 8, 7, 6, 5, 4}}, Bytes{1, 0}));
  EXPECT_EQ(At(palette, 0, 0), (Pixel{6, 5, 4}));
  EXPECT_EQ(At(palette, 1, 0), (Pixel{9, 8, 7}));
  const Image bits = Decoded(MakePng({2, 1, 1, 0, {}}, Bytes{0x40}));
  EXPECT_EQ(At(bits, 0, 0), (Pixel{0, 0, 0}));
  EXPECT_EQ(At(bits, 1, 0), (Pixel{255, 255, 255}));
}

TEST(Decode, TiffLayouts) {
  samples::TiffLayout rgb;
  EXPECT_EQ(At(Decoded(MakeTiff(rgb, Bytes{10, 20, 30})), 0, 0), (Pixel{10, 20, 30}));
  samples::TiffLayout deep;
  deep.bits = 16;
  EXPECT_EQ(At(Decoded(MakeTiff(deep, Bytes{255, 101, 255, 2, 255, 3})), 0, 0), (Pixel{101, 2, 3}));
  samples::TiffLayout grey;
  grey.samples = 1;
  grey.photometric = 1;
  EXPECT_EQ(At(Decoded(MakeTiff(grey, Bytes{99})), 0, 0), (Pixel{99, 99, 99}));
  samples::TiffLayout cmyk;
  cmyk.samples = 4;
  cmyk.photometric = 5;
  const Pixel white = At(Decoded(MakeTiff(cmyk, Bytes{0, 0, 0, 0})), 0, 0);
  const Pixel black = At(Decoded(MakeTiff(cmyk, Bytes{0, 0, 0, 255})), 0, 0);
  EXPECT_GT(white[0], 240);
  EXPECT_LT(black[0], 70);
  samples::TiffLayout linear;
  linear.bits = 32;
  linear.sample_format = 3;
  const std::array<float, 3> values = {0.0f, 1.0f, 2.0f};
  Bytes floats(sizeof(values));
  std::memcpy(floats.data(), values.data(), sizeof(values));
  EXPECT_EQ(At(Decoded(MakeTiff(linear, floats)), 0, 0), (Pixel{0, 255, 255}));
}

TEST(Decode, AJpegThatGivesItsHeightLaterIsNamed) {
  Bytes jpeg = CopyOf(samples::kJpeg);
  for (size_t i = 0; i + 8 < jpeg.size(); ++i) {
    if (jpeg[i] == 0xFF && jpeg[i + 1] == 0xC0) jpeg[i + 5] = jpeg[i + 6] = 0;
  }
  const Status status = Decode(jpeg, {}).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupportedImageFormat);
  EXPECT_NE(status.message().find("DNL"), std::string::npos);
}

TEST(Decode, DamageIsReportedWithTheRowsAboveIt) {
  Bytes rows(size_t{64} * 512 * 3);
  std::mt19937 random(7);
  for (uint8_t& byte : rows) byte = static_cast<uint8_t>(random());
  const Bytes png = MakePng({64, 512, 8, 2, {}}, rows);
  const Status status = Decode(std::span(png).first(png.size() / 2), {}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidImage);
  EXPECT_EQ(status.message(),
            "the PNG data is damaged or cut short: its first 240 of 512 rows can be read");
}

// Where the stored top left pixel, and the one right of it, are shown.
struct Shown {
  int orientation, width, height, x, y, next_x, next_y;
};
constexpr Shown kShown[] = {
    {1, 24, 16, 0, 0, 1, 0},     {2, 24, 16, 23, 0, 22, 0}, {3, 24, 16, 23, 15, 22, 15},
    {4, 24, 16, 0, 15, 1, 15},   {5, 16, 24, 0, 0, 0, 1},   {6, 16, 24, 15, 0, 15, 1},
    {7, 16, 24, 15, 23, 15, 22}, {8, 16, 24, 0, 23, 0, 22},
};

TEST(Decode, ExifOrientationOfJpegIsApplied) {
  const Image stored = Decoded(samples::kJpeg);
  for (const Shown& shown : kShown) {
    for (const bool little : {true, false}) {
      const auto orientation = static_cast<uint16_t>(shown.orientation);
      const Image image = Decoded(WithOrientation(samples::kJpeg, orientation, little));
      ASSERT_EQ(image.width, shown.width) << orientation;
      ASSERT_EQ(image.height, shown.height) << orientation;
      EXPECT_EQ(At(image, shown.x, shown.y), At(stored, 0, 0)) << orientation;
      EXPECT_EQ(At(image, shown.next_x, shown.next_y), At(stored, 1, 0)) << orientation;
    }
  }
  EXPECT_EQ(Decoded(WithOrientation(samples::kJpeg, 9, true)).data, stored.data);
  EXPECT_EQ(Decoded(WithOrientation(samples::kJpeg, 0, true)).data, stored.data);
}

TEST(Decode, OrientationOfTiffIsApplied) {
  samples::TiffLayout layout;
  layout.width = 2;
  layout.orientation = 6;
  const Image image = Decoded(MakeTiff(layout, Bytes{1, 2, 3, 4, 5, 6}));
  ASSERT_EQ(image.width, 1);
  ASSERT_EQ(image.height, 2);
  EXPECT_EQ(At(image, 0, 0), (Pixel{1, 2, 3}));
}

// A few kilobytes may claim gigabytes of samples, of which three a pixel would be shown.
TEST(Decode, PixelsOfManyBandsCountSeveralTimes) {
  samples::TiffLayout bands;
  bands.width = 2;
  bands.samples = 9;  // 18 bytes: more than 16, so two pixels each
  bands.bits = 16;
  bands.photometric = 1;
  const Bytes file = MakeTiff(bands, Bytes(2 * 9 * 2, 70));
  EXPECT_EQ(Refused(file, {3, 4}), StatusCode::kImageTooLarge);
  EXPECT_EQ(Refused(file, {4, 3}), StatusCode::kImageTooLarge);
  EXPECT_EQ(At(Decoded(file), 1, 0), (Pixel{70, 70, 70}));
}

TEST(Decode, LimitsHoldAtTheirEdges) {
  const auto png = MakePng({3, 2, 8, 0, {}}, Bytes(6, 1));
  const std::vector<std::span<const uint8_t>> files = {samples::kJpeg, samples::kWebp,
                                                       samples::kAvif};
  for (const auto& file : files) {
    EXPECT_TRUE(Decode(file, {24 * 16, 24}).ok());
    EXPECT_EQ(Refused(file, {24 * 16 - 1, 24}), StatusCode::kImageTooLarge);
    EXPECT_EQ(Refused(file, {24 * 16, 23}), StatusCode::kImageTooLarge);
  }
  EXPECT_TRUE(Decode(png, {6, 3}).ok());
  EXPECT_EQ(Refused(png, {5, 3}), StatusCode::kImageTooLarge);
  EXPECT_EQ(Refused(png, {6, 2}), StatusCode::kImageTooLarge);
}

// Refused on the header: there are no pixels behind it, and no memory is taken for them.
TEST(Decode, HugeDeclaredSizeIsRefusedBeforePixels) {
  EXPECT_EQ(Refused(MakePng({60000, 60000, 8, 2, {}}, Bytes{})), StatusCode::kImageTooLarge);
  Bytes jpeg = CopyOf(samples::kJpeg);
  for (size_t i = 0; i + 8 < jpeg.size(); ++i) {
    if (jpeg[i] == 0xFF && jpeg[i + 1] == 0xC0) std::memset(&jpeg[i + 5], 0xFF, 4);
  }
  EXPECT_EQ(Refused(jpeg), StatusCode::kImageTooLarge);
}

TEST(Decode, UnsupportedFormatsAreNamed) {
  const std::pair<std::string_view, std::string_view> files[] = {
      {"GIF89a\x01", "GIF"},
      {"%PDF-1.7", "PDF"},
      {"<?xml version=\"1.0\"?><svg xmlns=\"\"/>", "SVG"},
      {"hello, world\n", "text"}};
  for (const auto& [text, name] : files) {
    const Status status = Decode(samples::Bytes(text.begin(), text.end()), {}).status();
    EXPECT_EQ(status.code(), StatusCode::kUnsupportedImageFormat);
    EXPECT_NE(status.message().find(name), std::string::npos) << status.message();
  }
}

TEST(Decode, EmptyAndCutFilesAreInvalid) {
  EXPECT_EQ(Refused({}), StatusCode::kInvalidImage);
  const Bytes png = MakePng({16, 16, 8, 2, {}}, Bytes(16 * 48, 5));
  const std::vector<std::span<const uint8_t>> files = {samples::kJpeg, samples::kProgressiveJpeg,
                                                       samples::kWebp, samples::kAvif, png};
  for (const auto& file : files) {
    for (const size_t percent : {40u, 60u, 80u}) {
      EXPECT_EQ(Refused(file.first(file.size() * percent / 100)), StatusCode::kInvalidImage)
          << file.size() << " bytes at " << percent << " %";
    }
  }
}

TEST(Decode, TooManyScansAreRefused) {
  // The last scan of the file again and again: each would cost a pass over all coefficients.
  Bytes bytes = CopyOf(samples::kProgressiveJpeg);
  size_t scan = 0;
  for (size_t i = 0; i + 1 < bytes.size(); ++i) {
    if (bytes[i] == 0xFF && bytes[i + 1] == 0xDA) scan = i;
  }
  const Bytes last(bytes.begin() + static_cast<ptrdiff_t>(scan), bytes.end() - 2);
  for (int i = 0; i < kMaxJpegScans; ++i) bytes.insert(bytes.end() - 2, last.begin(), last.end());
  EXPECT_EQ(Refused(bytes), StatusCode::kInvalidImage);
}

TEST(Decode, DamagedBytesNeverCrash) {
  std::mt19937 random(7);
  const std::vector<std::span<const uint8_t>> files = {samples::kJpeg, samples::kProgressiveJpeg,
                                                       samples::kCmykJpeg, samples::kWebp,
                                                       samples::kAvif};
  for (int round = 0; round < 300; ++round) {
    Bytes bytes = CopyOf(files[static_cast<size_t>(round) % files.size()]);
    for (int flips = 0; flips < 3; ++flips) bytes[random() % bytes.size()] ^= 1u << (random() % 8);
    const Result<Image> image = Decode(bytes, {1'000'000, 4'096});
    if (image.ok()) {
      EXPECT_EQ(image->data.size(), static_cast<size_t>(3 * image->width * image->height));
    } else {
      EXPECT_FALSE(image.status().message().empty());
    }
  }
}

TEST(Decode, ThreadsDoNotDisturbEachOther) {
  const Image jpeg = Decoded(samples::kCmykJpeg);
  const Image webp = Decoded(samples::kWebp);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        const bool first = i % 2 == 0;
        const Image again = first ? Decoded(samples::kCmykJpeg) : Decoded(samples::kWebp);
        EXPECT_EQ(again.data, first ? jpeg.data : webp.data);
        EXPECT_EQ(Refused(std::span(samples::kAvif).first(200)), StatusCode::kInvalidImage);
      }
    });
  }
}

TEST(Decode, VersionsAreNamed) {
  ASSERT_TRUE(InitDecoders().ok());
  ASSERT_TRUE(InitDecoders().ok());
  EXPECT_EQ(LibvipsVersion().substr(0, 2), "8.");
  EXPECT_FALSE(JpegDecoderName().empty());
}

}  // namespace
}  // namespace lattice
