#include "native/model/quantization.h"

#include <gtest/gtest.h>

#include "native/model/onnx_reader.h"
#include "test/native/model/graph_writer.h"

namespace lattice {
namespace {

// A picture that is rounded in steps of `scale`, with a zero point of this type.
test::GraphWriter Rounding(float scale, int zero_type) {
  test::GraphWriter graph;
  graph.Initializer(test::Floats("scale", {}, {scale}));
  graph.Initializer(test::RawTensor<uint8_t>("zero", zero_type, {}, {0}));
  graph.Node("QuantizeLinear", {"images", "scale", "zero"}, {"rounded"});
  return graph;
}

OnnxGraph GraphOf(const std::string& file) { return ReadOnnxModel(BytesOf(file))->graph; }

std::string WithPicture(const test::GraphWriter& graph) {
  return graph.Model(test::TensorPort("images", kFloat, {1, 3, 64, 64}),
                     test::TensorPort("rounded", kUint8, {1, 3, 64, 64}), {}, 17);
}

bool RoundsToBytes(const test::GraphWriter& graph) {
  const std::string file = WithPicture(graph);
  return RoundsInputToBytes(GraphOf(file));
}

TEST(QuantizationTest, SignedNumbersCountMost) {
  const auto found = [](const test::GraphWriter& graph) {
    const std::string file = WithPicture(graph);
    return QuantizationOf(GraphOf(file));
  };
  EXPECT_EQ(found(test::GraphWriter().Node("Sigmoid", {"images"}, {"a"})), Quantization::kNone);
  EXPECT_EQ(found(Rounding(1.0f / 255.0f, kUint8)), Quantization::kUnsigned);
  EXPECT_EQ(found(Rounding(0.5f, kInt8).Node("QuantizeLinear", {"a", "scale"}, {"b"})),
            Quantization::kSigned);
  // Weights are signed in unsigned networks too.
  EXPECT_EQ(found(Rounding(0.5f, kUint8)
                      .Initializer(test::Floats("weights", {1}, {1}))
                      .Initializer(test::RawTensor<int8_t>("signed", kInt8, {}, {0}))
                      .Node("QuantizeLinear", {"weights", "scale", "signed"}, {"w"})),
            Quantization::kUnsigned);
}

TEST(RoundsInputToBytesTest, OnlyInUnsignedStepsOfALevel) {
  EXPECT_TRUE(RoundsToBytes(Rounding(1.0f / 255.0f, kUint8)));
  EXPECT_FALSE(RoundsToBytes(Rounding(1.0f / 255.0f, kInt8)));
  EXPECT_FALSE(RoundsToBytes(Rounding(1.0f / 127.0f, kUint8)));
  EXPECT_FALSE(RoundsToBytes(test::GraphWriter().Node("Sigmoid", {"images"}, {"a"})));
  EXPECT_FALSE(RoundsToBytes(test::GraphWriter()
                                 .Initializer(test::Floats("scale", {2}, {0.5f, 0.5f}))
                                 .Node("QuantizeLinear", {"images", "scale"}, {"rounded"})));
  // The scale is computed.
  EXPECT_FALSE(
      RoundsToBytes(test::GraphWriter().Node("QuantizeLinear", {"images", "a"}, {"rounded"})));
}

TEST(RoundsInputToBytesTest, NotWhereAnotherNodeReadsTheInput) {
  EXPECT_FALSE(RoundsToBytes(
      Rounding(1.0f / 255.0f, kUint8).Node("Conv", {"images", "weights"}, {"features"})));
  EXPECT_FALSE(RoundsToBytes(Rounding(1.0f / 255.0f, kUint8).Node("Mul", {"a", "images"}, {"b"})));
  EXPECT_FALSE(RoundsToBytes(test::GraphWriter().Node("Sigmoid", {"a"}, {"b"})));
}

}  // namespace
}  // namespace lattice
