#include "native/model/yolox.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "native/model/model_description.h"
#include "native/model/onnx_fields.h"
#include "native/model/onnx_reader.h"

namespace lattice {
namespace {

constexpr int kYoloxStrides[] = {8, 16, 32};
constexpr float kLargestPixel = 255;
// The first whose Slice takes its ends as inputs.
constexpr int64_t kOldestSliceOpset = 10;

// Walks back from the end of a graph. A null node is none.
class YoloxEnd {
 public:
  explicit YoloxEnd(const OnnxGraph& graph) : graph_(graph) {}

  // The tensor [batch, 5 + classes, cells] that the last node transposes; nothing for another end.
  std::optional<std::string> Find(int64_t classes) const {
    if (graph_.outputs.size() != 1) return std::nullopt;
    const OnnxNode* last = MakerOf(graph_.outputs[0].name, "Transpose");
    if (last == nullptr) return std::nullopt;
    const OnnxAttribute* order = last->Find("perm");
    if (order == nullptr || order->integers != std::vector<int64_t>{0, 2, 1}) return std::nullopt;
    const OnnxNode* scales = MakerOf(last->inputs[0], "Concat");
    if (!Joins(scales, std::size(kYoloxStrides), 2)) return std::nullopt;
    for (const std::string& scale : scales->inputs) {
      const OnnxNode* flat = MakerOf(scale, "Reshape");
      if (flat == nullptr || !IsScale(MakerOf(flat->inputs[0], "Concat"), classes)) {
        return std::nullopt;
      }
    }
    return last->inputs[0];
  }

 private:
  const OnnxNode* MakerOf(std::string_view tensor, std::string_view op) const {
    for (const OnnxNode& node : graph_.nodes) {
      if (std::find(node.outputs.begin(), node.outputs.end(), tensor) == node.outputs.end())
        continue;
      return node.op == op && node.domain.empty() && !node.inputs.empty() ? &node : nullptr;
    }
    return nullptr;
  }

  static bool Joins(const OnnxNode* node, size_t tensors, int64_t axis) {
    return node != nullptr && node->inputs.size() == tensors && node->Integer("axis", -1) == axis;
  }

  bool IsScale(const OnnxNode* joined, int64_t classes) const {
    if (!Joins(joined, 3, 1)) return false;
    const OnnxNode* object = MakerOf(joined->inputs[1], "Sigmoid");
    const OnnxNode* scores = MakerOf(joined->inputs[2], "Sigmoid");
    return object != nullptr && scores != nullptr && ChannelsOf(joined->inputs[0]) == 4 &&
           ChannelsOf(object->inputs[0]) == 1 && ChannelsOf(scores->inputs[0]) == classes;
  }

  // Of what a convolution makes; 0 for another tensor.
  int64_t ChannelsOf(const std::string& tensor) const {
    const OnnxNode* convolution = MakerOf(tensor, "Conv");
    if (convolution == nullptr || convolution->inputs.size() < 2) return 0;
    for (const OnnxTensor& weights : graph_.initializers) {
      if (weights.name != convolution->inputs[1]) continue;
      return weights.type == kFloat && !weights.dims.empty() ? weights.dims[0] : 0;
    }
    return 0;
  }

  const OnnxGraph& graph_;
};

template <typename Value>
OnnxTensor TensorOf(std::string name, int32_t type, std::vector<int64_t> dims,
                    const std::vector<Value>& values) {
  return MakeTensor(std::move(name), type, std::move(dims),
                    {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)});
}

// Adds nodes and constants, whose names no exporter gives.
class YoloxWriter {
 public:
  explicit YoloxWriter(OnnxGraph* graph) : graph_(graph) {}

  std::string Constant(const std::string& name, std::vector<int64_t> dims,
                       const std::vector<float>& values) {
    return Keep(TensorOf(Named(name), kFloat, std::move(dims), values));
  }
  std::string Constant(const std::string& name, const std::vector<int64_t>& values) {
    return Keep(TensorOf(Named(name), kInt64, {static_cast<int64_t>(values.size())}, values));
  }

  OnnxNode Node(const std::string& op, std::vector<std::string> inputs, const std::string& output) {
    OnnxNode node;
    node.op = op;
    node.inputs = std::move(inputs);
    node.outputs = {Named(output)};
    node.name = node.outputs[0];
    node.changed = true;
    return node;
  }

  // A node at the end of the graph; returns its output.
  std::string Add(OnnxNode node) {
    graph_->nodes.push_back(std::move(node));
    return graph_->nodes.back().outputs[0];
  }

  // Of the rows of a tensor [batch, rows, cells].
  std::string Rows(const std::string& tensor, int64_t from, int64_t to, const std::string& name) {
    return Add(Node("Slice",
                    {tensor, Constant(name + ".from", {from}), Constant(name + ".to", {to}),
                     Constant(name + ".axis", std::vector<int64_t>{1})},
                    name));
  }

 private:
  static std::string Named(const std::string& name) { return "lattice.yolox." + name; }

  std::string Keep(OnnxTensor tensor) {
    graph_->initializers.push_back(std::move(tensor));
    return graph_->initializers.back().name;
  }

  OnnxGraph* graph_;
};

// The network gets BGR from 0 to 255.
void TurnPixels(const std::string& input, OnnxGraph* graph) {
  YoloxWriter writer(graph);
  OnnxNode turned = writer.Node(
      "Gather", {input, writer.Constant("blue_first", std::vector<int64_t>{2, 1, 0})}, "bgr");
  turned.Set(IntegerAttribute("axis", 1));
  OnnxNode scaled = writer.Node(
      "Mul", {"lattice.yolox.bgr", writer.Constant("largest", {1}, {kLargestPixel})}, "pixels");
  for (OnnxNode& node : graph->nodes) {
    for (std::string& name : node.inputs) {
      if (name != input) continue;
      name = scaled.outputs[0];
      node.changed = true;
    }
  }
  graph->nodes.insert(graph->nodes.begin(), {std::move(turned), std::move(scaled)});
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
  YoloxWriter writer(graph);
  const YoloxCells cells = CellsAt(info.input_width, info.input_height);
  const auto count = static_cast<int64_t>(cells.strides.size());
  const auto classes = static_cast<int64_t>(info.names.size());
  const std::string strides = writer.Constant("strides", {1, 1, count}, cells.strides);
  const std::string places = writer.Constant("places", {1, 2, count}, cells.places);
  const std::string moved =
      writer.Add(writer.Node("Add", {writer.Rows(numbers, 0, 2, "offsets"), places}, "moved"));
  const std::string centres = writer.Add(writer.Node("Mul", {moved, strides}, "centres"));
  const std::string grown =
      writer.Add(writer.Node("Exp", {writer.Rows(numbers, 2, 4, "logarithms")}, "grown"));
  const std::string sizes = writer.Add(writer.Node("Mul", {grown, strides}, "sizes"));
  const std::string scores = writer.Add(writer.Node(
      "Mul", {writer.Rows(numbers, 4, 5, "object"), writer.Rows(numbers, 5, 5 + classes, "class")},
      "scores"));
  OnnxNode joined = writer.Node("Concat", {centres, sizes, scores}, "rows");
  joined.Set(IntegerAttribute("axis", 1));
  const std::string output = writer.Add(std::move(joined));

  std::string tensor;
  AppendNumber(tensor, onnx::kElementType, kFloat);
  std::string type;
  AppendBytes(type, onnx::kTensorType, tensor);
  std::string message;
  AppendBytes(message, onnx::kValueName, output);
  AppendBytes(message, onnx::kValueType, type);
  OnnxValueInfo& info_of_output = graph->outputs[0];
  info_of_output.name = output;
  info_of_output.message = Message(std::move(message));
}

// The one input that is no constant; null where there are several, or it is not of float32.
const OnnxValueInfo* InputOf(const OnnxGraph& graph) {
  const OnnxValueInfo* found = nullptr;
  for (const OnnxValueInfo& input : graph.inputs) {
    const bool constant =
        std::any_of(graph.initializers.begin(), graph.initializers.end(),
                    [&](const OnnxTensor& tensor) { return tensor.name == input.name; });
    if (constant) continue;
    if (found != nullptr) return nullptr;
    found = &input;
  }
  return found != nullptr && found->type == kFloat ? found : nullptr;
}

}  // namespace

std::string WithYoloxAsRows(std::string file, ModelInfo info) {
  auto model = ReadOnnxModel(BytesOf(file));
  if (!model.ok() || model->opset < kOldestSliceOpset) return file;
  OnnxGraph& graph = model->graph;
  const auto numbers = YoloxEnd(graph).Find(static_cast<int64_t>(info.names.size()));
  const OnnxValueInfo* input = InputOf(graph);
  if (!numbers || input == nullptr || !ResolveInput({input->Shape()}, info).ok()) return file;
  const std::string transposed = graph.outputs[0].name;
  std::erase_if(graph.nodes,
                [&](const OnnxNode& node) { return node.outputs.front() == transposed; });
  TurnPixels(input->name, &graph);
  AddBoxes(*numbers, info, &graph);
  return WriteOnnxModel(*model);
}

}  // namespace lattice
