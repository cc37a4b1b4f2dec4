#include "native/decode/decode_request.h"

#include <gtest/gtest.h>

#include "test/native/image/encoded_samples.h"

namespace lattice {
namespace {

TEST(DecodeRequest, DescribesAFileByItsFirstBytes) {
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
TEST(DecodeRequest, ExpectsTheBytesThatDecodingGives) {
  ASSERT_TRUE(InitDecoders().ok());
  for (const samples::Bytes& file : samples::OfEveryFormat()) {
    for (const PixelLayout wanted : {PixelLayout::kRgb, PixelLayout::kYuv420}) {
      DecodeRequest request;
      request.encoded = DescribeEncoded(file);
      request.wanted = wanted;
      const auto image = Decode(file, request.limits, request.memory, wanted);
      ASSERT_TRUE(image.ok()) << image.status().message();
      // A build without libjpeg-turbo gives RGB where planes are wanted.
      const bool planes = image->layout == PixelLayout::kYuv420;
      if (planes || wanted == PixelLayout::kRgb || request.encoded.jpeg.components == 0) {
        EXPECT_EQ(ExpectedPixelBytes(request), image->data.size());
      }
      request.limits.max_side = 20;
      EXPECT_EQ(ExpectedPixelBytes(request), 0u);  // refused before it is decoded
    }
  }
  const samples::Bytes no_picture(24 * 16 * 3, 7);
  DecodeRequest text;
  text.encoded = DescribeEncoded(no_picture);
  EXPECT_EQ(ExpectedPixelBytes(text), 0u);
}

}  // namespace
}  // namespace lattice
