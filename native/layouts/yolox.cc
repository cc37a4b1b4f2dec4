#include "native/layouts/yolox.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "native/layouts/graph_extension.h"
#include "native/layouts/grid_export.h"
#include "native/model/graph_tensors.h"
#include "native/model/model_description.h"

namespace lattice {
namespace {

constexpr int kYoloxStrides[] = {8, 16, 32};
constexpr float kLargestPixel = 255;
// The first whose Slice takes its ends as inputs.
constexpr int64_t kOldestSliceOpset = 10;

// [4 numbers of a convolution, the sigmoid of 1, the sigmoids of the classes].
bool IsScale(const GraphTensors& tensors, const OnnxNode* joined, int64_t classes) {
  if (!Joins(joined, 3, 1)) return false;
  const OnnxNode* object = tensors.MakerOf(joined->inputs[1], "Sigmoid");
  const OnnxNode* scores = tensors.MakerOf(joined->inputs[2], "Sigmoid");
  return object != nullptr && scores != nullptr && ChannelsOf(tensors, joined->inputs[0]) == 4 &&
         ChannelsOf(tensors, object->inputs[0]) == 1 &&
         ChannelsOf(tensors, scores->inputs[0]) == classes;
}

// The tensor [batch, 5 + classes, cells] that the last node transposes; nothing for another end.
std::optional<std::string> YoloxNumbers(const OnnxGraph& graph, const GraphTensors& tensors,
                                        int64_t classes) {
  const OnnxNode* scales = JoinedGrids(graph, tensors, std::size(kYoloxStrides));
  if (scales == nullptr) return std::nullopt;
  for (const std::string& scale : scales->inputs) {
    const OnnxNode* flat = tensors.MakerOf(scale, "Reshape");
    if (flat == nullptr || !IsScale(tensors, tensors.MakerOf(flat->inputs[0], "Concat"), classes)) {
      return std::nullopt;
    }
  }
  return scales->outputs[0];
}

// The network gets BGR from 0 to 255.
void TurnPixels(const std::string& input, OnnxGraph* graph) {
  GraphExtension extension(graph);
  OnnxNode turned = GraphExtension::Node(
      "Gather", {input, extension.Constant("yolox.blue_first", {2, 1, 0})}, "yolox.bgr");
  turned.Set(IntegerAttribute("axis", 1));
  OnnxNode scaled = GraphExtension::Node(
      "Mul",
      {turned.outputs[0], extension.Constant("yolox.largest", {1}, std::vector{kLargestPixel})},
      "yolox.pixels");
  extension.InsertBehind(input, {std::move(turned), std::move(scaled)});
}

// Nodes that make the output of the numbers of the cells.
void AddBoxes(const std::string& numbers, const ModelInfo& info, OnnxGraph* graph) {
  GraphExtension extension(graph);
  const Cells cells = CellsAt(kYoloxStrides, info.input_width, info.input_height);
  const auto classes = static_cast<int64_t>(info.names.size());
  const auto rows = [&](int64_t from, int64_t to, std::string_view name) {
    return extension.Part(numbers, 1, from, to, name);
  };
  const std::string strides =
      extension.Constant("yolox.strides", {1, 1, cells.count()}, cells.strides);
  const std::string places =
      extension.Constant("yolox.places", {1, 2, cells.count()}, cells.places);
  const std::string moved =
      extension.Add("Mul", {rows(0, 2, "yolox.offsets"), strides}, "yolox.moved");
  const std::string centres = extension.Add("Add", {moved, places}, "yolox.centres");
  const std::string grown = extension.Add("Exp", {rows(2, 4, "yolox.logarithms")}, "yolox.grown");
  const std::string sizes = extension.Add("Mul", {grown, strides}, "yolox.sizes");
  const std::string scores = extension.Add(
      "Mul", {rows(4, 5, "yolox.object"), rows(5, 5 + classes, "yolox.class")}, "yolox.scores");
  extension.SetOutput(extension.Join({centres, sizes, scores}, 1, "yolox.rows"));
}

}  // namespace

bool TurnYoloxIntoRows(ModelInfo info, OnnxModel* model) {
  OnnxGraph& graph = model->graph;
  if (model->opset < kOldestSliceOpset) return false;
  const GraphTensors tensors(graph);
  const auto numbers = YoloxNumbers(graph, tensors, static_cast<int64_t>(info.names.size()));
  const OnnxValueInfo* input = OnlyPicture(graph, tensors);
  if (!numbers || input == nullptr || !ResolveInput({input->Shape()}, info).ok()) return false;
  const std::string pixels = input->name;
  const std::string transposed = graph.outputs[0].name;
  std::erase_if(graph.nodes, [&](const OnnxNode& node) {
    return !node.outputs.empty() && node.outputs.front() == transposed;
  });
  TurnPixels(pixels, &graph);
  AddBoxes(*numbers, info, &graph);
  return true;
}

}  // namespace lattice
