#include "native/decode_route/cpu_routes.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "native/decode_route/decode_router.h"
#include "test/native/decode_route/simulated_devices.h"
#include "test/native/image/encoded_samples.h"

namespace lattice {
namespace {

DecodeRequest RequestFor(std::span<const uint8_t> bytes, int input_side) {
  EXPECT_TRUE(InitDecoders().ok());
  DecodeRequest request;
  request.encoded = DescribeEncoded(bytes);
  request.input_width = request.input_height = input_side;
  return request;
}

std::vector<uint8_t> DemoPhoto() {
  std::ifstream file(LATTICE_SOURCE_DIR "/models/demo/street.jpg", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int Reduction(int width, int height, int orientation, double least) {
  DecodeRequest request = test::PictureOf(1, width, height, 1000);
  request.input_width = request.input_height = 640;
  request.encoded.jpeg.exif_orientation = orientation;
  return ReductionFor(request, least);
}

TEST(CpuRoutes, ReductionLeavesEnoughPixels) {
  EXPECT_EQ(Reduction(4000, 3000, 1, 0), 1);
  EXPECT_EQ(Reduction(1279, 720, 1, 1), 1);
  EXPECT_EQ(Reduction(1280, 720, 1, 1), 2);
  EXPECT_EQ(Reduction(4000, 3000, 1, 1), 4);
  EXPECT_EQ(Reduction(4000, 3000, 1, 2), 2);
  EXPECT_EQ(Reduction(5120, 100, 1, 1), 8);
  EXPECT_EQ(Reduction(100, 5120, 6, 1), 4) << "100 is no multiple of 8, and turned files need one";
  EXPECT_EQ(Reduction(101, 5120, 6, 1), 1);
  EXPECT_EQ(Reduction(101, 5120, 1, 1), 8);
  EXPECT_EQ(Reduction(0, 0, 1, 1), 1);
}

TEST(CpuRoutes, WithoutReductionPixelsAndErrorsAreThoseOfDecode) {
  DecodeRouter router(CpuRoutes({2, 0}));
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
    const DecodeRequest request = RequestFor(bytes, 8);
    const auto expected = Decode(bytes, request.limits);
    const auto routed = router.Decode(request);
    ASSERT_EQ(routed.ok(), expected.ok());
    EXPECT_EQ(routed.status().code(), expected.status().code());
    EXPECT_EQ(routed.status().message(), expected.status().message());
    if (!expected.ok()) continue;
    EXPECT_EQ(routed->pixels.data, expected->data);
    EXPECT_EQ(routed->source_width, expected->width);
    EXPECT_EQ(routed->source_height, expected->height);
    EXPECT_EQ(routed->reduction, 1);
  }
}

TEST(CpuRoutes, PlanesComeToWhomWantsThem) {
  if (JpegDecoderName() == "libvips") GTEST_SKIP() << "built without libjpeg-turbo";
  DecodeRouter router(CpuRoutes({2, 0}));
  DecodeRequest request = RequestFor(samples::kJpeg, 8);
  EXPECT_EQ(router.Decode(request)->pixels.layout, PixelLayout::kRgb);
  request.wanted = PixelLayout::kYuv420;
  const auto planes = router.Decode(request);
  ASSERT_TRUE(planes.ok());
  EXPECT_EQ(planes->pixels.layout, PixelLayout::kYuv420);
  EXPECT_EQ(planes->source_width, 24);
  // A reduced image is RGB.
  DecodeRouter reducing(CpuRoutes({2, 1}));
  const auto reduced = reducing.Decode(request);
  ASSERT_TRUE(reduced.ok());
  EXPECT_EQ(reduced->reduction, 2);
  EXPECT_EQ(reduced->pixels.layout, PixelLayout::kRgb);
}

TEST(CpuRoutes, ReducedPixelsAreNearlyTheMeanOfThoseBeneath) {
  if (JpegDecoderName() == "libvips") GTEST_SKIP() << "built without libjpeg-turbo";
  const auto photo = DemoPhoto();
  DecodeRouter router(CpuRoutes({2, 1}));
  const auto full = Decode(photo, {});
  ASSERT_TRUE(full.ok());
  for (const int reduction : {2, 4, 8}) {
    const auto reduced = router.Decode(RequestFor(photo, 960 / reduction));
    ASSERT_TRUE(reduced.ok());
    EXPECT_EQ(reduced->reduction, reduction);
    EXPECT_EQ(reduced->source_width, full->width);
    EXPECT_EQ(reduced->source_height, full->height);
    ASSERT_EQ(reduced->pixels.width, full->width / reduction);
    ASSERT_EQ(reduced->pixels.height, full->height / reduction);
    double difference = 0;
    for (int y = 0; y < reduced->pixels.height; ++y) {
      for (int x = 0; x < reduced->pixels.width; ++x) {
        double sum = 0;
        for (int i = 0; i < reduction * reduction; ++i) {
          const int at =
              (y * reduction + i / reduction) * full->width + x * reduction + i % reduction;
          sum += full->data[static_cast<size_t>(3 * at + 1)];
        }
        const auto at = static_cast<size_t>(3 * (y * reduced->pixels.width + x) + 1);
        difference += std::abs(reduced->pixels.data[at] - sum / (reduction * reduction));
      }
    }
    EXPECT_LT(difference / (reduced->pixels.width * reduced->pixels.height), 2.5);
  }
}

TEST(CpuRoutes, WhatCannotBeReducedIsDecodedInFull) {
  DecodeRouter router(CpuRoutes({2, 1}));
  const auto photo = DemoPhoto();
  const auto cut = router.Decode(RequestFor(std::span(photo).first(photo.size() / 2), 100));
  EXPECT_EQ(cut.status().code(), StatusCode::kInvalidImage);
  const auto cmyk = router.Decode(RequestFor(samples::kCmykJpeg, 4));
  ASSERT_TRUE(cmyk.ok());
  EXPECT_EQ(cmyk->reduction, 1);
  const auto webp = router.Decode(RequestFor(samples::kWebp, 4));
  ASSERT_TRUE(webp.ok());
  EXPECT_EQ(webp->reduction, 1);
  DecodeRequest limited = RequestFor(photo, 100);
  limited.limits.max_side = 500;
  EXPECT_EQ(router.Decode(limited).status().code(), StatusCode::kImageTooLarge);
}

TEST(CpuRoutes, TurnedReducedImageNamesItsTurnedSource) {
  if (JpegDecoderName() == "libvips") GTEST_SKIP() << "built without libjpeg-turbo";
  DecodeRouter router(CpuRoutes({2, 1}));
  const auto turned = samples::WithOrientation(samples::kJpeg, 6, true);  // 24 x 16 as stored
  const auto decoded = router.Decode(RequestFor(turned, 8));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->reduction, 2);
  EXPECT_EQ(decoded->source_width, 16);
  EXPECT_EQ(decoded->source_height, 24);
  EXPECT_EQ(decoded->pixels.width, 8);
  EXPECT_EQ(decoded->pixels.height, 12);
}

}  // namespace
}  // namespace lattice
