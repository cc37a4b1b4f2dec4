#include "native/model/graph_tensors.h"

namespace lattice {
namespace {

template <typename Value>
const Value* Find(const std::unordered_map<std::string_view, const Value*>& map,
                  std::string_view name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : found->second;
}

}  // namespace

bool Is(const OnnxNode* node, std::string_view op) {
  return node != nullptr && node->domain.empty() && node->op == op && !node->inputs.empty();
}

GraphTensors::GraphTensors(const OnnxGraph& graph) {
  for (const OnnxNode& node : graph.nodes) {
    for (const std::string& output : node.outputs) {
      if (!output.empty()) makers_.emplace(output, &node);
    }
  }
  for (const OnnxTensor& tensor : graph.initializers) constants_.emplace(tensor.name, &tensor);
  for (const OnnxValueInfo& info : graph.value_info) types_.emplace(info.name, info.type);
}

const OnnxNode* GraphTensors::MakerOf(std::string_view tensor) const {
  return Find(makers_, tensor);
}

const OnnxNode* GraphTensors::MakerOf(std::string_view tensor, std::string_view op) const {
  const OnnxNode* maker = MakerOf(tensor);
  return Is(maker, op) ? maker : nullptr;
}

const OnnxTensor* GraphTensors::ConstantOf(std::string_view tensor) const {
  return Find(constants_, tensor);
}

int32_t GraphTensors::TypeIn(std::string_view tensor) const {
  const auto found = types_.find(tensor);
  return found == types_.end() ? kNoType : found->second;
}

const OnnxValueInfo* FloatInputOf(const OnnxGraph& graph, const GraphTensors& tensors) {
  const OnnxValueInfo* found = nullptr;
  for (const OnnxValueInfo& input : graph.inputs) {
    if (input.type != kFloat || tensors.ConstantOf(input.name) != nullptr) continue;
    if (found != nullptr) return nullptr;
    found = &input;
  }
  return found;
}

}  // namespace lattice
