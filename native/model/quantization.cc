#include "native/model/quantization.h"

#include <algorithm>

#include "native/model/graph_tensors.h"

namespace lattice {
namespace {

constexpr float kLevelStep = 1.0f / 255.0f;

// The 8-bit type that a QuantizeLinear node rounds to.
Quantization RoundedTo(const OnnxNode& node, const GraphTensors& tensors) {
  // A tensor without a zero point is unsigned.
  const OnnxTensor* zero = node.inputs.size() < 3 ? nullptr : tensors.ConstantOf(node.inputs[2]);
  return zero != nullptr && zero->type == kInt8 ? Quantization::kSigned : Quantization::kUnsigned;
}

bool RoundsToLevels(const OnnxNode& node, const GraphTensors& tensors) {
  if (!Is(&node, "QuantizeLinear") || node.inputs.size() < 2) return false;
  const OnnxTensor* scale = tensors.ConstantOf(node.inputs[1]);
  if (scale == nullptr || RoundedTo(node, tensors) != Quantization::kUnsigned) return false;
  const auto steps = ReadFloats(*scale);
  return steps.ok() && steps->size() == 1 && steps->front() == kLevelStep;
}

}  // namespace

Quantization QuantizationOf(const OnnxGraph& graph) {
  const GraphTensors tensors(graph);
  Quantization found = Quantization::kNone;
  for (const OnnxNode& node : graph.nodes) {
    // In any domain: onnxruntime's own operators have the name too.
    if (node.op != "QuantizeLinear" || node.inputs.empty()) continue;
    if (tensors.ConstantOf(node.inputs[0]) != nullptr) continue;
    found = std::max(found, RoundedTo(node, tensors));
  }
  return found;
}

bool RoundsInputToBytes(const OnnxGraph& graph) {
  const GraphTensors tensors(graph);
  const OnnxValueInfo* input = FloatInputOf(graph, tensors);
  if (input == nullptr) return false;
  bool rounds = false;
  for (const OnnxNode& node : graph.nodes) {
    if (std::find(node.inputs.begin(), node.inputs.end(), input->name) == node.inputs.end()) {
      continue;
    }
    if (!RoundsToLevels(node, tensors)) return false;
    rounds = true;
  }
  return rounds;
}

}  // namespace lattice
