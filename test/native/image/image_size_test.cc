#include "native/image/image_size.h"

#include <gtest/gtest.h>

#include "native/image/decode.h"
#include "test/native/image/encoded_samples.h"

namespace lattice {
namespace {

std::optional<ImageSize> SizeOf(std::span<const uint8_t> bytes) {
  return ReadImageSize(bytes, SniffFormat(bytes).format);
}

TEST(ImageSizeTest, EveryFormatSaysItsSides) {
  ASSERT_TRUE(InitDecoders().ok());
  const std::vector<samples::Bytes> files = samples::OfEveryFormat();
  for (size_t i = 0; i < files.size(); ++i) {
    const auto size = SizeOf(files[i]);
    ASSERT_TRUE(size.has_value()) << i;
    EXPECT_EQ(size->width, 24) << i;
    EXPECT_EQ(size->height, 16) << i;
  }
}

TEST(ImageSizeTest, SidesAreTheStoredOnesWhateverTheOrientation) {
  const auto size = SizeOf(samples::WithOrientation(samples::kJpeg, 6, true));
  ASSERT_TRUE(size.has_value());
  EXPECT_EQ(size->width, 24);
}

TEST(ImageSizeTest, AFileThatEndsBeforeItsSizeHasNone) {
  ASSERT_TRUE(InitDecoders().ok());
  const samples::Bytes png =
      samples::MakePng({.width = 24, .height = 16, .palette = {}}, samples::Bytes(24 * 16 * 3, 7));
  for (size_t bytes = 0; bytes < 24; ++bytes) {
    EXPECT_FALSE(ReadImageSize(std::span(png).first(bytes), ImageFormat::kPng).has_value());
  }
  EXPECT_TRUE(ReadImageSize(std::span(png).first(24), ImageFormat::kPng).has_value());
  for (const std::span<const uint8_t> file :
       {std::span<const uint8_t>(samples::kJpeg), std::span<const uint8_t>(samples::kWebp),
        std::span<const uint8_t>(samples::kAvif)}) {
    EXPECT_FALSE(ReadImageSize(file.first(20), SniffFormat(file).format).has_value());
  }
  EXPECT_FALSE(SizeOf({}).has_value());
}

TEST(ImageSizeTest, ASideBeyondWhatPngAllowsIsNone) {
  samples::Bytes png =
      samples::MakePng({.width = 24, .height = 16, .palette = {}}, samples::Bytes(24 * 16 * 3, 7));
  png[16] = 0x80;
  EXPECT_FALSE(ReadImageSize(png, ImageFormat::kPng).has_value());
}

}  // namespace
}  // namespace lattice
