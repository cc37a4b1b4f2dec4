#include "native/gpu_onnx/signed_quantization.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "native/gpu_onnx/graph_constants.h"
#include "native/gpu_onnx/tensor_names.h"

namespace lattice {
namespace {

constexpr int64_t kHalfScalesIrVersion = 9;
constexpr int64_t kMiddle = 128;

bool Quantizes(const OnnxNode& node) { return node.op == "QuantizeLinear" && node.domain.empty(); }
bool Dequantizes(const OnnxNode& node) {
  return node.op == "DequantizeLinear" && node.domain.empty();
}

class Signer {
 public:
  Signer(OnnxModel& model, GraphConstants constants)
      : model_(model), constants_(std::move(constants)), names_(model.graph) {}

  Status Run();

 private:
  Status CheckReaders();
  int32_t TypeOf(const std::string& name) const;
  Status Sign(OnnxNode& node);
  Status CheckZeroPoints(const OnnxNode& node, int32_t type) const;
  Status FoldBias(const OnnxNode& node);
  Status UseInt8(OnnxNode& node, size_t input);
  bool MayRaise() const;

  OnnxModel& model_;
  const GraphConstants constants_;
  TensorNames names_;
  std::unordered_map<std::string, int32_t> quantized_;       // types of what QuantizeLinear makes
  std::unordered_map<std::string, std::string> int8_names_;  // by the uint8 constant's name
};

std::string InputName(const OnnxNode& node, size_t index) {
  return index < node.inputs.size() ? node.inputs[index] : "";
}

// Of a constant, or of what a QuantizeLinear makes.
int32_t Signer::TypeOf(const std::string& name) const {
  if (const auto made = quantized_.find(name); made != quantized_.end()) return made->second;
  const auto constant = constants_.find(name);
  return constant == constants_.end() ? int32_t{kNoType} : constant->second.type;
}

// What QuantizeLinear makes may go to DequantizeLinear only: other readers would see the shift.
Status Signer::CheckReaders() {
  for (const OnnxNode& node : model_.graph.nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const bool wanted = Dequantizes(node) && i == 0;
      if (wanted && constants_.contains(node.inputs[i])) continue;
      if (wanted == quantized_.contains(node.inputs[i])) continue;
      return InvalidModel(NodeText(node) + " reads '" + node.inputs[i].substr(0, 80) +
                          "'; quantised tensors must go from a QuantizeLinear or a constant "
                          "straight to a DequantizeLinear.");
    }
    if (!Quantizes(node)) continue;
    const int32_t point = TypeOf(InputName(node, 2));
    const auto without_point = static_cast<int32_t>(node.Integer("output_dtype", kUint8));
    for (const std::string& output : node.outputs) {
      quantized_[output] = point != kNoType ? point : without_point;
    }
  }
  for (const OnnxValueInfo& output : model_.graph.outputs) {
    if (quantized_.contains(output.name)) return InvalidModel("The model's output is quantised.");
  }
  return {};
}

Status Signer::CheckZeroPoints(const OnnxNode& node, int32_t type) const {
  const int64_t needed = type == kUint8 ? kMiddle : 0;
  std::vector<int64_t> points = {0};
  const std::string name = InputName(node, 2);
  if (!name.empty()) {
    const auto constant = constants_.find(name);
    if (constant == constants_.end()) {
      return InvalidModel(NodeText(node) + " computes its zero point; a constant is needed.");
    }
    auto read = ReadIntegers(constant->second);
    if (!read.ok()) return read.status();
    points = *std::move(read);
  }
  const auto odd =
      std::find_if(points.begin(), points.end(), [&](int64_t point) { return point != needed; });
  if (odd == points.end()) return {};
  return InvalidModel(NodeText(node) + " has the zero point " + std::to_string(*odd) + " of type " +
                      TypeName(type) +
                      "; TensorRT takes symmetric quantisation only: int8 about 0, or uint8 about "
                      "128, which is the same.");
}

// Adds the FP32 bias under the name of the node's output; the node is to be removed.
Status Signer::FoldBias(const OnnxNode& node) {
  const auto numbers = constants_.find(InputName(node, 0));
  const auto scale = constants_.find(InputName(node, 1));
  if (numbers == constants_.end() || scale == constants_.end()) {
    return InvalidModel(NodeText(node) +
                        " dequantises computed INT32 numbers; TensorRT takes 8 bits.");
  }
  const auto integers = ReadIntegers(numbers->second);
  if (!integers.ok()) return integers.status();
  const auto scales = ReadFloats(scale->second);
  if (!scales.ok()) return scales.status();
  if (scales->size() != 1 &&
      (scales->size() != integers->size() || numbers->second.dims.size() != 1)) {
    return InvalidModel(NodeText(node) + " has " + std::to_string(scales->size()) +
                        " scales for INT32 numbers of another shape; a bias has one each.");
  }
  std::vector<float> values(integers->size());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>((*integers)[i]) * (*scales)[scales->size() == 1 ? 0 : i];
  }
  model_.graph.initializers.push_back(WithFloats(numbers->second, node.outputs[0], values));
  return {};
}

// Replaces a uint8 constant of the node by one of int8, less 128.
Status Signer::UseInt8(OnnxNode& node, size_t input) {
  std::string& name = node.inputs[input];
  auto [known, added] = int8_names_.try_emplace(name);
  if (added) {
    const OnnxTensor& old = constants_.at(name);
    auto values = ReadIntegers(old);
    if (!values.ok()) return values.status();
    for (int64_t& value : *values) value -= kMiddle;
    known->second = names_.Free(name + "_int8");
    model_.graph.initializers.push_back(WithInt8s(old, known->second, *values));
  }
  name = known->second;
  node.changed = true;
  return {};
}

Status Signer::Sign(OnnxNode& node) {
  const bool made_here = Quantizes(node);
  const int32_t type = TypeOf(made_here ? node.outputs[0] : node.inputs[0]);
  const bool bias = !made_here && type == kInt32;
  if (type != kInt8 && type != kUint8 && !bias) {
    return InvalidModel(NodeText(node) + " quantises to " + TypeName(type) +
                        "; int8 about 0 or uint8 about 128 is needed.");
  }
  const std::string point = InputName(node, 2);
  if (!point.empty() && TypeOf(point) != type) {
    return InvalidModel(NodeText(node) + " has a zero point of another type than its numbers.");
  }
  const int64_t own_type = node.Integer("output_dtype", kNoType);
  if (own_type != kNoType && (!made_here || own_type != kInt8)) {
    return InvalidModel(NodeText(node) + " names an output type of its own; INT8 is needed.");
  }
  const Status checked = CheckZeroPoints(node, type);
  if (!checked.ok()) return checked;
  if (bias) return FoldBias(node);
  if (type == kInt8) return {};
  if (!made_here && constants_.contains(node.inputs[0])) {
    const Status numbers = UseInt8(node, 0);
    if (!numbers.ok()) return numbers;
  }
  return UseInt8(node, 2);  // it is there: without one, a uint8 zero point counts as 0
}

// Whether every operator of the graph means the same in opset 19.
bool Signer::MayRaise() const {
  if (model_.opset < 13 || model_.opset >= kHalfScalesOpset) return false;
  return std::all_of(model_.graph.nodes.begin(), model_.graph.nodes.end(),
                     [](const OnnxNode& node) {
                       // Before 18 a Split without sizes split evenly by itself, and axes were an
                       // attribute.
                       if (node.op == "Split") return node.inputs.size() > 1;
                       return node.op != "GroupNormalization" &&
                              (!node.op.starts_with("Reduce") || node.op == "ReduceSum");
                     });
}

Status Signer::Run() {
  const Status readers = CheckReaders();
  if (!readers.ok()) return readers;
  std::vector<OnnxNode> kept;
  for (OnnxNode& node : model_.graph.nodes) {
    if (Quantizes(node) || Dequantizes(node)) {
      if (InputName(node, 0).empty() || InputName(node, 1).empty() || node.outputs.size() != 1) {
        return InvalidModel(NodeText(node) + " lacks inputs or outputs.");
      }
      const bool bias = Dequantizes(node) && TypeOf(node.inputs[0]) == kInt32;
      const Status changed = Sign(node);
      if (!changed.ok()) return changed;
      if (bias) continue;
    }
    kept.push_back(std::move(node));
  }
  model_.graph.nodes = std::move(kept);
  if (MayRaise()) model_.RaiseOpset(kHalfScalesOpset, kHalfScalesIrVersion);
  return {};
}

}  // namespace

Status MakeQuantizationSigned(OnnxModel& model) {
  const auto& nodes = model.graph.nodes;
  if (std::none_of(nodes.begin(), nodes.end(),
                   [](const OnnxNode& node) { return Quantizes(node) || Dequantizes(node); })) {
    return {};
  }
  auto constants = CollectConstants(model);
  if (!constants.ok()) return constants.status();
  return Signer(model, *std::move(constants)).Run();
}

}  // namespace lattice
