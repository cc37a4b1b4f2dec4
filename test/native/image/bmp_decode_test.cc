#include "native/image/bmp_decode.h"

#include <gtest/gtest.h>

#include "test/native/image/encoded_samples.h"

namespace lattice {
namespace {

using samples::BmpLayout;
using samples::Bytes;
using samples::MakeBmp;

Bytes PixelsOf(const BmpLayout& layout, const Bytes& rows) {
  const Bytes file = MakeBmp(layout, rows);
  const Result<Image> image = Decode(file, {});
  EXPECT_TRUE(image.ok()) << image.status().message();
  return image.ok() ? Bytes(image->data.begin(), image->data.end()) : Bytes{};
}

Status Refusal(const BmpLayout& layout, const Bytes& rows) {
  return Decode(MakeBmp(layout, rows), {}).status();
}

TEST(Bmp, RowsComeFromTheBottomOrTheTop) {
  // Two pixels and two bytes of padding a row.
  const Bytes rows = {3, 2, 1, 6, 5, 4, 0, 0, 9, 8, 7, 12, 11, 10, 0, 0};
  EXPECT_EQ(PixelsOf({2, 2, 24, 0, {}}, rows), (Bytes{7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(PixelsOf({2, -2, 24, 0, {}}, rows), (Bytes{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
}

TEST(Bmp, EveryDepth) {
  const Bytes palette = {3, 2, 1, 0, 6, 5, 4, 0};
  EXPECT_EQ(PixelsOf({1, 1, 32, 0, {}}, {3, 2, 1, 99}), (Bytes{1, 2, 3}));
  EXPECT_EQ(PixelsOf({2, 1, 8, 0, palette}, {1, 0, 0, 0}), (Bytes{4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(PixelsOf({2, 1, 4, 0, palette}, {0x10, 0, 0, 0}), (Bytes{4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(PixelsOf({2, 1, 1, 0, palette}, {0x80, 0, 0, 0}), (Bytes{4, 5, 6, 1, 2, 3}));
  // The last row may come without its padding.
  EXPECT_EQ(PixelsOf({1, 1, 24, 0, {}}, {3, 2, 1}), (Bytes{1, 2, 3}));
}

TEST(Bmp, OtherKindsAreNamed) {
  const std::pair<BmpLayout, std::string_view> files[] = {
      {{2, 1, 8, 1, {}}, "compressed (kind 1)"},
      {{2, 1, 16, 0, {}}, "16 bits a pixel"},
      {{2, 1, 32, 3, {}}, "bit masks of its own"},
  };
  for (const auto& [layout, words] : files) {
    const Status status = Refusal(layout, Bytes(64, 1));
    EXPECT_EQ(status.code(), StatusCode::kUnsupportedImageFormat) << words;
    EXPECT_NE(status.message().find(words), std::string::npos) << status.message();
  }
}

TEST(Bmp, DamageIsReportedWithTheRowsThatAreLeft) {
  EXPECT_EQ(Refusal({1, 4, 24, 0, {}}, Bytes(8, 1)).message(),
            "the BMP data is damaged or cut short: its last 2 of 4 rows can be read");
  EXPECT_EQ(Refusal({1, -4, 24, 0, {}}, Bytes(8, 1)).message(),
            "the BMP data is damaged or cut short: its first 2 of 4 rows can be read");
  EXPECT_EQ(Refusal({1, 1, 8, 0, {1, 2, 3, 0}}, {7, 0, 0, 0}).code(), StatusCode::kInvalidImage);
  EXPECT_EQ(Refusal({0, 1, 24, 0, {}}, {}).code(), StatusCode::kInvalidImage);
}

TEST(Bmp, LimitsAreCheckedOnTheHeader) {
  EXPECT_EQ(Refusal({60000, 60000, 24, 0, {}}, {}).code(), StatusCode::kImageTooLarge);
  EXPECT_EQ(Refusal({1, std::numeric_limits<int32_t>::min(), 24, 0, {}}, {}).code(),
            StatusCode::kInvalidImage);
}

TEST(Bmp, EveryCutIsSafe) {
  const Bytes file = MakeBmp({2, 2, 8, 0, Bytes(8, 0)}, Bytes(8, 1));
  for (size_t size = 18; size + 2 < file.size(); ++size) {
    const Bytes cut(file.begin(), file.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_EQ(Decode(cut, {}).status().code(), StatusCode::kInvalidImage) << size;
  }
}

}  // namespace
}  // namespace lattice
