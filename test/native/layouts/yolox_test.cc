#include <gtest/gtest.h>

#include <cmath>

#include "native/gpu/tensorrt/gpu_network.h"
#include "native/model/onnx_reader.h"
#include "test/native/layouts/layout_checks.h"
#include "test/native/layouts/yolox_writer.h"

namespace lattice {
namespace {

constexpr int kWidth = test::kYoloxWidth;
constexpr int kHeight = test::kYoloxHeight;
constexpr int kClasses = test::kYoloxClasses;
constexpr size_t kCells = test::kYoloxCells;
constexpr size_t kPixels = size_t{kWidth} * kHeight;

const ov::Shape kInput = {1, 3, kHeight, kWidth};

using test::Described;
using test::IsLeft;
using test::OutputOf;
using test::Picture;
using test::Yolox;

std::string Rewritten(const std::string& file) {
  ModelInfo info = Described();
  return InKnownLayout(file, &info);
}

TEST(YoloxTest, GivesTheBoxesThatItsOwnDecodingGives) {
  const std::vector<float> picture = Picture(3 * kPixels);
  std::vector<float> as_trained(picture.size());
  for (size_t channel = 0; channel < 3; ++channel) {
    for (size_t i = 0; i < kPixels; ++i) {
      as_trained[channel * kPixels + i] = picture[(2 - channel) * kPixels + i] * 255;
    }
  }
  const std::vector<float> raw = OutputOf(Yolox(), kInput, as_trained);
  const std::vector<float> rows = OutputOf(Rewritten(Yolox()), kInput, picture);
  ASSERT_EQ(rows.size(), (4 + kClasses) * kCells);
  size_t cell = 0;
  for (const int stride : {8, 16, 32}) {
    const auto step = static_cast<float>(stride);
    for (int y = 0; y < kHeight / stride; ++y) {
      for (int x = 0; x < kWidth / stride; ++x, ++cell) {
        const float* numbers = &raw[cell * (5 + kClasses)];
        const float expected[] = {(numbers[0] + static_cast<float>(x)) * step,
                                  (numbers[1] + static_cast<float>(y)) * step,
                                  std::exp(numbers[2]) * step,
                                  std::exp(numbers[3]) * step,
                                  numbers[4] * numbers[5],
                                  numbers[4] * numbers[6]};
        for (size_t row = 0; row < std::size(expected); ++row) {
          ASSERT_NEAR(rows[row * kCells + cell], expected[row],
                      1e-3f * std::abs(expected[row]) + 1e-4f)
              << "row " << row << " of cell " << cell;
        }
      }
    }
  }
}

TEST(YoloxTest, RunsAnyBatchOnAGpu) {
  const std::string file = Rewritten(Yolox());
  EXPECT_EQ(BatchHeldBy(*ReadOnnxModel(BytesOf(file)), std::nullopt), "");
}

TEST(YoloxTest, LeavesEveryOtherModelAsItIs) {
  EXPECT_FALSE(IsLeft(Yolox(), Described()));
  EXPECT_TRUE(IsLeft(Yolox(), Described("['car']")));
  EXPECT_TRUE(IsLeft(Yolox({.score_op = "Tanh"}), Described()));
  EXPECT_TRUE(IsLeft(Yolox({.scales_axis = 1}), Described()));
  EXPECT_TRUE(IsLeft(Yolox({.perm = {1, 2, 0}}), Described()));
  EXPECT_TRUE(IsLeft(Yolox().substr(0, 900), Described()));
  const std::string once = Rewritten(Yolox());
  EXPECT_TRUE(IsLeft(once, Described()));
}

}  // namespace
}  // namespace lattice
