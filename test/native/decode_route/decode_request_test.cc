#include "native/decode_route/decode_request.h"

#include <gtest/gtest.h>

#include "test/native/image/encoded_samples.h"

namespace lattice {
namespace {

TEST(DecodeRequest, DescribesWhatARouteAsksFor) {
  const EncodedImage photo = DescribeEncoded(samples::kJpeg);
  EXPECT_TRUE(photo.baseline_jpeg());
  EXPECT_DOUBLE_EQ(photo.megapixels(), 24 * 16 * 1e-6);
  EXPECT_DOUBLE_EQ(photo.kilobytes(), 1e-3 * sizeof(samples::kJpeg));
  EXPECT_EQ(photo.chroma_sampling(), ChromaSampling::k420);
  EXPECT_FALSE(DescribeEncoded(samples::kProgressiveJpeg).baseline_jpeg());
  EXPECT_EQ(DescribeEncoded(samples::kGreyJpeg).chroma_sampling(), ChromaSampling::kNone);
  EXPECT_EQ(DescribeEncoded(samples::kCmykJpeg).chroma_sampling(), ChromaSampling::kOther);
}

TEST(DecodeRequest, NamesTheSamplingOfEachFrame) {
  const std::pair<uint8_t, ChromaSampling> cases[] = {
      {0x11, ChromaSampling::k444}, {0x21, ChromaSampling::k422}, {0x22, ChromaSampling::k420},
      {0x12, ChromaSampling::k440}, {0x41, ChromaSampling::k411}, {0x42, ChromaSampling::kOther}};
  EncodedImage encoded;
  encoded.jpeg.components = 3;
  for (const auto& [luma, sampling] : cases) {
    encoded.jpeg.sampling = {luma, 0x11, 0x11};
    EXPECT_EQ(encoded.chroma_sampling(), sampling);
    encoded.jpeg.sampling[2] = 0x21;
    EXPECT_EQ(encoded.chroma_sampling(), ChromaSampling::kOther);
  }
}

TEST(DecodeRequest, OtherFilesHaveNoSides) {
  EXPECT_EQ(DescribeEncoded(samples::kWebp).format, ImageFormat::kWebp);
  EXPECT_EQ(DescribeEncoded(samples::kWebp).megapixels(), 0);
  EXPECT_FALSE(DescribeEncoded(samples::kWebp).baseline_jpeg());
  EXPECT_EQ(DescribeEncoded({}).format, ImageFormat::kUnsupported);
  EXPECT_EQ(DescribeEncoded(std::span(samples::kJpeg).first(30)).megapixels(), 0);
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
      // Planes are a wish: a build without libjpeg-turbo gives RGB.
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
