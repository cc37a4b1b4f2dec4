#include "native/gpu/onnx/graph_constants.h"

#include <utility>
#include <vector>

namespace lattice {
namespace {

constexpr size_t kNameShown = 80;

// The tensor of a Constant node; one without a type where no rule needs it.
Result<OnnxTensor> ConstantOf(const OnnxNode& node) {
  for (const OnnxAttribute& attribute : node.attributes) {
    if (attribute.name == "value") return ReadTensor(attribute.tensor);
    const bool scalar = attribute.name == "value_float";
    if (!scalar && attribute.name != "value_floats") continue;
    OnnxTensor tensor;
    if (!scalar) tensor.dims = {static_cast<int64_t>(attribute.reals.size())};
    return WithFloats(tensor, "", scalar ? std::vector<float>{attribute.real} : attribute.reals);
  }
  return OnnxTensor();
}

}  // namespace

Status InvalidModel(std::string sentence) {
  return {StatusCode::kInvalidModel, std::move(sentence)};
}

std::string NodeText(const OnnxNode& node) {
  return "The node '" + node.name.substr(0, kNameShown) + "' (" + node.op.substr(0, kNameShown) +
         ")";
}

Result<GraphConstants> CollectConstants(const OnnxModel& model) {
  GraphConstants constants;
  for (const OnnxTensor& tensor : model.graph.initializers) constants.emplace(tensor.name, tensor);
  for (const OnnxNode& node : model.graph.nodes) {
    if (node.op != "Constant" || node.outputs.size() != 1) continue;
    auto tensor = ConstantOf(node);
    if (!tensor.ok()) return tensor.status();
    if (tensor->type != kNoType) constants.emplace(node.outputs[0], *std::move(tensor));
  }
  return constants;
}

}  // namespace lattice
