#include "native/image/tiff_kind.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <initializer_list>

#include "native/image/decode.h"
#include "test/native/image/encoded_samples.h"

namespace lattice {
namespace {

using samples::Bytes;
using samples::MakePng;
using samples::MakeTiff;

// Bytes as they lie in a file of little-endian numbers.
template <typename T>
Bytes BytesOf(std::initializer_list<T> values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), std::data(values), bytes.size());
  return bytes;
}

samples::TiffLayout Grey(uint16_t bits, uint16_t sample_format, uint32_t width) {
  samples::TiffLayout layout;
  layout.width = width;
  layout.samples = 1;
  layout.photometric = 1;
  layout.bits = bits;
  layout.sample_format = sample_format;
  return layout;
}

int GreyAt(const Image& image, size_t x) { return image.data.at(3 * x); }

Image Decoded(const Bytes& bytes) {
  Result<Image> image = Decode(bytes, {});
  EXPECT_TRUE(image.ok()) << image.status().message();
  return image.ok() ? *std::move(image) : Image{};
}

constexpr uint16_t kSmallest = 340;
constexpr uint16_t kLargest = 341;
constexpr uint16_t kShort = 3;
constexpr uint16_t kLong = 4;
constexpr uint16_t kFloat = 11;

TEST(TiffKind, SamplesAreScaledByTheRangeThatTheFileNames) {
  samples::TiffLayout twelve = Grey(16, 1, 3);
  twelve.more = {{kSmallest, kShort, 0}, {kLargest, kShort, 4095}};
  const Image grey = Decoded(MakeTiff(twelve, BytesOf<uint16_t>({0, 2048, 4095})));
  EXPECT_EQ(GreyAt(grey, 0), 0);
  EXPECT_EQ(GreyAt(grey, 1), 128);
  EXPECT_EQ(GreyAt(grey, 2), 255);

  samples::TiffLayout wide = Grey(32, 2, 3);
  wide.more = {{kSmallest, kLong, 1000}, {kLargest, kLong, 2000}};
  const Image signed_grey = Decoded(MakeTiff(wide, BytesOf<int32_t>({-5, 1500, 2000})));
  EXPECT_EQ(GreyAt(signed_grey, 0), 0);
  EXPECT_EQ(GreyAt(signed_grey, 1), 128);
  EXPECT_EQ(GreyAt(signed_grey, 2), 255);

  samples::TiffLayout linear = Grey(32, 3, 2);
  linear.more = {{kSmallest, kFloat, 0}, {kLargest, kFloat, std::bit_cast<uint32_t>(2.0f)}};
  EXPECT_EQ(GreyAt(Decoded(MakeTiff(linear, BytesOf<float>({1.0f, 2.0f}))), 0), 128);
}

TEST(TiffKind, FloatsUpToOneAreScaledAndOthersAreNot) {
  const Image to_one = Decoded(MakeTiff(Grey(32, 3, 3), BytesOf<float>({0.0f, 0.5f, 1.0f})));
  EXPECT_EQ(GreyAt(to_one, 0), 0);
  EXPECT_EQ(GreyAt(to_one, 1), 128);
  EXPECT_EQ(GreyAt(to_one, 2), 255);
  const Image bytes = Decoded(MakeTiff(Grey(32, 3, 2), BytesOf<float>({7.0f, 250.0f})));
  EXPECT_EQ(GreyAt(bytes, 1), 250);
  const Image integers = Decoded(MakeTiff(Grey(32, 2, 2), BytesOf<int32_t>({7, 250})));
  EXPECT_EQ(GreyAt(integers, 1), 250);
}

// They would be black or white, and no word of it.
TEST(TiffKind, SamplesOfUnknownRangeAreRefused) {
  const std::pair<Bytes, std::string_view> files[] = {
      {MakeTiff(Grey(16, 1, 2), BytesOf<uint16_t>({0, 4095})), "less than 1/16"},
      {MakeTiff(Grey(16, 1, 1), BytesOf<uint16_t>({200})), "less than 1/16"},
      {MakeTiff(Grey(32, 1, 1), BytesOf<uint32_t>({70000})), "less than 1/16"},
      {MakeTiff(Grey(32, 2, 2), BytesOf<int32_t>({3, 70000})), "which is white"},
      {MakeTiff(Grey(32, 3, 2), BytesOf<float>({3.0f, 4095.0f})), "which is white"},
      {MakePng({2, 1, 16, 0, {}}, Bytes{0, 1, 15, 255}), "the PNG use less than 1/16"},
  };
  for (const auto& [file, words] : files) {
    const Status status = Decode(file, {}).status();
    EXPECT_EQ(status.code(), StatusCode::kUnsupportedImageFormat) << words;
    EXPECT_NE(status.message().find(words), std::string::npos) << status.message();
  }
  // Black is a picture.
  EXPECT_EQ(GreyAt(Decoded(MakeTiff(Grey(16, 1, 2), Bytes(4, 0))), 1), 0);
}

TEST(TiffKind, KindsOfTiffThatCannotBeReadAreNamed) {
  const auto with = [](auto change) {
    samples::TiffLayout layout;
    change(layout);
    return MakeTiff(layout, Bytes{10, 128, 128, 1, 1, 1});
  };
  using Layout = samples::TiffLayout;
  const std::pair<Bytes, std::string_view> files[] = {
      {with([](Layout& l) { l.photometric = 6; }), "YCbCr without JPEG"},
      {with([](Layout& l) { l.photometric = 8; }), "CIELAB"},
      {with([](Layout& l) { l.bits = 12; }), "12 bits a sample"},
      {with([](Layout& l) {
         l.bits = 16;
         l.sample_format = 3;
       }),
       "16 bits a sample as a float"},
      {with([](Layout& l) { l.compression = 6; }), "old-style JPEG"},
      {with([](Layout& l) { l.compression = 34925; }), "LZMA"},
      {with([](Layout& l) { l.compression = 65000; }), "number 65000"},
      {with([](Layout& l) {
         l.more = {{284, kShort, 2}, {322, kShort, 16}, {323, kShort, 16}};
       }),
       "tiles of one colour each"},
  };
  for (const auto& [file, words] : files) {
    const Status status = Decode(file, {}).status();
    EXPECT_EQ(status.code(), StatusCode::kUnsupportedImageFormat) << words;
    EXPECT_NE(status.message().find(words), std::string::npos) << status.message();
  }
}

}  // namespace
}  // namespace lattice
