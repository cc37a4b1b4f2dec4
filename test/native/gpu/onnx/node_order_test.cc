#include "native/gpu/onnx/node_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "native/model/onnx_reader.h"
#include "test/native/gpu/onnx/random_graph.h"
#include "test/native/model/graph_writer.h"

namespace lattice {
namespace {

std::vector<std::string> OutputsOf(const OnnxGraph& graph) {
  std::vector<std::string> outputs;
  for (const OnnxNode& node : graph.nodes) outputs.push_back(node.outputs.at(0));
  return outputs;
}

TEST(SortNodesTest, NodesInOrderStayWhereTheyAre) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const std::string bytes = test::RandomGraph(seed).Model();
    auto model = *ReadOnnxModel(BytesOf(bytes));
    const std::vector<std::string> before = OutputsOf(model.graph);
    SortNodes(model.graph);
    EXPECT_EQ(OutputsOf(model.graph), before);
  }
}

TEST(SortNodesTest, ShuffledNodesFollowWhatTheyRead) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const std::string bytes = test::RandomGraph(seed).Model();
    auto model = *ReadOnnxModel(BytesOf(bytes));
    std::set<std::string> to_come;
    for (const OnnxNode& node : model.graph.nodes) {
      to_come.insert(node.outputs.begin(), node.outputs.end());
    }
    const size_t nodes = model.graph.nodes.size();
    std::shuffle(model.graph.nodes.begin(), model.graph.nodes.end(), std::mt19937(seed));
    SortNodes(model.graph);
    ASSERT_EQ(model.graph.nodes.size(), nodes);
    for (const OnnxNode& node : model.graph.nodes) {
      for (const std::string& input : node.inputs) EXPECT_FALSE(to_come.contains(input)) << input;
      for (const std::string& output : node.outputs) to_come.erase(output);
    }
  }
}

TEST(SortNodesTest, ACircleLosesNoNode) {
  const std::string bytes = test::GraphWriter()
                                .Node("Add", {"b", "images"}, {"a"})
                                .Node("Relu", {"a"}, {"b"})
                                .Node("Relu", {"b"}, {"output0"})
                                .Model();
  auto model = *ReadOnnxModel(BytesOf(bytes));
  SortNodes(model.graph);
  EXPECT_EQ(model.graph.nodes.size(), 3u);
}

}  // namespace
}  // namespace lattice
