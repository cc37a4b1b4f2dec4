#include "native/gpu_onnx/half_precision.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "native/onnx/onnx_reader.h"
#include "test/native/gpu_onnx/random_graph.h"
#include "test/native/gpu_onnx/type_checker.h"
#include "test/native/onnx/graph_writer.h"

namespace lattice {
namespace {

using test::Floats;
using test::GraphWriter;
using test::Integer;
using test::RawTensor;

Result<std::string> Convert(const std::string& bytes) { return ToHalfPrecision(BytesOf(bytes)); }

// A converted graph and the bytes it refers to.
struct Converted {
  explicit Converted(const std::string& model) {
    auto result = Convert(model);
    EXPECT_TRUE(result.ok()) << result.status().message();
    if (!result.ok()) return;
    bytes = *std::move(result);
    graph = ReadOnnxModel(BytesOf(bytes))->graph;
    EXPECT_EQ(test::TypeChecker().Complaints(*ReadOnnxModel(BytesOf(bytes))), "");
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

  int32_t InitializerType(const std::string& name) const {
    for (const OnnxTensor& tensor : graph.initializers) {
      if (tensor.name == name) return tensor.type;
    }
    return kNoType;
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

TEST(ToHalfPrecisionTest, TheBoxDecodeStaysFloat) {
  const Converted half(GraphWriter()
                           .Initializer(kWeights)
                           .Initializer(Floats("dfl", {1, 2, 1, 1}, {0, 1}))
                           .Initializer(Floats("grid", {1}, {0.3f}))
                           .Node("Conv", {"images", "w"}, {"head"})
                           .Node("Softmax", {"head"}, {"bins"})
                           .Node("Conv", {"bins", "dfl"}, {"distance"})
                           .Node("Add", {"distance", "grid"}, {"box"})
                           .Node("Mul", {"box", "head"}, {"output0"})
                           .ValueInfo("head", kFloat)
                           .Model());
  EXPECT_EQ(half.InitializerType("w"), kFloat16);
  EXPECT_EQ(half.InitializerType("dfl"), kFloat);
  EXPECT_EQ(half.InitializerType("grid"), kFloat);
  EXPECT_EQ(half.Casts(), 1u);  // of `head`, for both of its readers
  EXPECT_EQ(half.Node("bins").inputs[0], half.Node("output0").inputs[1]);
  EXPECT_EQ(half.graph.value_info[0].type, kFloat16);
}

TEST(ToHalfPrecisionTest, AnOutputOfAConvolutionKeepsItsName) {
  const Converted half(
      GraphWriter().Initializer(kWeights).Node("Conv", {"images", "w"}, {"output0"}).Model());
  EXPECT_EQ(half.Node("output0").op, "Cast");
  EXPECT_EQ(half.graph.nodes[0].op, "Conv");
}

TEST(ToHalfPrecisionTest, AConstantOfBothSidesIsKeptInBothTypes) {
  const Converted half(
      GraphWriter()
          .Initializer(kWeights)
          .Initializer(Floats("half", {}, {0.5f}))
          .Node("Constant", {}, {"third"}, test::TensorValue("value", Floats("", {}, {1.0f / 3})))
          .Node("Mul", {"images", "half"}, {"a"})
          .Node("Mul", {"a", "third"}, {"b"})
          .Node("Conv", {"b", "w"}, {"head"})
          .Node("Mul", {"head", "half"}, {"c"})
          .Node("Mul", {"c", "third"}, {"output0"})
          .Model());
  EXPECT_EQ(half.InitializerType("half"), kFloat);
  EXPECT_EQ(half.InitializerType(half.Node("a").inputs[1]), kFloat16);
  EXPECT_EQ(half.Node("output0").inputs[1], "third");
  EXPECT_NE(half.Node("b").inputs[1], "third");
}

TEST(ToHalfPrecisionTest, WeightsStoredAsHalvesAreReadDirectly) {
  const std::vector<uint16_t> halves = {0x3c00, 0x0001};
  const std::string stored = RawTensor("w.half", kFloat16, {2, 1, 1, 1}, halves);
  const Converted half(GraphWriter()
                           .Initializer(stored)
                           .Node("Cast", {"w.half"}, {"w"}, Integer("to", kFloat))
                           .Node("Conv", {"images", "w"}, {"head"})
                           .Node("Relu", {"head"}, {"output0"})
                           .Model());
  ASSERT_EQ(half.graph.initializers.size(), 1u);
  EXPECT_EQ(half.graph.initializers[0].message.text(), stored);
  EXPECT_EQ(half.Casts(), 1u);
}

TEST(ToHalfPrecisionTest, WhatFp16CannotHoldStaysFloat) {
  for (const float value : {65505.0f, -1e9f, 1e-8f}) {
    const Converted half(GraphWriter()
                             .Initializer(kWeights)
                             .Initializer(Floats("odd", {}, {value}))
                             .Node("Add", {"images", "odd"}, {"sum"})
                             .Node("Conv", {"sum", "w"}, {"head"})
                             .Node("Relu", {"head"}, {"output0"})
                             .Model());
    EXPECT_EQ(half.InitializerType("odd"), kFloat) << value;
    EXPECT_EQ(half.Casts(), 3u) << value;
  }
  const Converted fits(GraphWriter()
                           .Initializer(kWeights)
                           .Initializer(Floats("far", {3}, {-INFINITY, 65504.0f, 0}))
                           .Node("Add", {"images", "far"}, {"sum"})
                           .Node("Conv", {"sum", "w"}, {"head"})
                           .Node("Relu", {"head"}, {"output0"})
                           .Model());
  EXPECT_EQ(fits.InitializerType("far"), kFloat16);
}

TEST(ToHalfPrecisionTest, PortsThatAreFloatByTheStandardStayFloat) {
  const Converted half(GraphWriter()
                           .Initializer(kWeights)
                           .Initializer(Floats("scales", {4}, {1, 1, 2, 2}))
                           .Node("Resize", {"images", "", "scales"}, {"large"})
                           .Node("Conv", {"large", "w"}, {"head"})
                           .Node("Relu", {"head"}, {"output0"})
                           .Model());
  EXPECT_EQ(half.InitializerType("scales"), kFloat);
  EXPECT_EQ(half.Casts(), 1u);
}

TEST(ToHalfPrecisionTest, ArithmeticOnSizesStaysFloatAndIntegersAreLeftAlone) {
  const Converted half(GraphWriter()
                           .Initializer(kWeights)
                           .Initializer(RawTensor("two", kInt64, {1}, std::vector<int64_t>{2}))
                           .Initializer(Floats("factor", {}, {2.0f}))
                           .Node("Shape", {"images"}, {"shape"})
                           .Node("Gather", {"shape", "two"}, {"height"})
                           .Node("Cast", {"height"}, {"real"}, Integer("to", kFloat))
                           .Node("Mul", {"real", "factor"}, {"wide"})
                           .Node("Cast", {"wide"}, {"size"}, Integer("to", kInt64))
                           .Node("Expand", {"images", "size"}, {"expanded"})
                           .Node("Greater", {"expanded", "factor"}, {"mask"})
                           .Node("Cast", {"mask"}, {"ones"}, Integer("to", kFloat))
                           .Node("Conv", {"ones", "w"}, {"head"})
                           .Node("Relu", {"head"}, {"output0"})
                           .Model());
  EXPECT_EQ(half.Node("real").Integer("to", 0), kFloat);
  EXPECT_EQ(half.Node("size").Integer("to", 0), kInt64);
  EXPECT_EQ(half.Node("ones").Integer("to", 0), kFloat16);
  EXPECT_EQ(half.InitializerType("two"), kInt64);
}

TEST(ToHalfPrecisionTest, AHalfModelGetsAFloatDecode) {
  const std::vector<uint16_t> halves = {0x3c00, 0x3800};
  const Converted half(GraphWriter()
                           .Initializer(RawTensor("w", kFloat16, {2, 1, 1, 1}, halves))
                           .Node("Conv", {"images", "w"}, {"head"})
                           .Node("Sigmoid", {"head"}, {"output0"})
                           .Model(kFloat16, kFloat16));
  EXPECT_EQ(half.Casts(), 1u);
  EXPECT_EQ(*Convert(half.bytes), half.bytes);
}

// images -> quantise -> dequantise -> Conv -> output0, scales FP16 where the opset has them.
TEST(ToHalfPrecisionTest, ScalesFollowTheDataFromOpset19On) {
  const auto network = [](uint64_t opset) {
    return GraphWriter()
        .Initializer(kWeights)
        .Initializer(Floats("scale", {}, {0.02f}))
        .Initializer(RawTensor("point", kUint8, {}, std::vector<uint8_t>{128}))
        .Node("Relu", {"images"}, {"r"})
        .Node("QuantizeLinear", {"r", "scale", "point"}, {"q"})
        .Node("DequantizeLinear", {"q", "scale", "point"}, {"x"})
        .Node("Conv", {"x", "w"}, {"head"})
        .Node("Relu", {"head"}, {"output0"})
        .Model(kFloat, kFloat, opset);
  };
  const Converted raised(network(17));
  EXPECT_EQ(raised.InitializerType("scale"), kFloat16);
  EXPECT_EQ(raised.Casts(), 1u);
  const Converted old(network(12));
  EXPECT_EQ(old.InitializerType("scale"), kFloat);
  EXPECT_EQ(old.Casts(), 3u);
}

// TensorRT's parser: "Scale coefficients must all be positive".
TEST(ToHalfPrecisionTest, ScalesOfWhichOneWouldBeRoundedToZeroStayFloat) {
  const auto network = [](float smallest) {
    return GraphWriter()
        .Initializer(RawTensor("w.q", kInt8, {2, 1, 1, 1}, std::vector<int8_t>{-7, 100}))
        .Initializer(Floats("w.scale", {2}, {0.5f, smallest}))
        .Initializer(RawTensor("w.point", kInt8, {2}, std::vector<int8_t>{0, 0}))
        .Node("Relu", {"images"}, {"r"})
        .Node("DequantizeLinear", {"w.q", "w.scale", "w.point"}, {"w"}, Integer("axis", 0))
        .Node("Conv", {"r", "w"}, {"head"})
        .Node("Relu", {"head"}, {"output0"})
        .Model();
  };
  EXPECT_EQ(Converted(network(1e-7f)).InitializerType("w.scale"), kFloat16);
  const Converted tiny(network(1e-9f));
  EXPECT_EQ(tiny.InitializerType("w.scale"), kFloat);
  EXPECT_EQ(tiny.Node("w_float16").op, "Cast");
}

std::string TwoInputsOfOneName() {
  using test::Bytes;
  const std::string input = Bytes(11, test::TensorPort("images", kFloat, {1, 3, 8, 8}));
  const std::string relu = Bytes(1, "images") + Bytes(2, "output0") + Bytes(4, "Relu");
  const std::string output = Bytes(12, test::TensorPort("output0", kFloat, {-1}));
  return test::Number(1, 8) + Bytes(7, Bytes(1, relu) + input + input + output) +
         Bytes(8, test::Number(2, 17));
}

TEST(ToHalfPrecisionTest, RefusalsSayWhatIsNeeded) {
  const auto refusal = [](const std::string& model) {
    const auto result = Convert(model);
    EXPECT_EQ(result.status().code(), StatusCode::kInvalidModel);
    return result.status().message();
  };
  const auto graph = GraphWriter().Node("Relu", {"images"}, {"output0"});
  EXPECT_NE(refusal("").find("not a complete ONNX"), std::string::npos);
  EXPECT_NE(refusal(graph.Model(kUint8)).find("UINT8"), std::string::npos);
  EXPECT_NE(refusal(graph.Model(kFloat, kFloat, 10)).find("opset 10"), std::string::npos);
  EXPECT_NE(refusal(graph.Model(kFloat, kFloat, 17, 3)).find("IR version is 3"), std::string::npos);
  EXPECT_NE(refusal(GraphWriter().Node("ConvInteger", {"images"}, {"output0"}).Model())
                .find("ConvInteger"),
            std::string::npos);
  EXPECT_NE(refusal(GraphWriter().Node("Relu", {"later"}, {"output0"}).Model()).find("'later'"),
            std::string::npos);
  EXPECT_NE(refusal(GraphWriter().Node("Relu", {"images"}, {"other"}).Model()).find("'output0'"),
            std::string::npos);
  EXPECT_NE(refusal(GraphWriter().Node("Relu", {"images"}, {"images"}).Model()).find("twice"),
            std::string::npos);
  EXPECT_NE(refusal(GraphWriter().Node("Relu", {}, {"output0"}).Model()).find("lacks"),
            std::string::npos);
  EXPECT_NE(refusal(TwoInputsOfOneName()).find("2 inputs"), std::string::npos);
}

// How often each operator occurs; a constant kept in two types counts once, unused ones not at all.
std::map<std::string, int> Operators(const std::string& bytes) {
  std::map<std::string, int> counts;
  const auto model = *ReadOnnxModel(BytesOf(bytes));
  for (const OnnxNode& node : model.graph.nodes) {
    if (node.op != "Cast" && node.op != "Constant") ++counts[node.op];
  }
  return counts;
}

TEST(ToHalfPrecisionTest, RandomGraphsKeepTheirNodesAndGetRightTypes) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    const std::string model = test::RandomGraph(seed).Model();
    SCOPED_TRACE(seed);
    const Converted half(model);
    ASSERT_FALSE(HasFailure());
    EXPECT_EQ(Operators(half.bytes), Operators(model));
    EXPECT_EQ(*Convert(model), half.bytes);
    ASSERT_EQ(*Convert(half.bytes), half.bytes);
  }
}

TEST(ToHalfPrecisionTest, SurvivesDamage) {
  std::mt19937 random(5);
  int converted = 0;
  for (unsigned round = 0; round < 20'000; ++round) {
    std::string damaged = test::RandomGraph(round % 50).Model();
    for (unsigned i = 0; i < 1 + round % 4; ++i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    if (round % 10 == 0) damaged.resize(random() % damaged.size());
    const auto result = Convert(damaged);
    if (result.ok()) ++converted;
    if (!result.ok()) {
      ASSERT_EQ(result.status().code(), StatusCode::kInvalidModel);
    }
  }
  EXPECT_GT(converted, 100);
}

}  // namespace
}  // namespace lattice
