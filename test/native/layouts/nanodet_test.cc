#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "native/gpu/tensorrt/gpu_network.h"
#include "native/model/onnx_reader.h"
#include "test/native/layouts/layout_checks.h"
#include "test/native/layouts/nanodet_writer.h"

namespace lattice {
namespace {

constexpr int kWidth = test::kNanodetWidth;
constexpr int kHeight = test::kNanodetHeight;
constexpr int kClasses = test::kNanodetClasses;
constexpr int kBins = test::kNanodetBins;
constexpr int kColumns = test::kNanodetColumns;
constexpr size_t kPixels = size_t{kWidth} * kHeight;

const ov::Shape kInput = {1, 3, kHeight, kWidth};

using test::Described;
using test::IsLeft;
using test::Nanodet;
using test::OutputOf;
using test::Picture;

float MeanOf(const float* logits) {
  float sum = 0;
  float mean = 0;
  for (int bin = 0; bin < kBins; ++bin) sum += std::exp(logits[bin]);
  for (int bin = 0; bin < kBins; ++bin) {
    mean += static_cast<float>(bin) * std::exp(logits[bin]) / sum;
  }
  return mean;
}

class NanodetTest : public testing::TestWithParam<uint64_t> {};

TEST_P(NanodetTest, GivesTheBoxesThatItsOwnDecodingGives) {
  const std::string file = Nanodet({.opset = GetParam()});
  const std::vector<float> picture = Picture(3 * kPixels);
  constexpr float kMean[] = {103.53f, 116.28f, 123.675f};
  constexpr float kDeviation[] = {57.375f, 57.12f, 58.395f};
  std::vector<float> as_trained(picture.size());
  for (size_t channel = 0; channel < 3; ++channel) {
    for (size_t i = 0; i < kPixels; ++i) {
      as_trained[channel * kPixels + i] =
          (picture[(2 - channel) * kPixels + i] * 255 - kMean[channel]) / kDeviation[channel];
    }
  }
  const std::vector<float> raw = OutputOf(file, kInput, as_trained);
  const size_t cells = raw.size() / kColumns;
  ModelInfo info = Described();
  const std::vector<float> rows = OutputOf(InKnownLayout(file, &info), kInput, picture);
  ASSERT_TRUE(info.stretched);
  EXPECT_FALSE(info.only_f32);
  ASSERT_EQ(rows.size(), (4 + kClasses) * cells);
  size_t cell = 0;
  for (const int stride : {8, 16, 32, 64}) {
    for (int y = 0; y < kHeight; y += stride) {
      for (int x = 0; x < kWidth; x += stride, ++cell) {
        const float* numbers = &raw[cell * kColumns];
        float sides[4];
        for (int side = 0; side < 4; ++side) {
          sides[side] = MeanOf(numbers + kClasses + side * kBins) * static_cast<float>(stride);
        }
        const float expected[] = {static_cast<float>(x) + (sides[2] - sides[0]) / 2,
                                  static_cast<float>(y) + (sides[3] - sides[1]) / 2,
                                  sides[0] + sides[2],
                                  sides[1] + sides[3],
                                  numbers[0],
                                  numbers[1]};
        for (size_t row = 0; row < std::size(expected); ++row) {
          ASSERT_NEAR(rows[row * cells + cell], expected[row],
                      1e-3f * std::abs(expected[row]) + 1e-3f)
              << "row " << row << " of cell " << cell;
        }
      }
    }
  }
  EXPECT_EQ(cell, cells);
}

INSTANTIATE_TEST_SUITE_P(Opsets, NanodetTest, testing::Values(11, 17));

TEST(NanodetFormsTest, RunsAnyBatchOnAGpu) {
  for (const uint64_t opset : {uint64_t{11}, uint64_t{17}}) {
    ModelInfo info = Described();
    const std::string file = InKnownLayout(Nanodet({.opset = opset}), &info);
    EXPECT_EQ(BatchHeldBy(*ReadOnnxModel(BytesOf(file)), std::nullopt), "");
  }
}

TEST(NanodetFormsTest, LeavesEveryOtherModelAsItIs) {
  EXPECT_FALSE(IsLeft(Nanodet(), Described()));
  EXPECT_TRUE(IsLeft(Nanodet(), Described("['car']")));
  EXPECT_TRUE(IsLeft(Nanodet({.score_op = "Tanh"}), Described()));
  EXPECT_TRUE(IsLeft(Nanodet({.parts = {4 * kBins, kClasses}}), Described()));
  EXPECT_TRUE(IsLeft(Nanodet({.perm = {1, 2, 0}}), Described()));
  const std::string once = [] {
    ModelInfo info = Described();
    return InKnownLayout(Nanodet(), &info);
  }();
  EXPECT_TRUE(IsLeft(once, Described()));
}

}  // namespace
}  // namespace lattice
