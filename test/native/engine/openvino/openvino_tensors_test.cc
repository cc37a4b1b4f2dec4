#include "native/engine/openvino/openvino_tensors.h"

#include <gtest/gtest.h>

#include "test/native/onnx/graph_writer.h"

namespace lattice {
namespace {

using test::Floats;
using test::GraphWriter;
using test::Integer;
using test::RawTensor;

const std::vector<Shape> kBatches = {{1, 3, 8, 8}, {2, 3, 8, 8}};

// The height, by itself and as a float; the batch; the images flattened by it.
std::string Sizes() {
  GraphWriter graph;
  graph.Initializer(RawTensor<int64_t>("zero", kInt64, {1}, {0}))
      .Initializer(RawTensor<int64_t>("two", kInt64, {1}, {2}))
      .Initializer(RawTensor<int64_t>("rest", kInt64, {1}, {-1}))
      .Initializer(Floats("half", {1}, {0.5f}))
      .Node("Shape", {"images"}, {"shape"})
      .Node("Gather", {"shape", "two"}, {"height"})
      .Node("Cast", {"height"}, {"height_float"}, Integer("to", kFloat))
      .Node("Add", {"height_float", "half"}, {"place"})
      .Node("Gather", {"shape", "zero"}, {"batch"})
      .Node("Concat", {"batch", "rest"}, {"target"}, Integer("axis", 0))
      .Node("Reshape", {"images", "target"}, {"flat"})
      .Node("Add", {"flat", "place"}, {"output0"});
  return graph.Model();
}

TEST(OpenVinoTensorsTest, ValuesThatNoBatchChanges) {
  const auto known = InferTensors(Sizes(), kBatches);
  ASSERT_TRUE(known);
  ASSERT_TRUE(known->values.contains("place"));
  EXPECT_EQ(known->values.at("place").name, "place");
  EXPECT_EQ(known->values.at("place").dims, (std::vector<int64_t>{1}));
  EXPECT_EQ(*ReadFloats(known->values.at("place")), (std::vector<float>{8.5f}));
  for (const char* open : {"batch", "target", "shape", "images", "flat", "output0"}) {
    EXPECT_FALSE(known->values.contains(open)) << open;
  }
}

TEST(OpenVinoTensorsTest, TheFilesOwnConstantsAreNotCopied) {
  const auto known = InferTensors(Sizes(), kBatches);
  ASSERT_TRUE(known);
  for (const char* own : {"zero", "two", "rest", "half"}) {
    EXPECT_FALSE(known->values.contains(own)) << own;
  }
}

TEST(OpenVinoTensorsTest, OneBatchAloneIsKnownThroughout) {
  const auto known = InferTensors(Sizes(), {kBatches[1]});
  ASSERT_TRUE(known);
  EXPECT_EQ(*ReadIntegers(known->values.at("target")), (std::vector<int64_t>{2, -1}));
  EXPECT_EQ(known->shapes.at("flat"), (Shape{2, 192}));
}

TEST(OpenVinoTensorsTest, SidesThatTheBatchChangesAreOpen) {
  const auto known = InferTensors(Sizes(), kBatches);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->shapes.at("flat"), (Shape{-1, 192}));
  EXPECT_EQ(known->shapes.at("height"), (Shape{1}));
}

TEST(OpenVinoTensorsTest, NothingIsKnownOfWhatCannotBeRead) {
  EXPECT_FALSE(InferTensors("no model", kBatches));
  EXPECT_FALSE(
      InferTensors(GraphWriter().Node("Nonsense", {"images"}, {"output0"}).Model(), kBatches));
}

}  // namespace
}  // namespace lattice
