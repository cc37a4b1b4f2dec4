#include "native/gpu/onnx/open_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "native/model/onnx_reader.h"
#include "test/native/model/graph_writer.h"

namespace lattice {
namespace {

using test::GraphWriter;
using test::Integer;
using test::Integers;

std::string Int64s(const std::string& name, const std::vector<int64_t>& values) {
  return test::RawTensor(name, kInt64, {static_cast<int64_t>(values.size())}, values);
}

// Result of OpenBatch for a graph from `images` [1, 3, 8, 8] to `output0`.
std::string HeldBy(const GraphWriter& graph) {
  const std::string bytes = graph.Model();
  auto model = *ReadOnnxModel(BytesOf(bytes));
  const std::string held = OpenBatch(&model);
  EXPECT_EQ(model.graph.inputs.at(0).Shape().at(0), held.empty() ? -1 : 1);
  if (!held.empty()) {
    EXPECT_EQ(WriteOnnxModel(model), bytes) << "a held model is not changed";
  }
  return held;
}

TEST(OpenBatchTest, LayersOfDetectorsTreatImagesApart) {
  GraphWriter graph;
  graph.Initializer(test::Floats("w", {4, 3, 1, 1}, std::vector<float>(12, 1)));
  graph.Initializer(test::Floats("scales", {4}, {1, 1, 2, 2}));
  graph.Initializer(Int64s("turned", {2, 1, 0}));
  graph.Node("Gather", {"images", "turned"}, {"bgr"}, Integer("axis", 1));
  graph.Node("Conv", {"bgr", "w"}, {"c"});
  graph.Node("Sigmoid", {"c"}, {"s"});
  graph.Node("Mul", {"c", "s"}, {"silu"});
  graph.Node("Split", {"silu"}, {"a", "b"}, Integer("axis", 1));
  graph.Node("MaxPool", {"a"}, {"p"}, Integers("kernel_shape", {1, 1}));
  graph.Node("Concat", {"p", "b"}, {"j"}, Integer("axis", -3));
  graph.Node("Resize", {"j", "", "scales"}, {"output0"});
  EXPECT_EQ(HeldBy(graph), "");
}

TEST(OpenBatchTest, PlacesAndSumsOfEachImageLeaveImagesApart) {
  for (const bool as_input : {false, true}) {
    GraphWriter graph;
    graph.Initializer(Int64s("places", {2, 1, 0}));
    graph.Initializer(Int64s("axes", {3}));
    graph.Initializer(test::Floats("w", {1, 8}, std::vector<float>(8, 1)));
    graph.Node("Gather", {"images", "places"}, {"g"}, Integer("axis", 1));
    if (as_input) {
      graph.Node("ReduceSum", {"g", "axes"}, {"r"}, Integer("keepdims", 0));
    } else {
      graph.Node("ReduceSum", {"g"}, {"r"}, Integer("keepdims", 0) + Integers("axes", {3}));
    }
    // The tensor has three axes now, as the constant of two shows.
    graph.Node("Mul", {"r", "w"}, {"output0"});
    EXPECT_EQ(HeldBy(graph), "");
  }
}

TEST(OpenBatchTest, AReshapeWhoseFirstAxisIsTheBatchKeepsIt) {
  GraphWriter graph;
  graph.Initializer(Int64s("shape", {1, 3, 64}));
  graph.Node("Reshape", {"images", "shape"}, {"output0"});
  const std::string bytes = graph.Model();
  auto model = *ReadOnnxModel(BytesOf(bytes));
  ASSERT_EQ(OpenBatch(&model), "");
  const std::string written = WriteOnnxModel(model);
  const auto read = *ReadOnnxModel(BytesOf(written));
  const std::string& shape = read.graph.nodes.at(0).inputs.at(1);
  ASSERT_NE(shape, "shape") << "another node may read the old one";
  const auto written_shape =
      std::find_if(read.graph.initializers.begin(), read.graph.initializers.end(),
                   [&](const OnnxTensor& tensor) { return tensor.name == shape; });
  ASSERT_NE(written_shape, read.graph.initializers.end());
  EXPECT_EQ(ReadIntegers(*written_shape), (std::vector<int64_t>{0, 3, 64}));
}

TEST(OpenBatchTest, NamesTheNodeThatHoldsTheBatch) {
  const std::vector<std::pair<std::string, std::function<void(GraphWriter&)>>> graphs = {
      {"Concat",
       [](GraphWriter& graph) {
         graph.Node("Concat", {"images", "images"}, {"output0"}, Integer("axis", 0));
       }},
      {"Concat",
       [](GraphWriter& graph) {
         graph.Node("Concat", {"images", "images"}, {"output0"}, Integer("axis", -4));
       }},
      {"Reshape",
       [](GraphWriter& graph) {
         graph.Initializer(Int64s("shape", {3, 64}));
         graph.Node("Reshape", {"images", "shape"}, {"output0"});
       }},
      {"Reshape",
       [](GraphWriter& graph) {
         graph.Initializer(Int64s("shape", {-1, 64}));
         graph.Node("Reshape", {"images", "shape"}, {"output0"});
       }},
      {"Transpose",
       [](GraphWriter& graph) {
         graph.Node("Transpose", {"images"}, {"output0"}, Integers("perm", {1, 0, 2, 3}));
       }},
      {"Softmax",
       [](GraphWriter& graph) {
         graph.Node("Softmax", {"images"}, {"output0"}, Integer("axis", 0));
       }},
      {"Gather",
       [](GraphWriter& graph) {
         graph.Initializer(Int64s("places", {0}));
         graph.Node("Gather", {"images", "places"}, {"output0"});
       }},
      {"ReduceSum", [](GraphWriter& graph) { graph.Node("ReduceSum", {"images"}, {"output0"}); }},
      {"ReduceSum",
       [](GraphWriter& graph) {
         graph.Node("ReduceSum", {"images"}, {"output0"}, Integers("axes", {-4}));
       }},
      {"Shape", [](GraphWriter& graph) { graph.Node("Shape", {"images"}, {"output0"}); }},
      {"ReduceMax", [](GraphWriter& graph) { graph.Node("ReduceMax", {"images"}, {"output0"}); }},
      {"Resize",
       [](GraphWriter& graph) {
         graph.Initializer(Int64s("sizes", {1, 3, 16, 16}));
         graph.Node("Resize", {"images", "", "", "sizes"}, {"output0"});
       }},
      {"Slice", [](GraphWriter& graph) {
         graph.Initializer(Int64s("first", {0}));
         graph.Initializer(Int64s("last", {1}));
         graph.Initializer(Int64s("axes", {-4}));
         graph.Node("Slice", {"images", "first", "last", "axes"}, {"output0"});
       }}};
  for (const auto& [op, write] : graphs) {
    GraphWriter graph;
    write(graph);
    EXPECT_EQ(HeldBy(graph),
              "The node 'output0' (" + op + ") needs the batch that the file fixes.");
  }
}

}  // namespace
}  // namespace lattice
