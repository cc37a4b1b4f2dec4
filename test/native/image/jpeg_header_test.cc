#include "native/image/jpeg_header.h"

#include <gtest/gtest.h>

#include "test/native/image/encoded_samples.h"

namespace lattice {
namespace {

TEST(JpegHeader, ReadsTheFrame) {
  const auto header = ParseJpegHeader(samples::kJpeg);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->width, 24);
  EXPECT_EQ(header->height, 16);
  EXPECT_EQ(header->components, 3);
  EXPECT_EQ(header->precision, 8);
  EXPECT_EQ(header->process, 0);
  EXPECT_EQ(header->scans, 1);
  EXPECT_EQ(header->exif_orientation, 1);
  EXPECT_EQ(ParseJpegHeader(samples::kCmykJpeg)->components, 4);
}

TEST(JpegHeader, FrameAloneIsTheSameWithoutScans) {
  for (const std::span<const uint8_t> bytes : {std::span<const uint8_t>(samples::kJpeg),
                                               std::span<const uint8_t>(samples::kProgressiveJpeg),
                                               std::span<const uint8_t>(samples::kGreyJpeg)}) {
    const auto header = ParseJpegHeader(bytes);
    const auto frame = ReadJpegFrame(bytes);
    ASSERT_TRUE(header && frame);
    EXPECT_EQ(frame->width, header->width);
    EXPECT_EQ(frame->height, header->height);
    EXPECT_EQ(frame->process, header->process);
    EXPECT_EQ(frame->sampling, header->sampling);
    EXPECT_EQ(frame->scans, 0);
  }
  EXPECT_EQ(ReadJpegFrame(samples::kJpeg)->sampling[0], 0x22);
  EXPECT_EQ(ReadJpegFrame(samples::kJpeg)->sampling[1], 0x11);
  EXPECT_FALSE(ReadJpegFrame(std::span(samples::kJpeg).first(40)));
}

TEST(JpegHeader, CountsProgressiveScans) {
  const auto header = ParseJpegHeader(samples::kProgressiveJpeg);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->process, 2);
  EXPECT_EQ(header->scans, 10);
}

TEST(JpegHeader, ReadsOrientationInBothByteOrders) {
  for (uint16_t orientation = 1; orientation <= 8; ++orientation) {
    for (const bool little : {true, false}) {
      const auto header =
          ParseJpegHeader(samples::WithOrientation(samples::kJpeg, orientation, little));
      ASSERT_TRUE(header);
      EXPECT_EQ(header->exif_orientation, orientation);
    }
  }
  EXPECT_EQ(ParseJpegHeader(samples::WithOrientation(samples::kJpeg, 77, true))->exif_orientation,
            1);
}

TEST(JpegHeader, FirstExifBlockCounts) {
  const auto inner = samples::WithOrientation(samples::kJpeg, 3, true);
  EXPECT_EQ(ParseJpegHeader(samples::WithOrientation(inner, 6, false))->exif_orientation, 6);
}

TEST(JpegHeader, TellsRgbFromYcbcrAsLibjpegDoes) {
  // Start, an Adobe block of this transform (none below 0), a frame of these component names.
  const auto coded = [](bool jfif, int adobe_transform, const char* ids) {
    std::vector<uint8_t> bytes = {0xFF, 0xD8};
    const auto add = [&](int marker, std::vector<uint8_t> segment) {
      bytes.insert(bytes.end(), {0xFF, static_cast<uint8_t>(marker), 0,
                                 static_cast<uint8_t>(segment.size() + 2)});
      bytes.insert(bytes.end(), segment.begin(), segment.end());
    };
    if (jfif) add(0xE0, {'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0});
    if (adobe_transform >= 0) {
      add(0xEE,
          {'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, static_cast<uint8_t>(adobe_transform)});
    }
    add(0xC0, {8, 0, 16, 0, 16, 3, static_cast<uint8_t>(ids[0]), 0x22, 0,
               static_cast<uint8_t>(ids[1]), 0x11, 1, static_cast<uint8_t>(ids[2]), 0x11, 1});
    const auto header = ReadJpegFrame(bytes);
    EXPECT_TRUE(header && header->width == 16);
    return header && header->rgb_coded;
  };
  EXPECT_FALSE(coded(false, -1, "\1\2\3"));
  EXPECT_TRUE(coded(false, -1, "RGB"));
  EXPECT_FALSE(coded(true, -1, "RGB"));
  EXPECT_TRUE(coded(false, 0, "\1\2\3"));
  EXPECT_FALSE(coded(false, 1, "RGB"));
  EXPECT_FALSE(coded(true, 0, "\1\2\3"));
  EXPECT_FALSE(ReadJpegFrame(samples::kJpeg)->rgb_coded);
  EXPECT_FALSE(ReadJpegFrame(samples::kGreyJpeg)->rgb_coded);
}

TEST(JpegHeader, EveryCutIsSafe) {
  const auto bytes = samples::WithOrientation(samples::kProgressiveJpeg, 6, true);
  for (size_t size = 0; size <= bytes.size(); ++size) {
    // A copy of its own, so that a read past the end is seen by the sanitizer.
    const samples::Bytes cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    const auto header = ParseJpegHeader(cut);
    if (header) {
      EXPECT_EQ(header->width, 24);
    }
  }
  EXPECT_FALSE(ParseJpegHeader({}));
}

}  // namespace
}  // namespace lattice
