#include "native/tiles/merge_tiles.h"

#include <gtest/gtest.h>

#include <vector>

namespace lattice {
namespace {

class MergeTilesTest : public testing::Test {
 protected:
  // Two tiles of 60 x 100 in a picture of 100 x 100: the right one begins at 40.
  MergeTilesTest() : grid_{2, 1, 60, 100, 100, 100}, found_(3) {}

  // In pixels of the part. Part 0 is the whole picture.
  void Add(size_t part, float x1, float y1, float x2, float y2, float score, float class_id = 0) {
    found_[part].boxes.push_back({x1, y1, x2, y2, score, class_id});
  }

  std::vector<float> Scores() {
    std::vector<float> scores;
    for (const Detection& box : MergeTiles(grid_, found_, options_).boxes) {
      scores.push_back(box.score);
    }
    return scores;
  }

  TileGrid grid_;
  std::vector<Detections> found_;
  DetectionOptions options_;
};

using Scored = std::vector<float>;

TEST_F(MergeTilesTest, BoxesAreMovedToThePicture) {
  Add(2, 10, 20, 30, 40, 0.5f);
  const Detections merged = MergeTiles(grid_, found_, options_);
  ASSERT_EQ(merged.boxes.size(), 1u);
  EXPECT_EQ(merged.boxes[0].x1, 50);
  EXPECT_EQ(merged.boxes[0].x2, 70);
  EXPECT_EQ(merged.boxes[0].y1, 20);
}

TEST_F(MergeTilesTest, TheBestBoxOfAThingThatSeveralPartsSeeStays) {
  Add(0, 44, 20, 56, 40, 0.4f);
  Add(1, 45, 20, 56, 41, 0.9f);
  Add(2, 5, 20, 16, 40, 0.6f);
  EXPECT_EQ(Scores(), Scored{0.9f});
}

TEST_F(MergeTilesTest, OtherClassesAndOtherPlacesStay) {
  Add(0, 44, 20, 56, 40, 0.4f, 1);
  Add(1, 44, 20, 56, 40, 0.9f, 0);
  Add(2, 30, 20, 42, 40, 0.6f, 0);
  EXPECT_EQ(Scores(), (Scored{0.9f, 0.6f, 0.4f}));
}

TEST_F(MergeTilesTest, APieceAtAnInnerBorderIsLeftOutWhateverItsScore) {
  Add(1, 50, 20, 60, 40, 0.95f);  // ends at the left tile's right border
  Add(2, 10, 20, 40, 40, 0.5f);
  EXPECT_EQ(Scores(), Scored{0.5f});
}

TEST_F(MergeTilesTest, WhatEndsAtTheBorderOfThePictureIsWhole) {
  Add(1, 0, 0, 10, 100, 0.8f);
  Add(2, 50, 0, 60, 100, 0.7f);
  Add(0, 30, 0, 70, 100, 0.6f);
  EXPECT_EQ(Scores(), (Scored{0.8f, 0.7f, 0.6f}));
}

TEST_F(MergeTilesTest, APartOfABetterLargerBoxOfAnotherPartGoes) {
  Add(0, 20, 10, 90, 90, 0.8f);
  Add(1, 25, 15, 45, 50, 0.7f);
  EXPECT_EQ(Scores(), Scored{0.8f});
}

TEST_F(MergeTilesTest, ASmallBoxInALargerOneOfItsOwnPartStays) {
  Add(0, 20, 10, 90, 90, 0.8f);
  Add(0, 25, 15, 45, 50, 0.7f);
  EXPECT_EQ(Scores(), (Scored{0.8f, 0.7f}));
}

TEST_F(MergeTilesTest, ABetterSmallBoxDoesNotTakeTheLargerOneAway) {
  Add(0, 20, 10, 90, 90, 0.6f);
  Add(1, 25, 15, 45, 50, 0.7f);
  EXPECT_EQ(Scores(), (Scored{0.7f, 0.6f}));
}

TEST_F(MergeTilesTest, ABoxThatFillsItsTileStaysWhereTheWholePictureHasItToo) {
  Add(2, 5, 5, 58, 95, 0.9f);
  EXPECT_EQ(Scores(), Scored{});
  Add(0, 40, 0, 100, 100, 0.6f, 1);  // of another class
  EXPECT_EQ(Scores(), Scored{0.6f});
  Add(0, 40, 0, 100, 100, 0.5f);
  EXPECT_EQ(Scores(), (Scored{0.9f, 0.6f}));
}

TEST_F(MergeTilesTest, AStricterOverlapOfTheRequestCounts) {
  Add(1, 10, 0, 30, 20, 0.9f);
  Add(0, 20, 0, 40, 20, 0.8f);
  EXPECT_EQ(Scores().size(), 2u);
  options_.iou = 0.3f;
  EXPECT_EQ(Scores(), Scored{0.9f});
}

TEST_F(MergeTilesTest, TheListIsCutAtTheMostDetections) {
  for (int i = 0; i < 5; ++i) Add(1, 5 + 9.0f * i, 5, 10 + 9.0f * i, 10, 0.9f - 0.1f * i);
  options_.max_detections = 3;
  const Detections merged = MergeTiles(grid_, found_, options_);
  EXPECT_EQ(merged.boxes.size(), 3u);
  EXPECT_TRUE(merged.truncated);
}

TEST_F(MergeTilesTest, ACutListOfAPartIsSaid) {
  Add(1, 5, 5, 10, 10, 0.9f);
  EXPECT_FALSE(MergeTiles(grid_, found_, options_).truncated);
  found_[2].truncated = true;
  EXPECT_TRUE(MergeTiles(grid_, found_, options_).truncated);
}

}  // namespace
}  // namespace lattice
