#include "native/decode/image_decoder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "test/native/decode/simulated_engines.h"
#include "test/native/image/encoded_samples.h"

namespace lattice::test {
namespace {

DecodeRequest RequestFor(std::span<const uint8_t> bytes) {
  EXPECT_TRUE(InitDecoders().ok());
  DecodeRequest request;
  request.encoded = DescribeEncoded(bytes);
  return request;
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
    for (const PixelLayout wanted : {PixelLayout::kRgb, PixelLayout::kYuv420}) {
      DecodeRequest request = RequestFor(bytes);
      request.wanted = wanted;
      const auto expected = Decode(bytes, request.limits, request.memory, wanted);
      const auto decoded = decoder.Decode(request);
      ASSERT_EQ(decoded.ok(), expected.ok());
      EXPECT_EQ(decoded.status().code(), expected.status().code());
      EXPECT_EQ(decoded.status().message(), expected.status().message());
      if (!expected.ok()) continue;
      EXPECT_EQ(decoded->pixels.data, expected->data);
      EXPECT_EQ(decoded->pixels.layout, expected->layout);
      EXPECT_EQ(decoded->width(), expected->width);
      EXPECT_EQ(decoded->height(), expected->height);
    }
  }
  EXPECT_EQ(decoder.stats().cpu, 2 * std::size(files));
  EXPECT_EQ(decoder.stats().hardware, 0u);
}

// The engines take the demo photo, or fail it.
class ImageDecoderOnEngines : public testing::Test {
 protected:
  void SetUp() override {
    request_ = RequestFor(photo_);
    request_.gpu_images = true;
  }

  std::vector<uint8_t> photo_ = DemoPhoto();
  DecodeRequest request_;
  EngineControl control_;
};

TEST_F(ImageDecoderOnEngines, JpegsGoToTheEnginesAndEverythingElseToTheCpu) {
  ImageDecoder decoder(DecoderOn(1, control_));
  const auto on_gpu = decoder.Decode(request_);
  ASSERT_TRUE(on_gpu.ok());
  EXPECT_TRUE(on_gpu->is_on_gpu());
  EXPECT_EQ(on_gpu->width(), 960);
  EXPECT_EQ(on_gpu->height(), 720);
  const auto webp = decoder.Decode(RequestFor(samples::kWebp));
  ASSERT_TRUE(webp.ok());
  EXPECT_FALSE(webp->is_on_gpu());
  request_.gpu_images = false;
  EXPECT_FALSE(decoder.Decode(request_)->is_on_gpu());
  EXPECT_EQ(decoder.stats().hardware, 1u);
  EXPECT_EQ(decoder.stats().cpu, 2u);
  EXPECT_EQ(decoder.stats().retries, 0u);
}

TEST_F(ImageDecoderOnEngines, WhatTheEnginesFailIsDecodedOnceMoreOnTheCpu) {
  ImageDecoder decoder(DecoderOn(1, control_));
  control_.Fail();
  const auto decoded = decoder.Decode(request_);
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(decoded->pixels.data, Decode(photo_, request_.limits)->data);
  EXPECT_EQ(control_.batches().size(), 1u);
  EXPECT_EQ(decoder.stats().cpu, 1u);
  EXPECT_EQ(decoder.stats().retries, 1u);
  EXPECT_EQ(decoder.stats().hardware, 0u);
}

TEST_F(ImageDecoderOnEngines, ALostGpuIsTheImagesAnswer) {
  ImageDecoder decoder(DecoderOn(1, control_));
  control_.FaultAfter(0);
  EXPECT_EQ(decoder.Decode(request_).status().code(), StatusCode::kGpuLost);
  EXPECT_EQ(decoder.Decode(request_).status().code(), StatusCode::kGpuLost);
  EXPECT_EQ(decoder.stats().cpu, 0u);
  EXPECT_TRUE(decoder.Decode(RequestFor(samples::kWebp)).ok());
}

}  // namespace
}  // namespace lattice::test
