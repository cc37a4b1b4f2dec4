// Numbers of a cut head give the boxes of the rows that the network's own end would make of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "native/boxes/detections.h"

namespace lattice {
namespace {

constexpr int kWidth = 320;
constexpr int kHeight = 192;
constexpr int kStrides[] = {8, 16, 32};

// The numbers of one image, and the published arithmetic that makes rows of them, step by step.
class RandomScales {
 public:
  RandomScales(int classes, int bins, uint32_t seed) : classes_(classes), bins_(bins) {
    std::mt19937 random(seed);
    for (const int stride : kStrides) {
      Grid& grid = grids_.emplace_back();
      grid.columns = kWidth / stride;
      grid.cells = grid.columns * (kHeight / stride);
      grid.boxes.resize(static_cast<size_t>(4 * bins * grid.cells));
      grid.classes.resize(static_cast<size_t>(classes * grid.cells));
      std::uniform_real_distribution<float> sides(bins == 1 ? -0.5f : -3.0f, 4.0f);
      for (float& value : grid.boxes) value = sides(random);
      // In steps, so that there are ties.
      for (float& value : grid.classes) value = std::round(sides(random) * 16) / 8 - 4;
    }
  }

  float& Class(size_t grid, int class_id, int cell) {
    return grids_[grid].classes[Place(grid, class_id, cell)];
  }
  float& Side(size_t grid, int row, int cell) { return grids_[grid].boxes[Place(grid, row, cell)]; }
  int classes() const { return classes_; }

  Detections FindBoxes(bool one_to_one, const LetterboxTransform& t,
                       const DetectionOptions& options) const {
    HeadOutput output;
    for (size_t i = 0; i < kHeadScales; ++i) {
      const Grid& grid = grids_[i];
      output.scales[i] = {grid.boxes.data(), grid.classes.data(), grid.columns, grid.cells};
    }
    const Head head{HeadLayout::kScales, classes_, bins_, {8, 16, 32}, one_to_one};
    return lattice::FindBoxes(head, output, t, options);
  }

  // [4 + classes][anchors]
  std::vector<float> Rows() const {
    std::vector<float> rows(static_cast<size_t>((4 + classes_) * anchors()));
    size_t anchor = 0;
    for (size_t i = 0; i < kHeadScales; ++i) {
      const auto stride = static_cast<float>(kStrides[i]);
      for (int cell = 0; cell < grids_[i].cells; ++cell, ++anchor) {
        const float x = static_cast<float>(cell % grids_[i].columns) + 0.5f;
        const float y = static_cast<float>(cell / grids_[i].columns) + 0.5f;
        const float first[] = {x - Distance(i, 0, cell), y - Distance(i, 1, cell)};
        const float last[] = {x + Distance(i, 2, cell), y + Distance(i, 3, cell)};
        for (size_t axis = 0; axis < 2; ++axis) {
          At(rows, axis, anchor) = (first[axis] + last[axis]) / 2 * stride;
          At(rows, 2 + axis, anchor) = (last[axis] - first[axis]) * stride;
        }
        for (int c = 0; c < classes_; ++c) {
          const float logit = grids_[i].classes[Place(i, c, cell)];
          At(rows, 4 + static_cast<size_t>(c), anchor) = 1 / (1 + std::exp(-logit));
        }
      }
    }
    return rows;
  }

  int anchors() const {
    int sum = 0;
    for (const Grid& grid : grids_) sum += grid.cells;
    return sum;
  }

 private:
  struct Grid {
    std::vector<float> boxes;
    std::vector<float> classes;
    int columns = 0;
    int cells = 0;
  };

  size_t Place(size_t grid, int row, int cell) const {
    return static_cast<size_t>(row * grids_[grid].cells + cell);
  }
  float& At(std::vector<float>& rows, size_t row, size_t anchor) const {
    return rows[row * static_cast<size_t>(anchors()) + anchor];
  }

  float Distance(size_t grid, int side, int cell) const {
    const std::vector<float>& boxes = grids_[grid].boxes;
    if (bins_ == 1) return boxes[Place(grid, side, cell)];
    std::vector<float> weights;
    float sum = 0;
    for (int bin = 0; bin < bins_; ++bin) {
      weights.push_back(std::exp(boxes[Place(grid, side * bins_ + bin, cell)]));
      sum += weights.back();
    }
    float distance = 0;
    for (size_t bin = 0; bin < weights.size(); ++bin) {
      distance += weights[bin] / sum * static_cast<float>(bin);
    }
    return distance;
  }

  int classes_;
  int bins_;
  std::vector<Grid> grids_;
};

LetterboxTransform Photo() { return ComputeLetterbox(1000, 500, kWidth, kHeight); }

void ExpectSame(const Detections& found, const Detections& expected) {
  ASSERT_EQ(found.boxes.size(), expected.boxes.size());
  EXPECT_EQ(found.truncated, expected.truncated);
  for (size_t i = 0; i < found.boxes.size(); ++i) {
    const Detection& a = found.boxes[i];
    const Detection& b = expected.boxes[i];
    EXPECT_EQ(a.class_id, b.class_id);
    EXPECT_EQ(a.score, b.score);
    EXPECT_NEAR(a.x1, b.x1, 2e-3);
    EXPECT_NEAR(a.y1, b.y1, 2e-3);
    EXPECT_NEAR(a.x2, b.x2, 2e-3);
    EXPECT_NEAR(a.y2, b.y2, 2e-3);
  }
}

void ExpectAsRows(const RandomScales& scales, const DetectionOptions& options) {
  const std::vector<float> rows = scales.Rows();
  const HeadOutput output{.rows = rows.data(), .count = scales.anchors()};
  ExpectSame(scales.FindBoxes(false, Photo(), options),
             FindBoxes({HeadLayout::kRows, scales.classes()}, output, Photo(), options));
}

TEST(DecodeScalesTest, GivesTheBoxesOfTheRows) {
  for (const int bins : {1, kDflBins}) {
    for (const int classes : {1, 4, 13}) {
      for (uint32_t seed = 0; seed < 10; ++seed) {
        DetectionOptions options;
        options.confidence = 0.1f * static_cast<float>(seed);
        options.iou = 0.3f + 0.05f * static_cast<float>(seed);
        options.max_detections = 1000;
        if (seed % 3 == 1) options.class_ids = {0, 3};
        SCOPED_TRACE(testing::Message() << bins << " bins, " << classes << " classes, " << seed);
        ExpectAsRows(RandomScales(classes, bins, seed), options);
      }
    }
  }
}

TEST(DecodeScalesTest, OfScoresThatAreRoundedToTheSameTheLowestClassWins) {
  std::mt19937 random(4);
  RandomScales scales(6, 1, 2);
  std::uniform_real_distribution<float> logits(0, 40);
  std::uniform_real_distribution<float> steps(0, 2e-6f);
  for (size_t i = 0; i < kHeadScales; ++i) {
    for (int cell = 0; cell < 60; ++cell) {
      // Far apart, or as close as floats can be.
      const float logit = logits(random);
      for (int c = 0; c < 6; ++c) {
        scales.Class(i, c, cell) = cell % 2 == 0 ? logits(random) : logit + steps(random);
      }
    }
  }
  DetectionOptions options;
  options.iou = 1;
  options.max_detections = 1000;
  ExpectAsRows(scales, options);
}

TEST(DecodeScalesTest, ThresholdsAtTheEdgeAreTheRowsOwn) {
  RandomScales scales(2, 1, 3);
  scales.Class(0, 0, 5) = 6.25f;                                      // above all others
  for (int side = 0; side < 4; ++side) scales.Side(0, side, 5) = 40;  // far into the picture
  const float score = Sigmoid(6.25f);
  for (const float confidence :
       {score, std::nextafter(score, 0.0f), std::nextafter(score, 1.0f), 0.0f, 1e-7f, 1.0f}) {
    DetectionOptions options;
    options.confidence = confidence;
    options.max_detections = 10'000;
    SCOPED_TRACE(confidence);
    ExpectAsRows(scales, options);
  }
  DetectionOptions options;
  options.confidence = score;
  EXPECT_TRUE(scales.FindBoxes(false, Photo(), options).boxes.empty());
  options.confidence = std::nextafter(score, 0.0f);
  EXPECT_EQ(scales.FindBoxes(false, Photo(), options).boxes.size(), 1u);
}

TEST(DecodeScalesTest, NumbersThatAreNotFiniteGiveTheBoxesOfTheRows) {
  const float bad[] = {NAN, std::numeric_limits<float>::infinity(),
                       -std::numeric_limits<float>::infinity()};
  std::mt19937 random(5);
  for (const int bins : {1, kDflBins}) {
    for (const float value : bad) {
      RandomScales scales(3, bins, 9);
      const auto below = [&](int end) {
        return static_cast<int>(random() % static_cast<uint32_t>(end));
      };
      for (size_t i = 0; i < 40; ++i) {
        scales.Class(i % 3, below(3), below(60)) = value;
        scales.Side(i % 3, below(4 * bins), below(60)) = value;
      }
      DetectionOptions options;
      options.max_detections = 1000;
      SCOPED_TRACE(testing::Message() << bins << " bins, " << value);
      ExpectAsRows(scales, options);
    }
  }
}

TEST(DecodeScalesTest, OneToOneGivesEveryPairThatPasses) {
  for (uint32_t seed = 0; seed < 5; ++seed) {
    const RandomScales scales(5, kDflBins, seed);
    DetectionOptions options;
    options.confidence = 0.4f;
    options.max_detections = 100'000;
    if (seed == 1) options.class_ids = {2, 4};
    const Detections found = scales.FindBoxes(true, Photo(), options);
    EXPECT_FALSE(found.truncated);
    const std::vector<float> rows = scales.Rows();
    const auto anchors = static_cast<size_t>(scales.anchors());
    size_t pairs = 0;
    for (size_t c = 0; c < 5; ++c) {
      if (seed == 1 && c != 2 && c != 4) continue;
      pairs += static_cast<size_t>(
          std::count_if(rows.begin() + static_cast<ptrdiff_t>((4 + c) * anchors),
                        rows.begin() + static_cast<ptrdiff_t>((5 + c) * anchors),
                        [&](float score) { return score > options.confidence; }));
    }
    EXPECT_GT(pairs, 100u);
    EXPECT_EQ(found.boxes.size(), pairs);
    for (size_t i = 1; i < found.boxes.size(); ++i) {
      ASSERT_GE(found.boxes[i - 1].score, found.boxes[i].score);
    }
    options.max_detections = 17;
    const Detections best = scales.FindBoxes(true, Photo(), options);
    EXPECT_TRUE(best.truncated);
    ASSERT_EQ(best.boxes.size(), 17u);
    for (size_t i = 0; i < 17; ++i) EXPECT_EQ(best.boxes[i].x1, found.boxes[i].x1);
  }
}

// Source and input are both 640 x 640.
Detections DecodeRows(const std::vector<std::vector<float>>& rows, DetectionOptions options = {}) {
  std::vector<float> values;
  for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
  HeadOutput output;
  output.rows = values.data();
  output.count = static_cast<int>(rows.size());
  return FindBoxes({HeadLayout::kFinal, 3}, output, ComputeLetterbox(640, 640, 640, 640), options);
}

TEST(DecodeFinalTest, KeepsRowsThatPassWithoutSuppression) {
  DetectionOptions options;
  options.class_ids = {0, 2};
  const std::vector<std::vector<float>> rows = {{10, 20, 30, 40, 0.6f, 2},
                                                {10, 20, 30, 40, 0.9f, 0},
                                                {10, 20, 30, 40, 0.9f, 1},
                                                {10, 20, 30, 40, 0.25f, 0},
                                                {0, 0, 0, 0, 0, 0}};
  const Detections found = DecodeRows(rows, options);
  ASSERT_EQ(found.boxes.size(), 2u);
  EXPECT_EQ(found.boxes[0].score, 0.9f);
  EXPECT_EQ(found.boxes[0].class_id, 0);
  EXPECT_EQ(found.boxes[1].class_id, 2);
  EXPECT_EQ(found.boxes[1].x1, 10);
  EXPECT_EQ(found.boxes[1].y2, 40);
  EXPECT_FALSE(found.truncated);
  options.max_detections = 1;
  EXPECT_TRUE(DecodeRows(rows, options).truncated);
}

TEST(DecodeFinalTest, EveryRowIsTheOutput) {
  DetectionOptions options;
  options.every_row = true;
  const Detections found =
      DecodeRows({{30, 20, 10, -40, -0.6f, 0.5f}, {0, 0, 0, 0, 0, 0}}, options);
  ASSERT_EQ(found.boxes.size(), 2u);
  EXPECT_EQ(found.boxes[0].x1, 30);
  EXPECT_EQ(found.boxes[0].y2, -40);
  EXPECT_EQ(found.boxes[0].score, -0.6f);
  EXPECT_EQ(found.boxes[0].class_id, 0.5f);
}

TEST(DecodeRowsTest, EveryRowIsTheBestClassOfAnAnchor) {
  DetectionOptions options;
  options.every_row = true;
  // Two anchors of two classes: cx, cy, w, h, then the scores.
  const std::vector<float> values = {10, 0.5f, 20, 0.5f, 4, 1, 6, 1, -3, 7, -2, 5};
  HeadOutput output;
  output.rows = values.data();
  output.count = 2;
  const Detections found =
      FindBoxes({HeadLayout::kRows, 2}, output, ComputeLetterbox(64, 64, 640, 640), options);
  ASSERT_EQ(found.boxes.size(), 2u);
  EXPECT_EQ(found.boxes[0].x1, 8);  // in pixels of the input
  EXPECT_EQ(found.boxes[0].y2, 23);
  EXPECT_EQ(found.boxes[0].score, -2);
  EXPECT_EQ(found.boxes[0].class_id, 1);
  EXPECT_EQ(found.boxes[1].score, 7);
}

TEST(DecodeFinalTest, DropsWhatIsNoBox) {
  DetectionOptions options;
  options.confidence = 0;
  for (size_t place = 0; place < 6; ++place) {
    for (const float bad : {NAN, std::numeric_limits<float>::infinity()}) {
      std::vector<float> row = {10, 20, 30, 40, 0.6f, 2};
      row[place] = bad;
      EXPECT_TRUE(DecodeRows({row}, options).boxes.empty()) << place;
    }
  }
  for (const float class_id : {-1.0f, 3.0f, 1e9f}) {
    EXPECT_TRUE(DecodeRows({{10, 20, 30, 40, 0.6f, class_id}}, options).boxes.empty());
  }
  EXPECT_TRUE(DecodeRows({{0, 0, 0, 0, 0, 0}, {30, 20, 10, 40, 0.6f, 0}}, options).boxes.empty());
  EXPECT_TRUE(DecodeRows({}, options).boxes.empty());
}

}  // namespace
}  // namespace lattice
