#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <openvino/openvino.hpp>
#include <optional>

#include "native/cpu/openvino_core.h"
#include "native/gpu/tensorrt/gpu_network.h"
#include "test/native/layouts/detr_writer.h"
#include "test/native/layouts/layout_checks.h"

namespace lattice {
namespace {

constexpr int kWidth = test::kDetrWidth;
constexpr int kHeight = test::kDetrHeight;
constexpr int kQueries = test::kDetrQueries;
constexpr int kClasses = test::kDetrClasses;
constexpr size_t kPixels = size_t{kWidth} * kHeight;

using Form = test::DetrForm;
using test::Picture;

std::string Written(const Form& form) { return test::Detr(form).File(); }

ModelInfo Described(int classes = kClasses) {
  std::string names;
  for (int i = 0; i < classes; ++i) names += "'c" + std::to_string(i) + "',";
  return *DescribeMetadata(
      {{"names", "[" + names + "]"},
       {"imgsz", "[" + std::to_string(kHeight) + ", " + std::to_string(kWidth) + "]"}});
}

// The numbers of each output.
std::vector<std::vector<float>> OutputsOf(const std::string& file,
                                          const std::vector<float>& pixels) {
  return test::NetworkRunner(file, {1, 3, kHeight, kWidth}).Run(pixels).values;
}

// Rows x1, y1, x2, y2, score, class, as the networks' own postprocessing gives them.
std::vector<std::vector<float>> BestPairs(const std::vector<float>& logits,
                                          const std::vector<float>& boxes) {
  std::vector<size_t> pairs(logits.size());
  std::iota(pairs.begin(), pairs.end(), size_t{0});
  std::stable_sort(pairs.begin(), pairs.end(),
                   [&](size_t a, size_t b) { return logits[a] > logits[b]; });
  std::vector<std::vector<float>> rows;
  for (size_t i = 0; i < kQueries; ++i) {
    const float* box = &boxes[pairs[i] / kClasses * 4];
    rows.push_back({(box[0] - box[2] / 2) * kWidth, (box[1] - box[3] / 2) * kHeight,
                    (box[0] + box[2] / 2) * kWidth, (box[1] + box[3] / 2) * kHeight,
                    1 / (1 + std::exp(-logits[pairs[i]])),
                    static_cast<float>(pairs[i] % kClasses)});
  }
  return rows;
}

class DetrTest : public testing::TestWithParam<Form> {};

TEST_P(DetrTest, GivesTheBoxesOfItsOwnPostprocessing) {
  Form raw = GetParam();
  raw.deployed = false;
  const auto numbers = OutputsOf(Written(raw), Picture(3 * kPixels));
  const auto expected = BestPairs(numbers[0], numbers[1]);
  ModelInfo info = Described();
  const auto found = OutputsOf(InKnownLayout(Written(GetParam()), &info), Picture(3 * kPixels));
  ASSERT_TRUE(info.stretched);
  EXPECT_TRUE(info.only_f32);
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found[0].size(), size_t{6} * kQueries);
  for (size_t row = 0; row < kQueries; ++row) {
    for (size_t column = 0; column < 6; ++column) {
      ASSERT_NEAR(found[0][6 * row + column], expected[row][column], 1e-3f)
          << "column " << column << " of row " << row;
    }
  }
}

// As GPUs get it: half floats in, and all else in float32.
TEST_P(DetrTest, GivesTheSameBoxesWhenConvertedForAGpu) {
  ModelInfo info = Described();
  const std::string file = InKnownLayout(Written(GetParam()), &info);
  info.input_width = kWidth;
  info.input_height = kHeight;
  info.fixed_batch = 1;
  const auto converted = GpuNetwork(file, info, std::nullopt);
  ASSERT_TRUE(converted.ok()) << converted.status().message();
  test::NetworkRunner runner(*converted, {1, 3, kHeight, kWidth});
  // Levels of 8 bits would differ in half floats: these do not.
  std::vector<float> picture(3 * kPixels);
  for (size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<float>(i * 37 % 64) / 64;
  const auto found = runner.Run(picture);
  ASSERT_EQ(found.shapes.at(0), (ov::Shape{1, kQueries, 6}));
  const auto expected = OutputsOf(file, picture);
  for (size_t i = 0; i < expected[0].size(); ++i) {
    ASSERT_NEAR(found.values[0][i], expected[0][i], 1e-3f) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, DetrTest,
                         testing::Values(Form{}, Form{.of_corners = true}, Form{.sides_open = true},
                                         Form{.deployed = true},
                                         Form{.of_corners = true, .deployed = true}));

TEST(DetrFormsTest, ClosesSidesThatAreOpen) {
  ModelInfo info = Described();
  const std::string file = InKnownLayout(Written({.sides_open = true}), &info);
  const auto network = SharedCore().read_model(file, ov::Tensor());
  EXPECT_EQ(network->input().get_partial_shape(), (ov::PartialShape{1, 3, kHeight, kWidth}));
}

TEST(DetrFormsTest, LeavesEveryOtherModelAsItIs) {
  const auto is_left = [](const Form& form, int classes = kClasses) {
    ModelInfo info = Described(classes);
    const std::string file = Written(form);
    return InKnownLayout(file, &info) == file && !info.stretched && !info.only_f32;
  };
  EXPECT_FALSE(is_left({}));
  EXPECT_TRUE(is_left({}, kClasses - 1));
  EXPECT_TRUE(is_left({.deployed = true}, kClasses + 1));
  EXPECT_TRUE(is_left({.first_kernel = 7}));
  EXPECT_TRUE(is_left({.before_first = "Sub"}));
  EXPECT_TRUE(is_left({.after_logits = "Sigmoid"}));
  EXPECT_TRUE(is_left({.deployed = true, .after_logits = "Tanh"}));
  EXPECT_TRUE(is_left({.box_op = "Relu"}));
  EXPECT_TRUE(is_left({.third_output = true}));
  EXPECT_TRUE(is_left({.opset = 12}));
}

}  // namespace
}  // namespace lattice
