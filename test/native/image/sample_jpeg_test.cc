#include "native/image/sample_jpeg.h"

#include <gtest/gtest.h>

#include "native/image/decode.h"
#include "native/image/jpeg_header.h"

namespace lattice {
namespace {

TEST(SampleJpeg, IsWhatEveryDecoderTakesAndAboutAsDenseAsAPhoto) {
  ASSERT_TRUE(InitDecoders().ok());
  for (const auto& [width, height] : {std::pair(640, 480), std::pair(1280, 720)}) {
    const auto file = MakeSampleJpeg(width, height);
    ASSERT_TRUE(file.ok()) << file.status().message();
    const auto header = ParseJpegHeader(*file);
    ASSERT_TRUE(header);
    EXPECT_EQ(header->width, width);
    EXPECT_EQ(header->height, height);
    EXPECT_EQ(header->process, 0);
    EXPECT_EQ(header->sampling, (std::array<uint8_t, 3>{0x22, 0x11, 0x11}));
    EXPECT_FALSE(header->rgb_coded);
    const double bits = 8.0 * static_cast<double>(file->size()) / (width * height);
    EXPECT_GT(bits, 0.7);
    EXPECT_LT(bits, 2.5);
    const auto image = Decode(*file, {});
    ASSERT_TRUE(image.ok());
    EXPECT_EQ(image->width, width);
    EXPECT_EQ(*MakeSampleJpeg(width, height), *file);
  }
}

}  // namespace
}  // namespace lattice
