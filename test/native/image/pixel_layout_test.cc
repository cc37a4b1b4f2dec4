#include "native/image/pixel_layout.h"

#include <gtest/gtest.h>

#include "native/image/decode.h"
#include "test/native/image/encoded_samples.h"

namespace lattice {
namespace {

TEST(PackPlanes, RgbIsOnePlaneWithoutPadding) {
  const PackedPlanes packed = PackPlanes(PixelLayout::kRgb, 5, 3);
  EXPECT_EQ(packed.bytes, 45u);
  EXPECT_EQ(packed.pitches[0], 15);
  EXPECT_EQ(packed.pitches[1], 0);
}

TEST(PackPlanes, PlanesFollowEachOther) {
  const PackedPlanes packed = PackPlanes(PixelLayout::kYuv420, 6, 4);
  EXPECT_EQ(packed.bytes, 36u);
  EXPECT_EQ(packed.offsets[0], 0u);
  EXPECT_EQ(packed.offsets[1], 24u);
  EXPECT_EQ(packed.offsets[2], 30u);
  EXPECT_EQ(packed.pitches[0], 6);
  EXPECT_EQ(packed.pitches[2], 3);
}

TEST(PackPlanes, OddSidesAreRoundedUpInEveryPlane) {
  const PackedPlanes packed = PackPlanes(PixelLayout::kYuv420, 5, 3);
  EXPECT_EQ(packed.bytes, 36u);
  EXPECT_EQ(packed.offsets[1], 24u);
  EXPECT_EQ(packed.pitches[0], 6);
  EXPECT_EQ(packed.pitches[1], 3);
}

TEST(DecodePlanes, OnlyWhereTheyAreWanted) {
  if (JpegDecoderName() == "libvips") GTEST_SKIP() << "built without libjpeg-turbo";
  const auto planes = [](std::span<const uint8_t> bytes) {
    auto image = Decode(bytes, {}, std::pmr::get_default_resource(), PixelLayout::kYuv420);
    EXPECT_TRUE(image.ok()) << image.status().message();
    EXPECT_EQ(image->data.size(), StoredPlanes(*image).bytes);
    return *std::move(image);
  };
  EXPECT_EQ(planes(samples::kJpeg).layout, PixelLayout::kYuv420);
  EXPECT_EQ(planes(samples::kProgressiveJpeg).data, planes(samples::kJpeg).data);
  EXPECT_EQ(planes(samples::kWebp).layout, PixelLayout::kRgb);
  EXPECT_EQ(Decode(samples::kJpeg, {})->layout, PixelLayout::kRgb);
}

TEST(DecodePlanes, GreyHasNoColour) {
  if (JpegDecoderName() == "libvips") GTEST_SKIP() << "built without libjpeg-turbo";
  const auto grey =
      Decode(samples::kGreyJpeg, {}, std::pmr::get_default_resource(), PixelLayout::kYuv420);
  ASSERT_TRUE(grey.ok());
  ASSERT_EQ(grey->layout, PixelLayout::kYuv420);
  const size_t chroma = PackPlanes(PixelLayout::kYuv420, grey->width, grey->height).offsets[1];
  for (size_t i = chroma; i < grey->data.size(); ++i) ASSERT_EQ(grey->data[i], 128) << i;
}

}  // namespace
}  // namespace lattice
