#include "native/model/yolox.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "native/model/graph_extension.h"
#include "native/model/graph_tensors.h"
#include "native/model/model_description.h"

namespace lattice {
namespace {

constexpr int kYoloxStrides[] = {8, 16, 32};
constexpr float kLargestPixel = 255;
// The first whose Slice takes its ends as inputs.
constexpr int64_t kOldestSliceOpset = 10;

// Walks back from the end of a graph.
class YoloxEnd {
 public:
  explicit YoloxEnd(const OnnxGraph& graph) : graph_(graph), tensors_(graph) {}

  // The tensor [batch, 5 + classes, cells] that the last node transposes; nothing for another end.
  std::optional<std::string> Find(int64_t classes) const {
    if (graph_.outputs.size() != 1) return std::nullopt;
    const OnnxNode* last = tensors_.MakerOf(graph_.outputs[0].name, "Transpose");
    if (last == nullptr) return std::nullopt;
    const OnnxAttribute* order = last->Find("perm");
    if (order == nullptr || order->integers != std::vector<int64_t>{0, 2, 1}) return std::nullopt;
    const OnnxNode* scales = tensors_.MakerOf(last->inputs[0], "Concat");
    if (!Joins(scales, std::size(kYoloxStrides), 2)) return std::nullopt;
    for (const std::string& scale : scales->inputs) {
      const OnnxNode* flat = tensors_.MakerOf(scale, "Reshape");
      if (flat == nullptr || !IsScale(tensors_.MakerOf(flat->inputs[0], "Concat"), classes)) {
        return std::nullopt;
      }
    }
    return last->inputs[0];
  }

  const OnnxValueInfo* Input() const {
    const OnnxValueInfo* input = FloatInputOf(graph_, tensors_);
    const bool alone =
        std::all_of(graph_.inputs.begin(), graph_.inputs.end(), [&](const OnnxValueInfo& other) {
          return &other == input || tensors_.ConstantOf(other.name) != nullptr;
        });
    return alone ? input : nullptr;
  }

 private:
  static bool Joins(const OnnxNode* node, size_t tensors, int64_t axis) {
    return node != nullptr && node->inputs.size() == tensors && node->Integer("axis", -1) == axis;
  }

  bool IsScale(const OnnxNode* joined, int64_t classes) const {
    if (!Joins(joined, 3, 1)) return false;
    const OnnxNode* object = tensors_.MakerOf(joined->inputs[1], "Sigmoid");
    const OnnxNode* scores = tensors_.MakerOf(joined->inputs[2], "Sigmoid");
    return object != nullptr && scores != nullptr && ChannelsOf(joined->inputs[0]) == 4 &&
           ChannelsOf(object->inputs[0]) == 1 && ChannelsOf(scores->inputs[0]) == classes;
  }

  // Channels of the output of a convolution; 0 for another tensor.
  int64_t ChannelsOf(const std::string& tensor) const {
    const OnnxNode* convolution = tensors_.MakerOf(tensor, "Conv");
    if (convolution == nullptr || convolution->inputs.size() < 2) return 0;
    const OnnxTensor* weights = tensors_.ConstantOf(convolution->inputs[1]);
    return weights != nullptr && weights->type == kFloat && !weights->dims.empty()
               ? weights->dims[0]
               : 0;
  }

  const OnnxGraph& graph_;
  const GraphTensors tensors_;
};

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

// Columns and rows of all cells, [1, 2, cells], and their strides, [1, 1, cells].
struct YoloxCells {
  std::vector<float> places;
  std::vector<float> strides;
};

YoloxCells CellsAt(int width, int height) {
  YoloxCells cells;
  std::vector<float> rows;
  for (const int stride : kYoloxStrides) {
    for (int y = 0; y < height / stride; ++y) {
      for (int x = 0; x < width / stride; ++x) {
        cells.places.push_back(static_cast<float>(x));
        rows.push_back(static_cast<float>(y));
        cells.strides.push_back(static_cast<float>(stride));
      }
    }
  }
  cells.places.insert(cells.places.end(), rows.begin(), rows.end());
  return cells;
}

// Nodes that make the output of the numbers of the cells.
void AddBoxes(const std::string& numbers, const ModelInfo& info, OnnxGraph* graph) {
  GraphExtension extension(graph);
  const YoloxCells cells = CellsAt(info.input_width, info.input_height);
  const auto count = static_cast<int64_t>(cells.strides.size());
  const auto classes = static_cast<int64_t>(info.names.size());
  const auto rows = [&](int64_t from, int64_t to, std::string_view name) {
    return extension.Part(numbers, 1, from, to, name);
  };
  const std::string strides = extension.Constant("yolox.strides", {1, 1, count}, cells.strides);
  const std::string places = extension.Constant("yolox.places", {1, 2, count}, cells.places);
  const std::string moved =
      extension.Add("Add", {rows(0, 2, "yolox.offsets"), places}, "yolox.moved");
  const std::string centres = extension.Add("Mul", {moved, strides}, "yolox.centres");
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
  const YoloxEnd end(graph);
  const auto numbers = end.Find(static_cast<int64_t>(info.names.size()));
  const OnnxValueInfo* input = end.Input();
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
