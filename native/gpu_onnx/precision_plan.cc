#include "native/gpu_onnx/precision_plan.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "native/gpu_onnx/op_typing.h"
#include "native/onnx/half_float.h"

namespace lattice {
namespace {

using NodeByOutput = std::unordered_map<std::string, size_t>;

NodeByOutput Makers(const OnnxGraph& graph) {
  NodeByOutput makers;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::string& output : graph.nodes[i].outputs) makers.emplace(output, i);
  }
  return makers;
}

// 0 where the weights are computed by more than a dequantisation.
int64_t OutputChannels(const OnnxGraph& graph, const NodeByOutput& makers,
                       const GraphConstants& constants, const OnnxNode& conv) {
  std::string weights = conv.inputs.size() > 1 ? conv.inputs[1] : "";
  for (size_t step = 0; step < 3; ++step) {
    const auto constant = constants.find(weights);
    if (constant != constants.end()) {
      return constant->second.dims.empty() ? 0 : constant->second.dims[0];
    }
    const auto maker = makers.find(weights);
    if (maker == makers.end()) return 0;
    const OnnxNode& node = graph.nodes[maker->second];
    if (node.op != "DequantizeLinear" && node.op != "QuantizeLinear") return 0;
    weights = node.inputs[0];
  }
  return 0;
}

// What gives no values on, only sizes.
bool ReadsSizesOnly(const OnnxNode& node) { return node.op == "Shape" || node.op == "Size"; }

std::vector<bool> BoxDecode(const OnnxGraph& graph, const GraphConstants& constants) {
  const NodeByOutput makers = Makers(graph);
  std::vector<bool> inside(graph.nodes.size(), false);
  std::vector<std::string> waiting;
  for (const OnnxValueInfo& output : graph.outputs) waiting.push_back(output.name);
  while (!waiting.empty()) {
    const auto maker = makers.find(waiting.back());
    waiting.pop_back();
    if (maker == makers.end() || inside[maker->second]) continue;
    const OnnxNode& node = graph.nodes[maker->second];
    if (node.op == "ConvTranspose") continue;
    if (node.op == "Conv" && OutputChannels(graph, makers, constants, node) != 1) continue;
    inside[maker->second] = true;
    if (ReadsSizesOnly(node)) continue;
    waiting.insert(waiting.end(), node.inputs.begin(), node.inputs.end());
  }
  return inside;
}

// Nodes that read sizes, directly or through others, and no pixel.
std::vector<bool> SizeArithmetic(const OnnxGraph& graph, const GraphConstants& constants) {
  std::unordered_set<std::string> pixels;
  std::unordered_set<std::string> sizes;
  for (const OnnxValueInfo& input : graph.inputs) {
    if (!constants.contains(input.name)) pixels.insert(input.name);
  }
  const auto any = [](const OnnxNode& node, const std::unordered_set<std::string>& names) {
    return std::any_of(node.inputs.begin(), node.inputs.end(),
                       [&](const std::string& input) { return names.contains(input); });
  };
  std::vector<bool> found(graph.nodes.size(), false);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const OnnxNode& node = graph.nodes[i];
    const bool from_pixels = any(node, pixels) && !ReadsSizesOnly(node);
    const bool from_sizes = ReadsSizesOnly(node) || any(node, sizes);
    found[i] = from_sizes && !from_pixels;
    if (from_pixels) pixels.insert(node.outputs.begin(), node.outputs.end());
    if (found[i]) sizes.insert(node.outputs.begin(), node.outputs.end());
  }
  return found;
}

bool FitsHalf(const std::vector<float>& values) {
  bool any = false;
  bool any_left = false;
  for (const float value : values) {
    if (std::isfinite(value) && std::abs(value) > kLargestHalf) return false;
    any = any || value != 0;
    any_left = any_left || (ToHalfBits(value) & 0x7fff) != 0;
  }
  return any_left || !any;
}

// TensorRT refuses a scale of zero, also of one channel only, so none may be rounded to it.
bool ScalesFitHalf(const std::vector<float>& values) {
  return FitsHalf(values) && std::none_of(values.begin(), values.end(), [](float value) {
           return value != 0 && (ToHalfBits(value) & 0x7fff) == 0;
         });
}

bool IsScale(const OnnxNode& node, size_t input) {
  return input == 1 && (node.op == "QuantizeLinear" || node.op == "DequantizeLinear");
}

// Remembers what it has read: weights may be large and shared.
class HalfFit {
 public:
  explicit HalfFit(const GraphConstants& constants) : constants_(constants) {}

  // True for an input that is no floating constant.
  Result<bool> Of(const OnnxNode& node, size_t input) {
    const std::string& name = node.inputs[input];
    const auto constant = constants_.find(name);
    if (constant == constants_.end() || !IsFloating(constant->second.type)) return true;
    const bool scale = IsScale(node, input);
    auto& known = scale ? known_scales_ : known_;
    if (const auto found = known.find(name); found != known.end()) return bool{found->second};
    const auto values = ReadFloats(constant->second);
    if (!values.ok()) return values.status();
    return bool{known[name] = scale ? ScalesFitHalf(*values) : FitsHalf(*values)};
  }

 private:
  const GraphConstants& constants_;
  std::unordered_map<std::string, bool> known_;
  std::unordered_map<std::string, bool> known_scales_;
};

Result<bool> ConstantsFit(const OnnxNode& node, const OpTyping& typing, HalfFit& fit) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (typing.input(i) != Port::kData) continue;
    const auto fits = fit.Of(node, i);
    if (!fits.ok() || !*fits) return fits;
  }
  if (node.op != "ConstantOfShape" || node.Find("value") == nullptr) return true;
  const auto tensor = ReadTensor(node.Find("value")->tensor);
  if (!tensor.ok()) return tensor.status();
  if (!IsFloating(tensor->type)) return true;
  const auto values = ReadFloats(*tensor);
  if (!values.ok()) return values.status();
  return FitsHalf(*values);
}

}  // namespace

Result<std::vector<ElementType>> PlanPrecisions(const OnnxModel& model,
                                                const GraphConstants& constants) {
  const OnnxGraph& graph = model.graph;
  const std::vector<bool> decode = BoxDecode(graph, constants);
  const std::vector<bool> sizes = SizeArithmetic(graph, constants);
  std::vector<ElementType> plan(graph.nodes.size(), kFloat16);
  HalfFit fit(constants);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const OpTyping* typing = FindOpTyping(graph.nodes[i].op);
    if (decode[i] || sizes[i] || typing == nullptr || typing->half_since > model.opset) {
      plan[i] = kFloat;
      continue;
    }
    const auto fits = ConstantsFit(graph.nodes[i], *typing, fit);
    if (!fits.ok()) return fits.status();
    if (!*fits) plan[i] = kFloat;
  }
  return plan;
}

}  // namespace lattice
