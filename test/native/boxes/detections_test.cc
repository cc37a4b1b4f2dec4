#include "native/boxes/detections.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "native/boxes/box_math.h"

namespace lattice {
namespace {

// A head output made anchor by anchor.
class Head {
 public:
  Head(int classes, int anchors)
      : classes_(classes), anchors_(anchors), rows_(static_cast<size_t>((4 + classes) * anchors)) {}

  void Box(int anchor, float cx, float cy, float w, float h) {
    const float values[] = {cx, cy, w, h};
    for (int row = 0; row < 4; ++row) At(row, anchor) = values[row];
  }
  float& Score(int anchor, int class_id) { return At(4 + class_id, anchor); }
  Detections FindBoxes(const DetectionOptions& options, const LetterboxTransform& t) const {
    const HeadOutput output{.rows = rows_.data(), .count = anchors_};
    return lattice::FindBoxes({HeadLayout::kRows, classes_}, output, t, options);
  }
  // Source and input are both 640 x 640.
  Detections FindBoxes(const DetectionOptions& options = {}) const {
    return FindBoxes(options, ComputeLetterbox(640, 640, 640, 640));
  }

 private:
  float& At(int row, int anchor) { return rows_.at(static_cast<size_t>(row * anchors_ + anchor)); }
  int classes_;
  int anchors_;
  std::vector<float> rows_;
};

Head RandomHead(int classes, int anchors, uint32_t seed) {
  std::mt19937 random(seed);
  const auto real = [&](float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(random);
  };
  Head head(classes, anchors);
  for (int a = 0; a < anchors; ++a) {
    head.Box(a, real(0, 640), real(0, 640), real(1, 200), real(1, 200));
    // Rounded scores, so that there are ties.
    for (int c = 0; c < classes; ++c) head.Score(a, c) = std::round(real(0, 1) * 50) / 50;
  }
  return head;
}

Box CornersOf(const Detection& d) { return {d.x1, d.y1, d.x2, d.y2}; }

bool Same(const Detection& a, const Detection& b) {
  return a.x1 == b.x1 && a.y1 == b.y1 && a.x2 == b.x2 && a.y2 == b.y2 && a.score == b.score &&
         a.class_id == b.class_id;
}

TEST(DecodeRowsTest, OneClearBox) {
  Head head(3, 10);
  head.Box(4, 100, 200, 40, 60);
  head.Score(4, 2) = 0.75f;
  head.Score(4, 1) = 0.5f;
  const Detections found = head.FindBoxes();
  ASSERT_EQ(found.boxes.size(), 1u);
  EXPECT_TRUE(Same(found.boxes[0], {80, 170, 120, 230, 0.75f, 2}));
  EXPECT_FALSE(found.truncated);
}

TEST(DecodeRowsTest, ThresholdIsStrict) {
  Head head(1, 2);
  head.Box(0, 100, 100, 10, 10);
  head.Box(1, 300, 300, 10, 10);
  head.Score(0, 0) = 0.5f;
  head.Score(1, 0) = std::nextafter(0.5f, 1.0f);
  DetectionOptions options;
  options.confidence = 0.5f;
  EXPECT_EQ(head.FindBoxes(options).boxes.size(), 1u);
  head.Score(0, 0) = 1.0f;
  options.confidence = 1.0f;
  EXPECT_TRUE(head.FindBoxes(options).boxes.empty());
  options.confidence = 0.0f;
  EXPECT_EQ(head.FindBoxes(options).boxes.size(), 2u);
}

TEST(DecodeRowsTest, LetterboxIsUndoneAndClamped) {
  Head head(1, 1);
  head.Score(0, 0) = 0.9f;
  const LetterboxTransform t = ComputeLetterbox(1920, 1080, 640, 640);
  head.Box(0, 320, 320, 64, 36);
  const Detections inside = head.FindBoxes({}, t);
  EXPECT_NEAR(inside.boxes.at(0).x1, 864, 1e-2);
  EXPECT_NEAR(inside.boxes.at(0).y1, 486, 1e-2);
  EXPECT_NEAR(inside.boxes.at(0).x2, 1056, 1e-2);
  EXPECT_NEAR(inside.boxes.at(0).y2, 594, 1e-2);
  head.Box(0, 320, 320, 2'000, 2'000);
  EXPECT_TRUE(Same(head.FindBoxes({}, t).boxes.at(0), {0, 0, 1920, 1080, 0.9f, 0}));
}

TEST(DecodeRowsTest, StretchIsUndoneOnEachSide) {
  Head head(1, 1);
  head.Score(0, 0) = 0.9f;
  head.Box(0, 320, 320, 64, 64);
  const Detections found = head.FindBoxes({}, ComputeStretch(1920, 1080, 640, 640));
  EXPECT_TRUE(Same(found.boxes.at(0), {864, 486, 1056, 594, 0.9f, 0}));
}

TEST(DecodeRowsTest, BoxesWithoutAnAreaInThePictureNeverPass) {
  const LetterboxTransform t =
      ComputeLetterbox(1920, 1080, 640, 640);  // 140 rows above are padding
  const float none[][4] = {
      {320, 320, 64, 0},  {320, 320, 0, 36},     // no height, no width
      {320, 100, 64, 36}, {320, 540, 64, 36},    // in the padding above and below
      {-40, 320, 64, 36}, {700, 320, 64, 36},    // beside the picture
      {320, 131, 64, 18}, {320, 320, 0.02f, 9},  // ends at its first row, a fiftieth of a pixel
  };
  for (const auto& [cx, cy, w, h] : none) {
    Head head(1, 2);
    head.Box(0, cx, cy, w, h);
    head.Score(0, 0) = 0.9f;
    head.Box(1, 320, 320, 64, 36);
    head.Score(1, 0) = 0.8f;
    DetectionOptions options;
    options.max_detections = 1;
    // It takes no place of those that exist.
    const Detections found = head.FindBoxes(options, t);
    ASSERT_EQ(found.boxes.size(), 1u) << cx << ' ' << cy << ' ' << w << ' ' << h;
    EXPECT_EQ(found.boxes[0].score, 0.8f);
    EXPECT_FALSE(found.truncated);
  }
  Head head(1, 1);
  head.Score(0, 0) = 0.9f;
  head.Box(0, 320, 131, 64, 20);  // a row of the input, three of the picture
  EXPECT_NEAR(head.FindBoxes({}, t).boxes.at(0).y2, 3, 1e-2);
}

TEST(DecodeRowsTest, NonFiniteValuesNeverPass) {
  const float bad[] = {NAN, std::numeric_limits<float>::infinity(),
                       -std::numeric_limits<float>::infinity()};
  for (const float value : bad) {
    for (int row = 0; row < 4; ++row) {
      Head head(1, 2);
      float box[] = {100, 100, 10, 10};
      box[row] = value;
      head.Box(0, box[0], box[1], box[2], box[3]);
      head.Box(1, 100, 100, 10, 10);
      head.Score(0, 0) = 0.9f;
      head.Score(1, 0) = 0.8f;
      const Detections found = head.FindBoxes();
      ASSERT_EQ(found.boxes.size(), 1u);
      EXPECT_EQ(found.boxes[0].score, 0.8f);
    }
    Head head(1, 1);
    head.Box(0, 100, 100, 10, 10);
    head.Score(0, 0) = value;
    EXPECT_TRUE(head.FindBoxes().boxes.empty());
  }
}

TEST(DecodeRowsTest, SuppressionIsStrictAndPerClass) {
  Head head(2, 3);
  for (int a = 0; a < 3; ++a) head.Box(a, 100, 100, 20, 20);
  head.Box(1, 110, 100, 20, 20);  // IoU 1/3 with the first
  head.Score(0, 0) = 0.9f;
  head.Score(1, 0) = 0.8f;
  head.Score(2, 1) = 0.7f;  // same place, another class
  DetectionOptions options;
  options.iou = 1.0f / 3.0f;
  EXPECT_EQ(head.FindBoxes(options).boxes.size(), 3u);
  options.iou = 0.33f;
  const Detections found = head.FindBoxes(options);
  ASSERT_EQ(found.boxes.size(), 2u);
  EXPECT_EQ(found.boxes[0].class_id, 0);
  EXPECT_EQ(found.boxes[1].class_id, 1);
}

TEST(DecodeRowsTest, KeptBoxesOfAClassDoNotOverlapAndAreSorted) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    DetectionOptions options;
    options.iou = 0.05f + 0.045f * static_cast<float>(seed);
    const Detections found = RandomHead(3, 400, seed).FindBoxes(options);
    ASSERT_FALSE(found.boxes.empty());
    for (size_t i = 0; i < found.boxes.size(); ++i) {
      if (i > 0) {
        EXPECT_GE(found.boxes[i - 1].score, found.boxes[i].score);
      }
      for (size_t j = 0; j < i; ++j) {
        if (found.boxes[i].class_id != found.boxes[j].class_id) continue;
        // Boxes at the picture's edge were compared before they were clamped.
        const Box a = CornersOf(found.boxes[i]);
        const Box b = CornersOf(found.boxes[j]);
        const auto whole = [](const Box& box) {
          return box.x1 > 0 && box.y1 > 0 && box.x2 < 640 && box.y2 < 640;
        };
        if (whole(a) && whole(b)) {
          EXPECT_LE(IntersectionOverUnion(a, b), options.iou + 1e-4f);
        }
      }
    }
  }
}

TEST(DecodeRowsTest, TiesAreOrderedByAnchor) {
  Head head(1, 50);
  for (int a = 0; a < 50; ++a) {
    head.Box(a, static_cast<float>(10 * a + 10), 100, 4, 4);
    head.Score(a, 0) = 0.5f;
  }
  const Detections found = head.FindBoxes();
  ASSERT_EQ(found.boxes.size(), 50u);
  for (size_t i = 1; i < 50; ++i) EXPECT_LT(found.boxes[i - 1].x1, found.boxes[i].x1);
}

TEST(DecodeRowsTest, ClassFilterGivesTheClassesOwnResult) {
  for (uint32_t seed = 100; seed < 110; ++seed) {
    const Head head = RandomHead(4, 300, seed);
    DetectionOptions options;
    options.max_detections = 10'000;
    options.class_ids = {1};
    const Detections alone = head.FindBoxes(options);
    options.class_ids = {1, 3};
    const Detections with_neighbour = head.FindBoxes(options);
    options.class_ids = {};
    const Detections all = head.FindBoxes(options);
    const auto only = [](const Detections& detections) {
      std::vector<Detection> boxes;
      for (const Detection& d : detections.boxes) {
        if (d.class_id == 1) boxes.push_back(d);
      }
      return boxes;
    };
    EXPECT_LT(alone.boxes.size(), with_neighbour.boxes.size());
    for (const auto& boxes : {only(with_neighbour), only(all)}) {
      ASSERT_EQ(boxes.size(), alone.boxes.size());
      EXPECT_TRUE(std::equal(boxes.begin(), boxes.end(), alone.boxes.begin(), Same));
    }
  }
}

TEST(DecodeRowsTest, MaxDetectionsKeepsTheBestAndSaysSo) {
  Head head(1, 5);
  for (int a = 0; a < 5; ++a) {
    head.Box(a, static_cast<float>(100 * a + 50), 100, 10, 10);
    head.Score(a, 0) = 0.5f + 0.05f * static_cast<float>(a);
  }
  DetectionOptions options;
  options.max_detections = 5;
  EXPECT_FALSE(head.FindBoxes(options).truncated);
  options.max_detections = 4;
  const Detections cut = head.FindBoxes(options);
  EXPECT_TRUE(cut.truncated);
  ASSERT_EQ(cut.boxes.size(), 4u);
  EXPECT_EQ(cut.boxes[0].score, 0.5f + 0.05f * 4.0f);
  options.max_detections = 0;
  EXPECT_TRUE(head.FindBoxes(options).boxes.empty());
}

TEST(DecodeRowsTest, SuppressedBoxesDoNotCountAsCut) {
  Head head(1, 2);
  for (int a = 0; a < 2; ++a) {
    head.Box(a, 100, 100, 10, 10);
    head.Score(a, 0) = 0.9f;
  }
  DetectionOptions options;
  options.max_detections = 1;
  EXPECT_FALSE(head.FindBoxes(options).truncated);
}

TEST(DecodeRowsTest, MoreThanThirtyThousandCandidatesAreCutByScore) {
  const int anchors = 30'001;
  Head head(1, anchors);
  for (int a = 0; a < anchors; ++a) {
    head.Box(a, 100, 100, 10, 10);
    head.Score(a, 0) = 0.9f;
  }
  // The weakest stands alone: only the cap can drop it.
  head.Box(0, 500, 500, 10, 10);
  head.Score(0, 0) = 0.5f;
  const Detections found = head.FindBoxes();
  EXPECT_TRUE(found.truncated);
  EXPECT_EQ(found.boxes.size(), 1u);
  head.Score(1, 0) = 0.1f;
  const Detections fits = head.FindBoxes();
  EXPECT_FALSE(fits.truncated);
  EXPECT_EQ(fits.boxes.size(), 2u);
}

TEST(DecodeRowsTest, NothingInNothingOut) {
  EXPECT_TRUE(
      FindBoxes({HeadLayout::kRows, 80}, {}, ComputeLetterbox(10, 10, 64, 64), {}).boxes.empty());
}

}  // namespace
}  // namespace lattice
