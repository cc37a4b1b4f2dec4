#include "native/model/detection_head.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "native/model/graph_tensors.h"
#include "native/model/onnx_fields.h"

namespace lattice {
namespace {

constexpr size_t kScales = 3;
constexpr int64_t kDflBins = 16;
constexpr int64_t kSides = 4;
// A weight or an output has no more casts and quantisations before it; ends a walk in a circle.
constexpr int kMostSteps = 8;

// A tensor in which the head ends, and its convolution.
struct End {
  const OnnxNode* convolution;
  std::string tensor;
  int64_t channels;
};

// Shape of a convolution's weights, which may be quantised or stored as halves; empty where it is
// not known.
std::vector<int64_t> WeightShape(const GraphTensors& tensors, const OnnxNode& convolution) {
  if (convolution.inputs.size() < 2) return {};
  std::string_view name = convolution.inputs[1];
  for (int step = 0; step < kMostSteps; ++step) {
    if (const OnnxTensor* weights = tensors.ConstantOf(name)) return weights->dims;
    const OnnxNode* maker = tensors.MakerOf(name);
    if (maker == nullptr) return {};
    if (const OnnxAttribute* value = maker->Find("value"); maker->op == "Constant" && value) {
      const auto weights = ReadTensor(value->tensor);
      return weights.ok() ? weights->dims : std::vector<int64_t>{};
    }
    if (!Is(maker, "DequantizeLinear") && !Is(maker, "QuantizeLinear") && !Is(maker, "Cast") &&
        !Is(maker, "Identity")) {
      return {};
    }
    name = maker->inputs[0];
  }
  return {};
}

// The convolution whose numbers the tensor holds, at most quantised and dequantised.
const OnnxNode* ConvolutionOf(const GraphTensors& tensors, std::string_view tensor) {
  const OnnxNode* maker = tensors.MakerOf(tensor);
  for (int step = 0; step < kMostSteps && Is(maker, "DequantizeLinear"); ++step) {
    maker = tensors.MakerOf(maker->inputs[0]);
    if (!Is(maker, "QuantizeLinear")) return nullptr;
    maker = tensors.MakerOf(maker->inputs[0]);
  }
  return Is(maker, "Conv") ? maker : nullptr;
}

// The convolution that weighs a side's bins: it is behind the head, not in it.
bool WeighsBins(const std::vector<int64_t>& weights) {
  return weights == std::vector<int64_t>{1, kDflBins, 1, 1};
}

// The ends in the order in which the inputs of the nodes after them lead there; nullopt where the
// walk does not end in six convolutions.
std::optional<std::vector<End>> FindEnds(const OnnxGraph& graph, const GraphTensors& tensors) {
  std::unordered_set<std::string_view> inputs;
  for (const OnnxValueInfo& input : graph.inputs) {
    if (tensors.ConstantOf(input.name) == nullptr) inputs.insert(input.name);
  }
  std::vector<End> ends;
  std::unordered_set<std::string_view> seen;
  std::vector<std::string_view> waiting = {graph.outputs[0].name};
  while (!waiting.empty()) {
    const std::string_view tensor = waiting.back();
    waiting.pop_back();
    if (!seen.insert(tensor).second) continue;
    if (inputs.contains(tensor)) return std::nullopt;
    if (const OnnxNode* convolution = ConvolutionOf(tensors, tensor)) {
      const std::vector<int64_t> weights = WeightShape(tensors, *convolution);
      if (weights.size() != 4) return std::nullopt;
      if (!WeighsBins(weights)) {
        const bool known = std::any_of(ends.begin(), ends.end(), [&](const End& end) {
          return end.convolution == convolution;
        });
        if (!known) ends.push_back({convolution, std::string(tensor), weights[0]});
        if (ends.size() > 2 * kScales) return std::nullopt;
        continue;
      }
    }
    const OnnxNode* maker = tensors.MakerOf(tensor);
    // A shape says nothing of the numbers, but may be that of a tensor before the head.
    if (maker == nullptr || maker->op == "Shape" || maker->op == "Size") continue;
    waiting.insert(waiting.end(), maker->inputs.rbegin(), maker->inputs.rend());
  }
  if (ends.size() != 2 * kScales) return std::nullopt;
  return ends;
}

// Whether the file joins boxes and classes of a scale first, and then the scales.
bool JoinsPairs(const OnnxGraph& graph, const std::vector<End>& ends) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const OnnxNode& node) {
    const auto reads = [&](const End& end) {
      return std::find(node.inputs.begin(), node.inputs.end(), end.tensor) != node.inputs.end();
    };
    return node.op == "Concat" && reads(ends[0]) && reads(ends[1]);
  });
}

bool HoldsGraph(const OnnxNode& node) {
  for (const OnnxAttribute& attribute : node.attributes) {
    WireReader reader(attribute.message.bytes());
    while (!reader.AtEnd()) {
      const auto field = reader.Next();
      if (!field) break;  // walked before
      if (field->number == onnx::kAttributeGraph || field->number == onnx::kAttributeGraphs) {
        return true;
      }
    }
  }
  return false;
}

// The type of the numbers of a tensor in which a head ends.
int32_t TypeOf(const GraphTensors& tensors, std::string_view tensor) {
  for (int step = 0; step < kMostSteps; ++step) {
    if (const OnnxTensor* constant = tensors.ConstantOf(tensor)) return constant->type;
    const int32_t said = tensors.TypeIn(tensor);
    if (said != kNoType) return said;
    const OnnxNode* maker = tensors.MakerOf(tensor);
    if (Is(maker, "Cast")) return static_cast<int32_t>(maker->Integer("to", kFloat));
    // A convolution has the type of its weights, a dequantised tensor that of its scale.
    const bool by_second = Is(maker, "Conv") || Is(maker, "DequantizeLinear");
    if (!by_second || maker->inputs.size() < 2) break;
    tensor = maker->inputs[1];
  }
  return kFloat;
}

// [?, ?, ?, ?] of that type.
OnnxValueInfo MakeOutput(const std::string& name, int32_t type) {
  std::string shape;
  for (int axis = 0; axis < 4; ++axis) AppendBytes(shape, onnx::kShapeDimension, "");
  std::string tensor;
  AppendNumber(tensor, onnx::kElementType, static_cast<uint64_t>(type));
  AppendBytes(tensor, onnx::kTensorShape, shape);
  std::string value_type;
  AppendBytes(value_type, onnx::kTensorType, tensor);
  OnnxValueInfo output;
  output.name = name;
  output.type = type;
  std::string message;
  AppendBytes(message, onnx::kValueName, name);
  AppendBytes(message, onnx::kValueType, value_type);
  output.message = Message(std::move(message));
  return output;
}

// Names of all tensors that lead to the graph's outputs, these included.
std::unordered_set<std::string> LiveTensors(const OnnxGraph& graph) {
  const GraphTensors tensors(graph);
  std::unordered_set<std::string> live;
  std::vector<std::string_view> waiting;
  for (const OnnxValueInfo& output : graph.outputs) waiting.push_back(output.name);
  while (!waiting.empty()) {
    const std::string_view tensor = waiting.back();
    waiting.pop_back();
    if (!live.emplace(tensor).second) continue;
    const OnnxNode* maker = tensors.MakerOf(tensor);
    if (maker == nullptr) continue;
    waiting.insert(waiting.end(), maker->inputs.begin(), maker->inputs.end());
  }
  return live;
}

void RemoveDeadParts(OnnxGraph* graph) {
  const std::unordered_set<std::string> live = LiveTensors(*graph);
  const auto is_dead = [&](const auto& part) { return !live.contains(part.name); };
  std::erase_if(graph->nodes, [&](const OnnxNode& node) {
    return std::none_of(node.outputs.begin(), node.outputs.end(),
                        [&](const std::string& output) { return live.contains(output); });
  });
  std::unordered_set<std::string> unread;
  for (const OnnxTensor& tensor : graph->initializers) {
    if (is_dead(tensor)) unread.insert(tensor.name);
  }
  std::erase_if(graph->initializers, is_dead);
  std::erase_if(graph->value_info, is_dead);
  // Old files name initializers as inputs too: without its value such a one would be asked for.
  std::erase_if(graph->inputs,
                [&](const OnnxValueInfo& input) { return unread.contains(input.name); });
}

}  // namespace

std::optional<DetectionHead> FindDetectionHead(const OnnxModel& model, int classes) {
  const OnnxGraph& graph = model.graph;
  if (graph.outputs.size() != 1) return std::nullopt;
  // A graph inside a node may read any tensor outside, which no input of the node shows.
  if (std::any_of(graph.nodes.begin(), graph.nodes.end(), HoldsGraph)) return std::nullopt;
  const auto ends = FindEnds(graph, GraphTensors(graph));
  if (!ends) return std::nullopt;

  const auto of_classes = [&](const End& end) { return end.channels == classes; };
  const auto count = std::count_if(ends->begin(), ends->end(), of_classes);
  const bool alike = count == std::ptrdiff_t{2 * kScales};
  if (!alike && count != std::ptrdiff_t{kScales}) return std::nullopt;
  const bool pairs = alike && JoinsPairs(graph, *ends);
  std::vector<const End*> boxes;
  std::vector<const End*> scores;
  for (size_t i = 0; i < ends->size(); ++i) {
    const End& end = (*ends)[i];
    const bool by_place = pairs ? i % 2 == 1 : i >= kScales;
    ((alike ? by_place : of_classes(end)) ? scores : boxes).push_back(&end);
  }
  const int64_t channels = boxes[0]->channels;
  if (channels != kSides * kDflBins && channels != kSides) return std::nullopt;
  DetectionHead head;
  head.bins = static_cast<int>(channels / kSides);
  for (size_t i = 0; i < kScales; ++i) {
    if (boxes[i]->channels != channels) return std::nullopt;
    head.scales.push_back({boxes[i]->tensor, scores[i]->tensor});
  }
  return head;
}

void CutAtHead(OnnxModel* model, const DetectionHead& head) {
  OnnxGraph& graph = model->graph;
  const GraphTensors tensors(graph);
  std::vector<OnnxValueInfo> outputs;
  for (const HeadScale& scale : head.scales) {
    for (const std::string& name : {scale.boxes, scale.classes}) {
      outputs.push_back(MakeOutput(name, TypeOf(tensors, name)));
    }
  }
  graph.outputs = std::move(outputs);
  RemoveDeadParts(&graph);
}

}  // namespace lattice
