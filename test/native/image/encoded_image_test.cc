#include "native/image/encoded_image.h"

#include <gtest/gtest.h>

#include "test/native/image/encoded_samples.h"

namespace lattice {
namespace {

TEST(EncodedImage, DescribesAFileByItsFirstBytes) {
  const EncodedImage photo = DescribeEncoded(samples::kJpeg);
  EXPECT_EQ(photo.format, ImageFormat::kJpeg);
  EXPECT_EQ(photo.jpeg.width, 24);
  EXPECT_EQ(photo.jpeg.height, 16);
  EXPECT_TRUE(photo.is_420());
  EXPECT_FALSE(DescribeEncoded(samples::kGreyJpeg).is_420());
  EXPECT_FALSE(DescribeEncoded(samples::kCmykJpeg).is_420());
  EXPECT_EQ(DescribeEncoded(samples::kWebp).format, ImageFormat::kWebp);
  EXPECT_EQ(DescribeEncoded(samples::kWebp).jpeg.width, 0);
  EXPECT_EQ(DescribeEncoded({}).format, ImageFormat::kUnsupported);
  EXPECT_EQ(DescribeEncoded(std::span(samples::kJpeg).first(30)).jpeg.width, 0);
}

// As the decoder then makes them.
TEST(EncodedImage, ExpectsTheBytesThatDecodingGives) {
  ASSERT_TRUE(InitDecoders().ok());
  for (const samples::Bytes& file : samples::OfEveryFormat()) {
    for (const PixelLayout wanted : {PixelLayout::kRgb, PixelLayout::kYuv420}) {
      const EncodedImage encoded = DescribeEncoded(file);
      const auto image = Decode(file, {}, std::pmr::get_default_resource(), wanted);
      ASSERT_TRUE(image.ok()) << image.status().message();
      // A build without libjpeg-turbo gives RGB where planes are wanted.
      const bool planes = image->layout == PixelLayout::kYuv420;
      if (planes || wanted == PixelLayout::kRgb || encoded.jpeg.components == 0) {
        EXPECT_EQ(ExpectedPixelBytes(encoded, {}, wanted), image->data.size());
      }
      // Refused before it is decoded.
      EXPECT_EQ(ExpectedPixelBytes(encoded, {.max_side = 20}, wanted), 0u);
    }
  }
  const samples::Bytes no_picture(24 * 16 * 3, 7);
  EXPECT_EQ(ExpectedPixelBytes(DescribeEncoded(no_picture), {}, PixelLayout::kRgb), 0u);
}

}  // namespace
}  // namespace lattice
