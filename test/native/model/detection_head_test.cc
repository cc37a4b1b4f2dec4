#include "native/model/detection_head.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <unordered_set>

#include "native/model/onnx_reader.h"
#include "test/native/model/head_writer.h"

namespace lattice {
namespace {

using test::HeadOptions;
using test::HeadWriter;

std::optional<DetectionHead> Find(const std::string& file, int classes) {
  const auto model = ReadOnnxModel(BytesOf(file));
  EXPECT_TRUE(model.ok()) << model.status().message();
  return FindDetectionHead(*model, classes);
}

std::vector<HeadScale> Scales(const std::string& ending = "") {
  std::vector<HeadScale> scales;
  for (const char* cell : {"8", "16", "32"}) {
    scales.push_back({std::string("box") + cell + ending, std::string("class") + cell + ending});
  }
  return scales;
}

TEST(DetectionHeadTest, FindsTheLastConvolutionsOfEveryLayout) {
  // 64 and 4 classes have as many channels as the boxes, 1 as the convolution that weighs the bins.
  for (const HeadOptions& options : test::EveryLayout({1, 3, 4, 64, 80})) {
    const auto head = Find(HeadWriter(options).Model(), options.classes);
    ASSERT_TRUE(head) << options.classes << " " << options.bins << options.joins_kinds
                      << options.one_to_one;
    EXPECT_EQ(head->bins, options.bins);
    EXPECT_EQ(head->scales, Scales());
  }
}

TEST(DetectionHeadTest, EndsBehindTheLastDequantisation) {
  HeadOptions options;
  options.quantised = true;
  for (const bool joins_kinds : {false, true}) {
    options.joins_kinds = joins_kinds;
    const auto head = Find(HeadWriter(options).Model(), 3);
    ASSERT_TRUE(head);
    EXPECT_EQ(head->scales, Scales(".read"));
  }
}

TEST(DetectionHeadTest, FindsNoneForAnotherCountOfClasses) {
  EXPECT_FALSE(Find(HeadWriter({}).Model(), 4));
  EXPECT_FALSE(Find(HeadWriter({}).Model(), 64));
  EXPECT_FALSE(Find(HeadWriter({}).Model(), 0));
}

std::string Convolution(const std::vector<int64_t>& weights) {
  size_t count = 1;
  for (const int64_t side : weights) count *= static_cast<size_t>(side);
  return test::Floats("w", weights, std::vector<float>(count));
}

TEST(DetectionHeadTest, FindsNoneInOtherGraphs) {
  using test::GraphWriter;
  // The output does not come of convolutions alone.
  EXPECT_FALSE(Find(GraphWriter().Node("Relu", {"images"}, {"output0"}).Model(), 3));
  // One convolution.
  EXPECT_FALSE(Find(GraphWriter()
                        .Initializer(Convolution({64, 3, 1, 1}))
                        .Node("Conv", {"images", "w"}, {"output0"})
                        .Model(),
                    3));
  // Weights that are not known, nodes in a circle, an output that nothing makes.
  EXPECT_FALSE(Find(GraphWriter().Node("Conv", {"images", "w"}, {"output0"}).Model(), 3));
  EXPECT_FALSE(Find(GraphWriter()
                        .Node("Relu", {"output0"}, {"again"})
                        .Node("Relu", {"again"}, {"output0"})
                        .Model(),
                    3));
  EXPECT_FALSE(Find(GraphWriter()
                        .Node("DequantizeLinear", {"b"}, {"output0"})
                        .Node("QuantizeLinear", {"output0"}, {"b"})
                        .Model(),
                    3));
  EXPECT_FALSE(Find(GraphWriter().Node("Relu", {"images"}, {"other"}).Model(), 3));
}

TEST(DetectionHeadTest, LeavesGraphsWithGraphsInsideAlone) {
  const std::string model = HeadWriter({}).Model();
  ASSERT_TRUE(Find(model, 3));
  auto read = *ReadOnnxModel(BytesOf(model));
  // Such a node may read any tensor of the graph outside.
  const std::string branch = test::Bytes(1, "then_branch") + test::Bytes(6, test::Bytes(2, "g"));
  OnnxNode node;
  node.op = "If";
  node.attributes.push_back({"then_branch", 0, 0, {}, {}, {}, Message(branch)});
  read.graph.nodes.push_back(node);
  EXPECT_FALSE(FindDetectionHead(read, 3));
}

// Inputs of nodes and outputs of the graph that nothing makes.
std::vector<std::string> Dangling(const OnnxGraph& graph) {
  std::unordered_set<std::string> made = {""};
  for (const OnnxValueInfo& input : graph.inputs) made.insert(input.name);
  for (const OnnxTensor& tensor : graph.initializers) made.insert(tensor.name);
  for (const OnnxNode& node : graph.nodes) made.insert(node.outputs.begin(), node.outputs.end());
  std::vector<std::string> dangling;
  const auto look = [&](const std::string& name) {
    if (!made.contains(name)) dangling.push_back(name);
  };
  for (const OnnxNode& node : graph.nodes)
    std::for_each(node.inputs.begin(), node.inputs.end(), look);
  for (const OnnxValueInfo& output : graph.outputs) look(output.name);
  return dangling;
}

TEST(CutAtHeadTest, TheTensorsBecomeTheOutputsAndTheRestGoes) {
  HeadOptions options;
  options.one_to_one = true;
  const std::string file = HeadWriter(options).Model();
  auto model = *ReadOnnxModel(BytesOf(file));
  CutAtHead(&model, *FindDetectionHead(model, 3));
  const std::string written = WriteOnnxModel(model);
  const auto cut = ReadOnnxModel(BytesOf(written));
  ASSERT_TRUE(cut.ok()) << cut.status().message();
  std::vector<std::string> outputs;
  for (const OnnxValueInfo& output : cut->graph.outputs) {
    outputs.push_back(output.name);
    EXPECT_EQ(output.type, kFloat);
    EXPECT_EQ(output.Shape(), (std::vector<int64_t>{-1, -1, -1, -1}));
  }
  EXPECT_EQ(outputs,
            (std::vector<std::string>{"box8", "class8", "box16", "class16", "box32", "class32"}));
  // A pool and three convolutions a scale, and the weights and biases of these.
  EXPECT_EQ(cut->graph.nodes.size(), 12u);
  EXPECT_EQ(cut->graph.initializers.size(), 18u);
  EXPECT_TRUE(Dangling(cut->graph).empty());
}

TEST(CutAtHeadTest, TypesFollowTheWeights) {
  HeadOptions options;
  options.quantised = true;
  const std::string file = HeadWriter(options).Model();
  auto model = *ReadOnnxModel(BytesOf(file));
  const auto head = FindDetectionHead(model, 3);
  for (OnnxTensor& tensor : model.graph.initializers) {
    if (tensor.name.ends_with(".scale")) tensor.type = kFloat16;
  }
  CutAtHead(&model, *head);
  for (const OnnxValueInfo& output : model.graph.outputs) EXPECT_EQ(output.type, kFloat16);
}

TEST(CutAtHeadTest, OldFilesLoseTheInputsOfRemovedConstants) {
  const std::string file = HeadWriter({}).Model();
  auto model = *ReadOnnxModel(BytesOf(file));
  for (const char* name : {"bins", "box8.w"}) {
    OnnxValueInfo input;
    input.name = name;
    model.graph.inputs.push_back(input);
  }
  CutAtHead(&model, *FindDetectionHead(model, 3));
  ASSERT_EQ(model.graph.inputs.size(), 2u);
  EXPECT_EQ(model.graph.inputs[0].name, "images");
  EXPECT_EQ(model.graph.inputs[1].name, "box8.w");
}

TEST(CutAtHeadTest, CutsRealModels) {
  const std::string shared = LATTICE_SOURCE_DIR "/../shared/testdata/models/yolov8n.onnx";
  const std::string bundled = LATTICE_SOURCE_DIR "/models/vehicles-v8n.onnx";
  for (const auto& [path, classes] : {std::pair{bundled, 4}, std::pair{shared, 80}}) {
    if (!std::filesystem::exists(path)) {
      std::cout << "left out: there is no " << path << "\n";
      continue;
    }
    const std::string bytes = test::FileBytes(path);
    auto model = *ReadOnnxModel(BytesOf(bytes));
    const auto head = FindDetectionHead(model, classes);
    ASSERT_TRUE(head) << path;
    EXPECT_EQ(head->bins, 16);
    const size_t nodes = model.graph.nodes.size();
    CutAtHead(&model, *head);
    EXPECT_LT(model.graph.nodes.size(), nodes);
    EXPECT_EQ(model.graph.outputs.size(), 6u);
    EXPECT_TRUE(Dangling(model.graph).empty());
    for (const OnnxNode& node : model.graph.nodes) {
      EXPECT_NE(node.op, "Softmax");
      EXPECT_NE(node.op, "Reshape");
    }
  }
  // Its boxes do not come of sides.
  const std::string tiny = test::FileBytes(LATTICE_SOURCE_DIR "/models/tiny/tiny-v8.onnx");
  EXPECT_FALSE(Find(tiny, 4));
}

}  // namespace
}  // namespace lattice
