#include "native/image/jpeg_extent.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "native/image/decode.h"
#include "native/image/jpeg_entropy.h"
#include "native/image/jpeg_header.h"
#include "native/image/turbojpeg_decode.h"
#include "native/image/vips_decode.h"
#include "test/native/image/encoded_samples.h"

namespace lattice {
namespace {

using samples::Bytes;
using samples::CopyOf;

std::vector<Bytes> Photos() {
  return {CopyOf(samples::kJpeg), CopyOf(samples::kProgressiveJpeg), CopyOf(samples::kGreyJpeg),
          CopyOf(samples::kCmykJpeg)};
}

// The frame header of the grey picture, up to its height.
constexpr uint8_t kGreyFrame[] = {0xFF, 0xC0, 0x00, 0x0B, 0x08, 0x00};

Bytes Joined(const Bytes& start, const Bytes& end) {
  Bytes joined = start;
  joined.insert(joined.end(), end.begin(), end.end());
  return joined;
}

TEST(JpegExtent, EndsWhereTheEndMarkerBelongs) {
  for (const Bytes& photo : Photos()) {
    const Bytes open(photo.begin(), photo.end() - 2);
    const Image image = *Decode(photo, {});
    for (const Bytes& rest :
         {Bytes{}, Bytes{0xFF, 0xD9}, Bytes{0xFF}, Bytes(700, 0), Bytes{1, 2, 3, 4, 0xFF, 0xD9},
          Joined({0xFF, 0xD9}, {'x', 'y'}), photo}) {
      const Result<Image> again = Decode(Joined(open, rest), {});
      ASSERT_TRUE(again.ok()) << again.status().message();
      EXPECT_TRUE(again->data == image.data);
    }
    ASSERT_TRUE(FindJpegEnd(open).ok());
    EXPECT_EQ(*FindJpegEnd(open), open.size());
    EXPECT_EQ(*FindJpegEnd(photo), open.size());
  }
}

// The image data decide, not the end marker.
TEST(JpegExtent, AShortTrailerInPlaceOfTheEndMarkerIsNoDamage) {
  ASSERT_TRUE(StartVips().ok());
  auto* memory = std::pmr::get_default_resource();
  std::mt19937 random(53);
  std::vector<Bytes> trailers = {{'d', 'h', 'a', 'v', 0x5E, 0x01, 0, 0}, Bytes(64, 'x')};
  for (size_t size = 8; size <= 64; ++size) {
    Bytes trailer(size);
    for (uint8_t& byte : trailer) byte = static_cast<uint8_t>(random() % 0xFF);
    trailer[size / 2] = 0xFF;  // looks like a marker
    if (trailer[size / 2 + 1] == 0xD9) trailer[size / 2 + 1] = 0x00;
    trailers.push_back(trailer);
  }
  for (const Bytes& photo : Photos()) {
    const Bytes open(photo.begin(), photo.end() - 2);
    const Image image = *Decode(photo, {});
    for (const Bytes& trailer : trailers) {
      const Bytes ended = Joined(open, trailer);
      const Result<Image> again = Decode(ended, {});
      ASSERT_TRUE(again.ok()) << trailer.size() << again.status().message();
      EXPECT_TRUE(again->data == image.data) << trailer.size();
      // As a build without libjpeg-turbo decodes it.
      const Result<size_t> end = FindJpegEnd(ended);
      ASSERT_TRUE(end.ok()) << end.status().message();
      const Bytes whole(ended.begin(), ended.begin() + static_cast<ptrdiff_t>(*end));
      const auto general = DecodeByVips(Joined(whole, {0xFF, 0xD9}), ImageFormat::kJpeg, {}, memory,
                                        OnWarning::kAccept);
      ASSERT_TRUE(general.ok()) << general.status().message();
      EXPECT_TRUE(general->image.data == image.data) << trailer.size();
    }
    // It makes no picture whole that breaks off.
    EXPECT_FALSE(FindJpegEnd(Joined(Bytes(open.begin(), open.end() - 20), trailers[0])).ok());
    for (const Bytes& rest : {Joined(trailers[0], {0xFF, 0xD9}), Bytes(65, 'x')}) {
      EXPECT_EQ(Decode(Joined(open, rest), {}).status().code(), StatusCode::kInvalidImage);
    }
  }
}

TEST(JpegExtent, APictureThatBreaksOffIsRefusedWithOrWithoutAnEndMarker) {
  for (const Bytes& photo : Photos()) {
    for (size_t size = 2; size + 3 < photo.size(); ++size) {
      const Bytes cut(photo.begin(), photo.begin() + static_cast<ptrdiff_t>(size));
      EXPECT_EQ(Decode(cut, {}).status().code(), StatusCode::kInvalidImage) << size;
      EXPECT_FALSE(FindJpegEnd(cut).ok()) << size;
    }
    for (size_t size = 2; size + 3 < photo.size(); ++size) {
      const Bytes cut(photo.begin(), photo.begin() + static_cast<ptrdiff_t>(size));
      const Status status = Decode(Joined(cut, {0xFF, 0xD9}), {}).status();
      if (status.ok()) {
        // All of the scans that such a file has: the same picture with less detail.
        EXPECT_EQ(ParseJpegHeader(photo)->process, 2) << size;
        continue;
      }
      EXPECT_EQ(status.code(), StatusCode::kInvalidImage) << size;
    }
  }
  const Bytes photo = CopyOf(samples::kJpeg);
  const Bytes most(photo.begin(), photo.end() - 20);
  EXPECT_EQ(Decode(most, {}).status().message(),
            "the JPEG data is damaged or cut short: its first 0 of 16 rows can be read");
}

TEST(JpegExtent, RowsAboveADamageAreCounted) {
  Bytes tall = CopyOf(samples::kGreyJpeg);
  const auto frame =
      std::search(tall.begin(), tall.end(), std::begin(kGreyFrame), std::end(kGreyFrame));
  ASSERT_NE(frame, tall.end());
  frame[6] = 24;
  EXPECT_EQ(Decode(tall, {}).status().message(),
            "the JPEG data is damaged or cut short: its first 16 of 24 rows can be read");
}

// libjpeg warns of the bytes that no marker names any more, and fails for want of what they held.
TEST(JpegExtent, AWarningHidesNoError) {
  Bytes jpeg = CopyOf(samples::kJpeg);
  const Bytes marker = {0xFF, 0xDB};  // of a quantisation table
  const auto table = std::find_end(jpeg.begin(), jpeg.end(), marker.begin(), marker.end());
  ASSERT_NE(table, jpeg.end());
  table[0] = table[1] = 0;
  EXPECT_EQ(Decode(jpeg, {}).status().code(), StatusCode::kInvalidImage);
}

// A frame of Motion JPEG has the tables of the standard, and leaves them out.
TEST(JpegExtent, TablesMayBeLeftOut) {
  HuffmanTables tables;
  EXPECT_EQ(tables.dc[0].Find(0x0000).bits, 2);
  EXPECT_EQ(tables.ac[0].Find(0xA000).symbol, 0);  // the end of a block: 1010
  EXPECT_EQ(tables.ac[0].Find(0xA000).bits, 4);
  EXPECT_EQ(tables.ac[1].Find(0x0000).symbol, 0);
  EXPECT_EQ(tables.ac[0].Find(0xFFFF).bits, 0);
}

// A build without libjpeg-turbo refuses the same files and makes the same pixels.
TEST(JpegExtent, WhatADecoderTakesWithoutAWarningIsWhole) {
  if (TurboJpegName().empty()) GTEST_SKIP() << "built without libjpeg-turbo";
  ASSERT_TRUE(StartVips().ok());
  auto* memory = std::pmr::get_default_resource();
  std::mt19937 random(36);
  int sound = 0;
  for (int round = 0; round < 3000; ++round) {
    Bytes bytes = Photos()[static_cast<size_t>(round) % 3];
    const size_t at = random() % bytes.size();
    const size_t count = std::min<size_t>(1 + random() % 6, bytes.size() - at);
    for (size_t i = 0; i < count; ++i) bytes[at + i] = static_cast<uint8_t>(random());
    const auto header = ParseJpegHeader(bytes);
    if (!header || header->scans > kMaxJpegScans) continue;
    if (!CheckSize(header->width, header->height, {1 << 20, 4096}).ok()) continue;
    const auto fast = DecodeByTurboJpeg(bytes, *header, memory);
    if (!fast) continue;
    ++sound;
    EXPECT_TRUE(FindJpegEnd(bytes).ok()) << round << FindJpegEnd(bytes).status().message();
    const auto general = DecodeByVips(bytes, ImageFormat::kJpeg, {}, memory, OnWarning::kAccept);
    EXPECT_TRUE(general.ok() && fast->data == general->image.data) << round;
  }
  EXPECT_GT(sound, 100);
}

}  // namespace
}  // namespace lattice
