#include "native/tiles/tile_grid.h"

#include <gtest/gtest.h>

#include <random>

namespace lattice {
namespace {

constexpr InputSize kInput{640, 640};

TileGrid Auto(int width, int height) { return GridFor({}, {width, height}, kInput); }

TEST(TileGridTest, AGridIsAsItIsAskedFor) {
  const TileGrid grid = GridFor({.columns = 3, .rows = 2}, {1920, 1280}, kInput);
  EXPECT_EQ(grid.columns, 3);
  EXPECT_EQ(grid.rows, 2);
  // 739 * (3 - 2 * 0.2) is the least that covers 1920.
  EXPECT_EQ(grid.width, 739);
  EXPECT_EQ(grid.height, 712);
  const auto parts = grid.Parts();
  ASSERT_EQ(parts.size(), 7u);
  EXPECT_EQ(parts[0].width, 1920);
  EXPECT_EQ(parts[1].left, 0);
  EXPECT_EQ(parts[2].left, 591);
  EXPECT_EQ(parts[3].left + parts[3].width, 1920);
  EXPECT_EQ(parts[6].top + parts[6].height, 1280);
}

TEST(TileGridTest, ASizeGivesTilesOfThatSize) {
  const TileGrid grid = GridFor({.size = 640}, {1920, 1278}, kInput);
  EXPECT_EQ(grid.width, 640);
  EXPECT_EQ(grid.height, 640);
  EXPECT_EQ(grid.columns, 4);
  EXPECT_EQ(grid.rows, 3);
}

TEST(TileGridTest, ASizeThatGivesTooManyTilesIsEnlarged) {
  const TileGrid grid = GridFor({.size = 32}, {10'000, 6'000}, kInput);
  EXPECT_LE(grid.columns * grid.rows, kMostTiles);
  EXPECT_GT(grid.columns * grid.rows, kMostTiles / 2);
}

TEST(TileGridTest, ByItsSizeAPictureNotMuchLargerThanTheInputStaysWhole) {
  EXPECT_TRUE(Auto(640, 480).is_whole());
  EXPECT_TRUE(Auto(960, 960).is_whole());
  EXPECT_EQ(Auto(960, 960).parts(), 1);
  EXPECT_FALSE(Auto(1280, 720).is_whole());
  EXPECT_EQ(Auto(1920, 1278).columns, 3);
  EXPECT_EQ(Auto(1920, 1278).rows, 2);
  EXPECT_LE(Auto(12'000, 9'000).parts(), 1 + kMostAutoTiles);
  EXPECT_LE(Auto(60'000, 200).parts(), 1 + kMostAutoTiles);
}

TEST(TileGridTest, APictureSmallerThanItsGridHasFewerTiles) {
  const TileGrid grid = GridFor({.columns = 8, .rows = 8}, {3, 1}, kInput);
  EXPECT_EQ(grid.columns, 3);
  EXPECT_EQ(grid.rows, 1);
}

TEST(TileGridTest, TilesCoverThePictureAndOverlap) {
  std::mt19937 random(7);
  for (int i = 0; i < 3'000; ++i) {
    const int width = 1 + static_cast<int>(random() % 5'000);
    const int height = 1 + static_cast<int>(random() % 5'000);
    TileSpec spec;
    spec.overlap = static_cast<double>(random() % 6) / 10;
    if (random() % 3 == 0) {
      spec.columns = 1 + static_cast<int>(random() % 8);
      spec.rows = 1 + static_cast<int>(random() % 8);
    } else if (random() % 2 == 0) {
      spec.size = 1 + static_cast<int>(random() % 3'000);
    }
    const TileGrid grid = GridFor(spec, {width, height}, kInput);
    ASSERT_LE(grid.columns * grid.rows, kMostTiles);
    const auto parts = grid.Parts();
    ASSERT_EQ(parts.size(), static_cast<size_t>(grid.parts()));
    if (grid.is_whole()) continue;
    int right = 0;
    for (int column = 0; column < grid.columns; ++column) {
      const Rect& tile = parts[1 + static_cast<size_t>(column)];
      ASSERT_LE(tile.left, right);
      // Rounded positions may take pixels of the overlap.
      if (column > 0) {
        ASSERT_GE(right - tile.left, spec.overlap * tile.width - 2);
      }
      right = tile.left + tile.width;
    }
    ASSERT_EQ(right, width);
    ASSERT_EQ(parts.back().top + parts.back().height, height);
    for (const Rect& tile : parts) {
      ASSERT_GE(tile.left, 0);
      ASSERT_GE(tile.top, 0);
      ASSERT_LE(tile.left + tile.width, width);
      ASSERT_LE(tile.top + tile.height, height);
    }
  }
}

}  // namespace
}  // namespace lattice
