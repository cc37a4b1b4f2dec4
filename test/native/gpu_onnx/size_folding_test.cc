#include "native/gpu_onnx/size_folding.h"

#include <gtest/gtest.h>

#include <random>

#include "native/gpu_onnx/graph_types.h"
#include "native/onnx/onnx_reader.h"
#include "test/native/gpu_onnx/random_graph.h"
#include "test/native/onnx/graph_writer.h"

namespace lattice {
namespace {

using test::Floats;
using test::GraphWriter;
using test::Integer;
using test::RawTensor;

template <typename Value>
void Add(const std::string& name, int32_t type, const std::vector<Value>& values,
         KnownTensors* known) {
  const std::string_view raw(reinterpret_cast<const char*>(values.data()),
                             values.size() * sizeof(Value));
  known->values[name] = MakeTensor(name, type, {static_cast<int64_t>(values.size())}, raw);
}

// The shape of the images, and the same numbers as floats by this name.
KnownTensors ShapeAnd(const std::string& floats) {
  KnownTensors known;
  Add<int64_t>("shape", kInt64, {1, 3, 8, 8}, &known);
  Add<float>(floats, kFloat, {1, 3, 8, 8}, &known);
  return known;
}

// A folded graph and the bytes it refers to.
struct Folded {
  Folded(const std::string& model, const KnownTensors& known) {
    auto result = FoldSizes(BytesOf(model), known);
    EXPECT_TRUE(result.ok()) << result.status().message();
    if (!result.ok()) return;
    bytes = *std::move(result);
    read = *ReadOnnxModel(BytesOf(bytes));
    EXPECT_TRUE(InferTypes(read).ok()) << InferTypes(read).status().message();
  }

  // "Op Op", in order.
  std::string Operators() const {
    std::string ops;
    for (const OnnxNode& node : read.graph.nodes) ops += (ops.empty() ? "" : " ") + node.op;
    return ops;
  }

  const OnnxTensor* Initializer(const std::string& name) const {
    for (const OnnxTensor& tensor : read.graph.initializers) {
      if (tensor.name == name) return &tensor;
    }
    return nullptr;
  }

  std::string bytes;
  OnnxModel read;
};

// places = its size as floats, added to the images.
GraphWriter Anchors() {
  GraphWriter graph;
  graph.Node("Shape", {"images"}, {"shape"})
      .Node("Cast", {"shape"}, {"places"}, Integer("to", kFloat))
      .Node("Gather", {"images", "shape"}, {"picked"})
      .Node("Add", {"picked", "places"}, {"output0"});
  return graph;
}

TEST(SizeFoldingTest, FindsWhoAsksForSizes) {
  const std::string asking = Anchors().Model();
  EXPECT_TRUE(ReckonsWithSizes(*ReadOnnxModel(BytesOf(asking))));
  const std::string fixed = GraphWriter().Node("Relu", {"images"}, {"output0"}).Model();
  EXPECT_FALSE(ReckonsWithSizes(*ReadOnnxModel(BytesOf(fixed))));
}

TEST(SizeFoldingTest, WhatFollowsFromSizesBecomesConstants) {
  const Folded folded(Anchors().Model(), ShapeAnd("places"));
  EXPECT_EQ(folded.Operators(), "Gather Add");
  ASSERT_NE(folded.Initializer("shape"), nullptr);
  EXPECT_EQ(*ReadIntegers(*folded.Initializer("shape")), (std::vector<int64_t>{1, 3, 8, 8}));
  ASSERT_NE(folded.Initializer("places"), nullptr);
  EXPECT_EQ(*ReadFloats(*folded.Initializer("places")), (std::vector<float>{1, 3, 8, 8}));
}

TEST(SizeFoldingTest, WhatOnlyConstantsReadIsNotKept) {
  GraphWriter graph;
  graph.Node("Shape", {"images"}, {"shape"})
      .Node("Cast", {"shape"}, {"places"}, Integer("to", kFloat))
      .Node("Add", {"images", "places"}, {"output0"});
  const Folded folded(graph.Model(), ShapeAnd("places"));
  EXPECT_EQ(folded.Operators(), "Add");
  EXPECT_EQ(folded.Initializer("shape"), nullptr);
}

TEST(SizeFoldingTest, WhatComesFromWeightsAloneStays) {
  GraphWriter graph;
  graph.Initializer(RawTensor<int8_t>("quantised", kInt8, {1}, {7}))
      .Initializer(Floats("scale", {}, {0.5f}))
      .Node("DequantizeLinear", {"quantised", "scale"}, {"weight"})
      .Node("Mul", {"images", "weight"}, {"output0"});
  KnownTensors known;
  Add<float>("weight", kFloat, {3.5f}, &known);
  const Folded folded(graph.Model(), known);
  EXPECT_EQ(folded.Operators(), "DequantizeLinear Mul");
  EXPECT_EQ(folded.Initializer("weight"), nullptr);
}

TEST(SizeFoldingTest, AnOutputIsStillMadeByANode) {
  GraphWriter graph;
  graph.Node("Shape", {"images"}, {"shape"})
      .Node("Cast", {"shape"}, {"output0"}, Integer("to", kFloat));
  const Folded folded(graph.Model(), ShapeAnd("output0"));
  EXPECT_EQ(folded.Operators(), "Cast");
}

// The batch, 3, and the rest.
GraphWriter Flattening() {
  GraphWriter graph;
  graph.Initializer(RawTensor<int64_t>("first", kInt64, {1}, {0}))
      .Initializer(RawTensor<int64_t>("rest", kInt64, {2}, {3, -1}))
      .Node("Shape", {"images"}, {"shape"})
      .Node("Gather", {"shape", "first"}, {"batch"})
      .Node("Concat", {"batch", "rest"}, {"target"}, Integer("axis", 0))
      .Node("Reshape", {"images", "target"}, {"output0"});
  return graph;
}

TEST(SizeFoldingTest, AReshapeByTheBatchLeavesTheBatchToIt) {
  KnownTensors known;
  known.shapes["output0"] = {-1, 3, 64};
  const Folded folded(Flattening().Model(), known);
  EXPECT_EQ(folded.Operators(), "Reshape");
  const OnnxNode& reshape = folded.read.graph.nodes.at(0);
  EXPECT_EQ(*ReadIntegers(*folded.Initializer(reshape.inputs.at(1))),
            (std::vector<int64_t>{-1, 3, 64}));
}

TEST(SizeFoldingTest, AReshapeWithMoreOpenSidesReckons) {
  for (const std::vector<int64_t>& sides : {std::vector<int64_t>{-1, 3, -1}, {-1, 0, 64}}) {
    KnownTensors known;
    known.shapes["output0"] = sides;
    EXPECT_EQ(Folded(Flattening().Model(), known).Operators(), "Shape Gather Concat Reshape");
  }
}

TEST(SizeFoldingTest, AReshapeToAConstantKeepsItsOwn) {
  GraphWriter graph;
  graph.Initializer(RawTensor<int64_t>("target", kInt64, {2}, {0, -1}))
      .Node("Reshape", {"images", "target"}, {"output0"});
  KnownTensors known;
  known.shapes["output0"] = {-1, 192};
  const Folded folded(graph.Model(), known);
  EXPECT_EQ(folded.read.graph.nodes.at(0).inputs.at(1), "target");
}

TEST(SizeFoldingTest, NetworksWithBranchesComeBackAsTheyAre) {
  const std::string model = Anchors().Node("If", {"shape"}, {"either"}).Model();
  const auto folded = FoldSizes(BytesOf(model), ShapeAnd("places"));
  ASSERT_TRUE(folded.ok());
  EXPECT_EQ(*folded, model);
}

// Whatever is said to be known of whichever tensors, the rest is a graph whose types are right.
TEST(SizeFoldingTest, RandomGraphsStayValid) {
  std::mt19937 random(3);
  for (unsigned seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    const std::string bytes = test::RandomGraph(seed).Model();
    const OnnxModel model = *ReadOnnxModel(BytesOf(bytes));
    const auto types = InferTypes(model);
    ASSERT_TRUE(types.ok());
    KnownTensors known;
    for (const OnnxNode& node : model.graph.nodes) {
      for (const std::string& output : node.outputs) {
        if (random() % 3 == 0) continue;
        known.values.emplace(output, MakeTensor(output, types->at(output), {0}, ""));
        known.shapes.emplace(output,
                             std::vector<int64_t>{-1, static_cast<int64_t>(1 + random() % 3)});
      }
    }
    const Folded folded(bytes, known);
    ASSERT_FALSE(HasFailure());
    EXPECT_EQ(*FoldSizes(BytesOf(folded.bytes), known), folded.bytes);
  }
}

TEST(SizeFoldingTest, SurvivesDamage) {
  std::mt19937 random(5);
  for (unsigned round = 0; round < 5000; ++round) {
    std::string damaged = Flattening().Model();
    for (unsigned i = 0; i < 1 + round % 4; ++i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    const auto result = FoldSizes(BytesOf(damaged), {});
    if (!result.ok()) {
      ASSERT_EQ(result.status().code(), StatusCode::kInvalidModel);
    }
  }
}

}  // namespace
}  // namespace lattice
