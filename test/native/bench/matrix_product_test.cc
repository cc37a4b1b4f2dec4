#include "bench/native/matrix_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "native/model/half_float.h"
#include "native/model/onnx_reader.h"

namespace lattice {
namespace {

TEST(MatrixProductTest, IsOneProductOfHalves) {
  const std::string bytes = MatrixProductModel(6);
  const auto model = ReadOnnxModel(BytesOf(bytes));
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->graph.nodes.size(), 1u);
  const OnnxNode& product = model->graph.nodes[0];
  EXPECT_EQ(product.op, "MatMul");
  EXPECT_EQ(product.inputs, (std::vector<std::string>{"images", "weights"}));
  ASSERT_EQ(model->graph.inputs.size(), 1u);
  ASSERT_EQ(model->graph.outputs.size(), 1u);
  const std::vector<int64_t> open = {-1, 3, 6, 6};
  EXPECT_EQ(model->graph.inputs[0].name, "images");
  EXPECT_EQ(model->graph.inputs[0].Shape(), open);
  EXPECT_EQ(model->graph.outputs[0].name, "output0");
  EXPECT_EQ(model->graph.outputs[0].Shape(), open);
  EXPECT_EQ(model->graph.inputs[0].type, kFloat16);
  EXPECT_EQ(model->graph.initializers.at(0).type, kFloat16);
  EXPECT_EQ(model->graph.outputs[0].type, kFloat16);
}

TEST(MatrixProductTest, HasWeightsOfTheAskedSize) {
  for (const int size : {1, 2, 33}) {
    const std::string bytes = MatrixProductModel(size);
    const auto model = ReadOnnxModel(BytesOf(bytes));
    ASSERT_TRUE(model.ok()) << model.status().message();
    ASSERT_EQ(model->graph.initializers.size(), 1u);
    const OnnxTensor& weights = model->graph.initializers[0];
    EXPECT_EQ(weights.dims, (std::vector<int64_t>{size, size}));
    const auto numbers = ReadFloats(weights);
    ASSERT_TRUE(numbers.ok()) << numbers.status().message();
    EXPECT_EQ(numbers->size(), static_cast<size_t>(size * size));
  }
}

TEST(MatrixProductTest, CountsMultiplicationsAndAdditions) {
  // Three matrices of 2 x 2 times one: each of 12 results takes 2 of both.
  EXPECT_EQ(MatrixProductFlops(2), 48);
}

TEST(MatrixProductTest, NumbersAreSpreadAndOfModestSize) {
  std::set<uint16_t> different;
  int negative = 0;
  for (const uint16_t half : SpreadHalves(10'000)) {
    const float value = FromHalfBits(half);
    ASSERT_GE(std::abs(value), 0.5f);
    ASSERT_LT(std::abs(value), 1.0f);
    negative += value < 0 ? 1 : 0;
    different.insert(half);
  }
  EXPECT_GT(different.size(), 1'800u);  // of 2048
  EXPECT_NEAR(negative, 5'000, 300);
}

}  // namespace
}  // namespace lattice
