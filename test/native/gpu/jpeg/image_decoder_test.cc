#include "native/gpu/jpeg/image_decoder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "test/native/gpu/jpeg/simulated_engines.h"
#include "test/native/image/encoded_samples.h"

namespace lattice::test {
namespace {

Result<DecodedImage> Decoded(const ImageDecoder& decoder, std::span<const uint8_t> bytes) {
  EXPECT_TRUE(InitDecoders().ok());
  return decoder.Decode(DescribeEncoded(bytes), {}, std::pmr::get_default_resource());
}

std::vector<uint8_t> DemoPhoto() {
  std::ifstream file(LATTICE_SOURCE_DIR "/models/demo/street.jpg", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ImageDecoder, OnTheCpuPixelsAndErrorsAreThoseOfDecode) {
  ImageDecoder decoder;
  const auto photo = DemoPhoto();
  const std::span<const uint8_t> cut = std::span(photo).first(photo.size() / 2);
  const std::span<const uint8_t> files[] = {photo,
                                            samples::kJpeg,
                                            samples::kProgressiveJpeg,
                                            samples::kWebp,
                                            samples::kAvif,
                                            samples::kCmykJpeg,
                                            samples::kGreyJpeg,
                                            cut,
                                            std::span(photo).first(3),
                                            {}};
  for (const auto& bytes : files) {
    const auto decoded = Decoded(decoder, bytes);
    const auto expected = Decode(bytes, {}, std::pmr::get_default_resource(), PixelLayout::kYuv420);
    ASSERT_EQ(decoded.ok(), expected.ok());
    EXPECT_EQ(decoded.status().code(), expected.status().code());
    EXPECT_EQ(decoded.status().message(), expected.status().message());
    if (!expected.ok()) continue;
    EXPECT_EQ(decoded->pixels.data, expected->data);
    EXPECT_EQ(decoded->pixels.layout, expected->layout);
    EXPECT_EQ(decoded->width(), expected->width);
    EXPECT_EQ(decoded->height(), expected->height);
    EXPECT_EQ(decoded->by, DecodedBy::kCpu);
  }
}

// The engines take the demo photo, or fail it.
class ImageDecoderOnEngines : public testing::Test {
 protected:
  std::vector<uint8_t> photo_ = DemoPhoto();
  EngineControl control_;
};

TEST_F(ImageDecoderOnEngines, JpegsGoToTheEnginesAndEverythingElseToTheCpu) {
  const ImageDecoder decoder(DecoderOn(1, control_));
  const auto on_gpu = Decoded(decoder, photo_);
  ASSERT_TRUE(on_gpu.ok());
  EXPECT_TRUE(on_gpu->is_on_gpu());
  EXPECT_EQ(on_gpu->by, DecodedBy::kHardware);
  EXPECT_EQ(on_gpu->width(), 960);
  EXPECT_EQ(on_gpu->height(), 720);
  const auto webp = Decoded(decoder, samples::kWebp);
  ASSERT_TRUE(webp.ok());
  EXPECT_FALSE(webp->is_on_gpu());
  EXPECT_EQ(webp->by, DecodedBy::kCpu);
}

TEST_F(ImageDecoderOnEngines, WhatTheEnginesFailIsDecodedOnceMoreOnTheCpu) {
  const ImageDecoder decoder(DecoderOn(1, control_));
  control_.Fail();
  const auto decoded = Decoded(decoder, photo_);
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(decoded->pixels.data,
            Decode(photo_, {}, std::pmr::get_default_resource(), PixelLayout::kYuv420)->data);
  EXPECT_EQ(control_.batches().size(), 1u);
  EXPECT_EQ(decoded->by, DecodedBy::kCpuAfterHardware);
}

TEST_F(ImageDecoderOnEngines, ALostGpuIsTheImagesAnswer) {
  const ImageDecoder decoder(DecoderOn(1, control_));
  control_.FaultAfter(0);
  EXPECT_EQ(Decoded(decoder, photo_).status().code(), StatusCode::kGpuLost);
  EXPECT_EQ(Decoded(decoder, photo_).status().code(), StatusCode::kGpuLost);
  EXPECT_TRUE(Decoded(decoder, samples::kWebp).ok());
}

}  // namespace
}  // namespace lattice::test
