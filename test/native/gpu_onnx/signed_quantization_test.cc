#include "native/gpu_onnx/signed_quantization.h"

#include <gtest/gtest.h>

#include <random>

#include "native/model/onnx_reader.h"
#include "test/native/model/graph_writer.h"

namespace lattice {
namespace {

using test::Floats;
using test::GraphWriter;
using test::RawTensor;

const std::vector<uint8_t> kMiddle = {128};

// images -> quantise -> dequantise -> Conv with quantised weights and bias -> output0
GraphWriter Network(const std::vector<uint8_t>& point, bool split = false) {
  GraphWriter graph;
  graph.Initializer(Floats("scale", {}, {0.02f}))
      .Initializer(RawTensor("point", kUint8, {}, point))
      .Initializer(RawTensor("weights.q", kInt8, {2, 1}, std::vector<int8_t>{-7, 100}))
      .Initializer(Floats("weights.scale", {2}, {0.5f, 0.25f}))
      .Initializer(RawTensor("weights.point", kInt8, {2}, std::vector<int8_t>{0, 0}))
      .Initializer(RawTensor("bias.q", kInt32, {2}, std::vector<int32_t>{1000, -3}))
      .Initializer(Floats("bias.scale", {2}, {0.01f, 0.005f}))
      .Node("QuantizeLinear", {"images", "scale", "point"}, {"q"})
      .Node("DequantizeLinear", {"q", "scale", "point"}, {"x"})
      .Node("DequantizeLinear", {"weights.q", "weights.scale", "weights.point"}, {"weights"})
      .Node("DequantizeLinear", {"bias.q", "bias.scale"}, {"bias"})
      .Node("Conv", {"x", "weights", "bias"}, {split ? "conv" : "output0"});
  if (split) graph.Node("Split", {"conv"}, {"output0", "rest"});
  return graph;
}

const OnnxTensor* Find(const OnnxModel& model, const std::string& name) {
  for (const OnnxTensor& tensor : model.graph.initializers) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

std::string Refusal(const std::string& bytes) {
  auto model = ReadOnnxModel(BytesOf(bytes));
  const Status status = MakeQuantizationSigned(*model);
  EXPECT_EQ(status.code(), StatusCode::kInvalidModel);
  return status.message();
}

TEST(SignedQuantizationTest, Uint8About128BecomesInt8AboutZero) {
  const std::string bytes = Network(kMiddle).Model();
  auto model = *ReadOnnxModel(BytesOf(bytes));
  ASSERT_TRUE(MakeQuantizationSigned(model).ok());
  const auto& nodes = model.graph.nodes;
  ASSERT_EQ(nodes.size(), 4u);
  EXPECT_EQ(nodes[0].inputs[2], nodes[1].inputs[2]);
  const OnnxTensor* point = Find(model, nodes[0].inputs[2]);
  ASSERT_NE(point, nullptr);
  EXPECT_EQ(point->type, kInt8);
  EXPECT_EQ(*ReadIntegers(*point), std::vector<int64_t>{0});
  EXPECT_EQ(nodes[2].inputs[2], "weights.point");
}

TEST(SignedQuantizationTest, TheBiasBecomesTheFloatsItStandsFor) {
  const std::string bytes = Network(kMiddle).Model();
  auto model = *ReadOnnxModel(BytesOf(bytes));
  ASSERT_TRUE(MakeQuantizationSigned(model).ok());
  ASSERT_NE(Find(model, "bias"), nullptr);
  EXPECT_EQ(*ReadFloats(*Find(model, "bias")), (std::vector<float>{1000 * 0.01f, -3 * 0.005f}));
}

// All 256 stored values and rounding at every scale: q8 - 0 is q - 128.
TEST(SignedQuantizationTest, EveryConstantStandsForTheSameNumber) {
  std::vector<uint8_t> all(256);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint8_t>(i);
  const std::string bytes = GraphWriter()
                                .Initializer(RawTensor("table", kUint8, {256}, all))
                                .Initializer(RawTensor("point", kUint8, {}, kMiddle))
                                .Initializer(Floats("scale", {}, {0.1f}))
                                .Node("DequantizeLinear", {"table", "scale", "point"}, {"numbers"})
                                .Node("Add", {"images", "numbers"}, {"output0"})
                                .Model();
  auto model = *ReadOnnxModel(BytesOf(bytes));
  ASSERT_TRUE(MakeQuantizationSigned(model).ok());
  const auto values = ReadIntegers(*Find(model, model.graph.nodes[0].inputs[0]));
  ASSERT_EQ(values->size(), 256u);
  for (size_t i = 0; i < 256; ++i) {
    EXPECT_EQ((*values)[i], static_cast<int64_t>(i) - 128);
  }
}

TEST(SignedQuantizationTest, RaisesTheOpsetOnlyWhereNothingElseChanges) {
  const auto opset = [](const std::string& bytes) {
    auto model = *ReadOnnxModel(BytesOf(bytes));
    EXPECT_TRUE(MakeQuantizationSigned(model).ok());
    return model.opset;
  };
  EXPECT_EQ(opset(Network(kMiddle).Model(kFloat, kFloat, 17)), 19);
  EXPECT_EQ(opset(Network(kMiddle).Model(kFloat, kFloat, 21, 10)), 21);
  EXPECT_EQ(opset(Network(kMiddle).Model(kFloat, kFloat, 12)), 12);
  // An even Split without sizes needs an attribute from 18 on.
  EXPECT_EQ(opset(Network(kMiddle, true).Model(kFloat, kFloat, 17)), 17);
  EXPECT_EQ(opset(GraphWriter().Node("Relu", {"images"}, {"output0"}).Model()), 17);
}

TEST(SignedQuantizationTest, SurvivesDamage) {
  const std::string whole = Network(kMiddle).Model();
  std::mt19937 random(1);
  int changed = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 1 + round % 3; ++i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    auto model = ReadOnnxModel(BytesOf(damaged));
    if (!model.ok()) continue;
    const Status status = MakeQuantizationSigned(*model);
    if (status.ok()) ++changed;
    ASSERT_TRUE(status.ok() || status.code() == StatusCode::kInvalidModel);
  }
  EXPECT_GT(changed, 100);
}

TEST(SignedQuantizationTest, RefusesWhatTensorRtCannotTake) {
  EXPECT_NE(Refusal(Network({127}).Model()).find("127"), std::string::npos);
  EXPECT_NE(Refusal(Network({0}).Model()).find("symmetric"), std::string::npos);
  const std::string scale = Floats("scale", {}, {0.1f});
  // Without a zero point, uint8 counts from 0.
  EXPECT_NE(Refusal(GraphWriter()
                        .Initializer(scale)
                        .Node("QuantizeLinear", {"images", "scale"}, {"q"})
                        .Node("DequantizeLinear", {"q", "scale"}, {"output0"})
                        .Model())
                .find("zero point 0"),
            std::string::npos);
  const auto tail = [&](const std::string& op) {
    return GraphWriter()
        .Initializer(scale)
        .Initializer(RawTensor("point", kUint8, {}, kMiddle))
        .Node("QuantizeLinear", {"images", "scale", "point"}, {"q"})
        .Node(op, {"q"}, {"p"})
        .Node("DequantizeLinear", {"p", "scale", "point"}, {"output0"})
        .Model();
  };
  EXPECT_NE(Refusal(tail("MaxPool")).find("MaxPool"), std::string::npos);
  EXPECT_NE(Refusal(GraphWriter()
                        .Initializer(scale)
                        .Initializer(RawTensor("point", 4, {}, std::vector<uint16_t>{0}))
                        .Node("QuantizeLinear", {"images", "scale", "point"}, {"q"})
                        .Node("DequantizeLinear", {"q", "scale", "point"}, {"output0"})
                        .Model())
                .find("UINT16"),
            std::string::npos);
}

}  // namespace
}  // namespace lattice
