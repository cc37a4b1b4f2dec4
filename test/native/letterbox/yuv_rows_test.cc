#include "native/letterbox/yuv_rows.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace lattice {
namespace {

// Five rows of exactly the bytes that a row may read.
struct RandomRow {
  std::vector<uint8_t> luma, cb[2], cr[2];
  int width;

  RandomRow(int row_width, std::mt19937& random) : width(row_width) {
    const auto fill = [&](std::vector<uint8_t>& row, int size) {
      row.resize(static_cast<size_t>(size));
      // The ends of the range often, where levels are cut off.
      const uint32_t extreme = random() % 3;
      for (uint8_t& level : row) {
        level =
            static_cast<uint8_t>(random() % 2 < extreme ? (random() % 2 == 0 ? 0 : 255) : random());
      }
    };
    fill(luma, width);
    for (auto* chroma : {cb, cr}) {
      for (int i = 0; i < 2; ++i) fill(chroma[i], ChromaSize(width));
    }
  }

  YuvRow view() const {
    return {
        luma.data(), {cb[0].data(), cb[1].data()}, {cr[0].data(), cr[1].data()}, ChromaSize(width)};
  }
};

std::vector<uint8_t> Converted(const YuvRows& rows, const YuvRow& row, int width) {
  YuvRowScratch scratch(width);
  std::vector<uint8_t> levels(YuvRowBytes(width));
  rows.convert(row, width, scratch, levels.data());
  levels.resize(static_cast<size_t>(4 * width));
  return levels;
}

TEST(YuvRows, PlainIsTheSharedSample) {
  std::mt19937 random(1);
  const RandomRow row(77, random);
  const auto levels = Converted(PlainYuvRows(), row.view(), 77);
  for (int x = 0; x < 77; ++x) {
    const RgbLevels pixel = row.view().At(x);
    const auto i = static_cast<size_t>(4 * x);
    ASSERT_EQ(levels[i], pixel.red);
    ASSERT_EQ(levels[i + 1], pixel.green);
    ASSERT_EQ(levels[i + 2], pixel.blue);
    ASSERT_EQ(levels[i + 3], 0);
  }
}

TEST(YuvRows, WideInstructionsGiveThePlainBitsAtEveryWidth) {
  std::mt19937 random(2);
  for (int round = 0; round < 3; ++round) {
    for (int width = 1; width <= 300; ++width) {
      const RandomRow row(width, random);
      ASSERT_EQ(Converted(BestYuvRows(), row.view(), width),
                Converted(PlainYuvRows(), row.view(), width))
          << width;
    }
  }
}

TEST(YuvRows, WideInstructionsGiveThePlainBitsOfEveryColour) {
  std::vector<uint8_t> luma(256);
  for (size_t i = 0; i < luma.size(); ++i) luma[i] = static_cast<uint8_t>(i);
  YuvRowScratch scratch(256);
  std::vector<uint8_t> best(YuvRowBytes(256));
  std::vector<uint8_t> plain(best.size());
  for (int cb = 0; cb < 256; ++cb) {
    for (int cr = 0; cr < 256; ++cr) {
      const std::vector<uint8_t> u(128, static_cast<uint8_t>(cb));
      const std::vector<uint8_t> v(128, static_cast<uint8_t>(cr));
      const YuvRow row{luma.data(), {u.data(), u.data()}, {v.data(), v.data()}, 128};
      BestYuvRows().convert(row, 256, scratch, best.data());
      PlainYuvRows().convert(row, 256, scratch, plain.data());
      ASSERT_EQ(best, plain) << cb << ", " << cr;
    }
  }
}

TEST(YuvRowBytes, AreWholeBlocks) {
  EXPECT_EQ(YuvRowBytes(1), 128u);
  EXPECT_EQ(YuvRowBytes(32), 128u);
  EXPECT_EQ(YuvRowBytes(33), 256u);
}

}  // namespace
}  // namespace lattice
