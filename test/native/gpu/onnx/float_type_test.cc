#include "native/gpu/onnx/float_type.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "native/model/onnx_reader.h"
#include "test/native/gpu/onnx/random_graph.h"
#include "test/native/gpu/onnx/type_checker.h"
#include "test/native/model/graph_writer.h"

namespace lattice {
namespace {

using test::Floats;
using test::GraphWriter;
using test::Integer;
using test::RawTensor;

Result<std::string> Convert(const std::string& bytes, ElementType type) {
  auto model = ReadOnnxModel(BytesOf(bytes));
  if (!model.ok()) return model.status();
  const Status status = SetFloatType(*model, type);
  if (!status.ok()) return status;
  return WriteOnnxModel(*model);
}

// A converted graph and the bytes it refers to.
struct Converted {
  explicit Converted(const std::string& model, ElementType type = kFloat16) {
    auto result = Convert(model, type);
    EXPECT_TRUE(result.ok()) << result.status().message();
    if (!result.ok()) return;
    bytes = *std::move(result);
    graph = ReadOnnxModel(BytesOf(bytes))->graph;
    EXPECT_EQ(test::TypeChecker(type).Complaints(*ReadOnnxModel(BytesOf(bytes))), "");
  }

  const OnnxNode& Node(const std::string& output) const {
    for (const OnnxNode& node : graph.nodes) {
      for (const std::string& made : node.outputs) {
        if (made == output) return node;
      }
    }
    ADD_FAILURE() << "no node makes " << output;
    return graph.nodes.at(0);
  }

  const OnnxTensor& Initializer(const std::string& name) const {
    for (const OnnxTensor& tensor : graph.initializers) {
      if (tensor.name == name) return tensor;
    }
    ADD_FAILURE() << "no initializer " << name;
    return graph.initializers.at(0);
  }

  size_t Casts() const {
    size_t count = 0;
    for (const OnnxNode& node : graph.nodes) count += node.op == "Cast" ? 1u : 0u;
    return count;
  }

  std::string bytes;
  OnnxGraph graph;
};

const std::string kWeights = Floats("w", {2, 1, 1, 1}, {1.0f, 0.1f});

TEST(SetFloatTypeTest, WeightsConstantsAndPortsBecomeHalves) {
  const std::string model =
      GraphWriter()
          .Initializer(kWeights)
          .Node("Constant", {}, {"third"}, test::TensorValue("value", Floats("", {}, {1.0f / 3})))
          .Node("Conv", {"images", "w"}, {"a"})
          .Node("Mul", {"a", "third"}, {"output0"})
          .ValueInfo("a", kFloat)
          .Model();
  const Converted half(model);
  EXPECT_EQ(half.Casts(), 0u);
  EXPECT_EQ(half.Initializer("w").type, kFloat16);
  EXPECT_EQ(half.Initializer("third").type, kFloat16);
  // The input is what the letterbox writes.
  const Converted whole(model, kFloat);
  EXPECT_EQ(whole.Casts(), 1u);
  EXPECT_EQ(whole.Node("a").inputs[0], "images_float32");
  EXPECT_EQ(whole.Initializer("third").type, kFloat);
}

TEST(SetFloatTypeTest, HalvesAreKeptOrWidenedExactly) {
  const std::vector<uint16_t> halves = {0x3c00, 0x0001};
  const std::string stored = RawTensor("w.half", kFloat16, {2, 1, 1, 1}, halves);
  const std::string model = GraphWriter()
                                .Initializer(stored)
                                .Node("Cast", {"w.half"}, {"w"}, Integer("to", kFloat))
                                .Node("Conv", {"images", "w"}, {"head"})
                                .Node("Cast", {"head"}, {"output0"}, Integer("to", kFloat))
                                .Model(kFloat16);
  const Converted half(model);
  ASSERT_EQ(half.graph.initializers.size(), 1u);
  EXPECT_EQ(half.graph.initializers[0].message.text(), stored);
  const Converted whole(model, kFloat);
  EXPECT_EQ(*ReadFloats(whole.Initializer("w.half")), (std::vector<float>{1.0f, 0x1p-24f}));
}

TEST(SetFloatTypeTest, WhatFp16CannotHoldBecomesItsNearest) {
  const Converted half(GraphWriter()
                           .Initializer(Floats("far", {4}, {-1e9f, 65505.0f, -INFINITY, 1e-9f}))
                           .Node("Add", {"images", "far"}, {"output0"})
                           .Model());
  EXPECT_EQ(*ReadFloats(half.Initializer("far")),
            (std::vector<float>{-65504, 65504, -INFINITY, 0}));
}

TEST(SetFloatTypeTest, PortsThatAreFloatByTheStandardStayFloat) {
  const Converted half(GraphWriter()
                           .Initializer(Floats("scales", {4}, {1, 1, 2, 2}))
                           .Node("Resize", {"images", "", "scales"}, {"large"})
                           .Node("Mul", {"large", "scales"}, {"output0"})
                           .Model());
  EXPECT_EQ(half.Casts(), 0u);
  EXPECT_EQ(half.Initializer("scales").type, kFloat16);
  EXPECT_EQ(half.Initializer(half.Node("large").inputs[2]).type, kFloat);
}

TEST(SetFloatTypeTest, ArithmeticOnSizesStaysFloatAndIntegersAreLeftAlone) {
  const std::string two = RawTensor("two", kInt64, {1}, std::vector<int64_t>{2});
  const Converted half(GraphWriter()
                           .Initializer(two)
                           .Initializer(Floats("factor", {}, {2.0f}))
                           .Node("Shape", {"images"}, {"shape"})
                           .Node("Gather", {"shape", "two"}, {"height"})
                           .Node("Cast", {"height"}, {"real"}, Integer("to", kFloat16))
                           .Node("Mul", {"real", "factor"}, {"wide"})
                           .Node("Cast", {"wide"}, {"size"}, Integer("to", kInt64))
                           .Node("Expand", {"images", "size"}, {"expanded"})
                           .Node("Mul", {"expanded", "wide"}, {"scaled"})
                           .Node("Mul", {"scaled", "factor"}, {"output0"})
                           .Model());
  EXPECT_EQ(half.Node("real").Integer("to", 0), kFloat);
  EXPECT_EQ(half.Node("size").Integer("to", 0), kInt64);
  EXPECT_EQ(half.Node("size").inputs[0], "wide");
  EXPECT_EQ(half.Node("scaled").inputs[1], "wide_float16");
  EXPECT_EQ(half.Initializer("two").message.text(), two);
  EXPECT_EQ(half.Initializer("factor").type, kFloat16);
  EXPECT_EQ(half.Initializer(half.Node("wide").inputs[1]).type, kFloat);
}

TEST(SetFloatTypeTest, RefusesInputsThatAreNotFloating) {
  const auto refused =
      Convert(GraphWriter().Node("Relu", {"images"}, {"output0"}).Model(kUint8), kFloat16);
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidModel);
  EXPECT_NE(refused.status().message().find("UINT8"), std::string::npos);
}

// How often each operator occurs but those that types need.
std::map<std::string, int> Operators(const std::string& bytes) {
  std::map<std::string, int> counts;
  const auto model = *ReadOnnxModel(BytesOf(bytes));
  for (const OnnxNode& node : model.graph.nodes) {
    if (node.op != "Cast" && node.op != "Constant") ++counts[node.op];
  }
  return counts;
}

TEST(SetFloatTypeTest, RandomGraphsKeepTheirNodesAndGetRightTypes) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    const std::string model = test::RandomGraph(seed).Model();
    SCOPED_TRACE(seed);
    for (const ElementType type : {kFloat16, kFloat}) {
      const Converted converted(model, type);
      ASSERT_FALSE(HasFailure());
      EXPECT_EQ(Operators(converted.bytes), Operators(model));
      EXPECT_EQ(*Convert(model, type), converted.bytes);
    }
  }
}

TEST(SetFloatTypeTest, SurvivesDamage) {
  std::mt19937 random(5);
  int converted = 0;
  for (unsigned round = 0; round < 20'000; ++round) {
    std::string damaged = test::RandomGraph(round % 50).Model();
    for (unsigned i = 0; i < 1 + round % 4; ++i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    if (round % 10 == 0) damaged.resize(random() % damaged.size());
    const auto result = Convert(damaged, kFloat16);
    if (result.ok()) ++converted;
    if (!result.ok()) {
      ASSERT_EQ(result.status().code(), StatusCode::kInvalidModel);
    }
  }
  EXPECT_GT(converted, 100);
}

}  // namespace
}  // namespace lattice
