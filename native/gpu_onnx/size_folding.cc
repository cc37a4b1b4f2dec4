#include "native/gpu_onnx/size_folding.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "native/gpu_onnx/tensor_names.h"
#include "native/onnx/onnx_reader.h"

namespace lattice {
namespace {

using Names = std::unordered_set<std::string>;

bool IsOneOf(const OnnxNode& node, std::initializer_list<std::string_view> ops) {
  return node.domain.empty() && std::find(ops.begin(), ops.end(), node.op) != ops.end();
}

bool AsksForASize(const OnnxNode& node) { return IsOneOf(node, {"Shape", "Size"}); }

// Graphs inside attributes read tensors of the graph around them, which is not seen here.
bool HasGraphsInside(const OnnxModel& model) {
  return std::any_of(model.graph.nodes.begin(), model.graph.nodes.end(), [](const OnnxNode& node) {
    return IsOneOf(node, {"If", "Loop", "Scan", "SequenceMap"});
  });
}

class ShapeConstantFolder {
 public:
  ShapeConstantFolder(OnnxModel& model, const KnownTensors& known)
      : graph_(model.graph), known_(known) {
    for (const OnnxValueInfo& output : graph_.outputs) outputs_.insert(output.name);
    for (const OnnxTensor& tensor : graph_.initializers) names_.Take(tensor.name);
    for (const OnnxValueInfo& input : graph_.inputs) names_.Take(input.name);
    for (const OnnxNode& node : graph_.nodes) {
      for (const std::string& output : node.outputs) names_.Take(output);
    }
  }

  void Fold() {
    RemoveKnown();
    for (OnnxNode& node : graph_.nodes) CloseReshape(node);
    const Names read = RemoveUnread();
    for (const std::string& name : folded_) {
      if (read.contains(name)) graph_.initializers.push_back(known_.values.at(name));
    }
  }

 private:
  // Nodes are in order: every node that depends on a size comes behind it.
  void RemoveKnown() {
    Names from_sizes;
    std::vector<OnnxNode> kept;
    for (OnnxNode& node : graph_.nodes) {
      const bool sized = AsksForASize(node) || std::any_of(node.inputs.begin(), node.inputs.end(),
                                                           [&](const std::string& input) {
                                                             return from_sizes.contains(input);
                                                           });
      if (sized) from_sizes.insert(node.outputs.begin(), node.outputs.end());
      if (IsKnown(node, sized)) {
        folded_.insert(folded_.end(), node.outputs.begin(), node.outputs.end());
        continue;
      }
      if (!IsOneOf(node, {"Constant"})) made_.insert(node.outputs.begin(), node.outputs.end());
      kept.push_back(std::move(node));
    }
    graph_.nodes = std::move(kept);
  }

  bool IsKnown(const OnnxNode& node, bool sized) const {
    if (IsOneOf(node, {"Constant"})) return false;
    return std::all_of(node.outputs.begin(), node.outputs.end(), [&](const std::string& output) {
      const auto value = known_.values.find(output);
      return value != known_.values.end() && !outputs_.contains(output) &&
             (sized || !IsFloating(value->second.type));
    });
  }

  void CloseReshape(OnnxNode& node) {
    if (!IsOneOf(node, {"Reshape"}) || node.inputs.size() != 2 || node.outputs.size() != 1) return;
    const auto shape = known_.shapes.find(node.outputs[0]);
    if (!made_.contains(node.inputs[1]) || shape == known_.shapes.end()) return;
    const std::vector<int64_t>& sides = shape->second;
    const auto open = std::count(sides.begin(), sides.end(), -1);
    // A 0 would mean the side of the tensor that is read.
    if (open > 1 || std::count(sides.begin(), sides.end(), 0) != 0) return;
    const std::string name = names_.Free(node.outputs[0] + "_shape");
    graph_.initializers.push_back(
        MakeTensor(name, kInt64, {static_cast<int64_t>(sides.size())},
                   {reinterpret_cast<const char*>(sides.data()), sides.size() * sizeof(int64_t)}));
    node.inputs[1] = name;
    node.changed = true;
  }

  // Returns the names that the remaining nodes read.
  Names RemoveUnread() {
    Names read = outputs_;
    std::vector<OnnxNode> kept;
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
      const bool is_read =
          std::any_of(node->outputs.begin(), node->outputs.end(),
                      [&](const std::string& output) { return read.contains(output); });
      if (!is_read) continue;
      read.insert(node->inputs.begin(), node->inputs.end());
      kept.push_back(std::move(*node));
    }
    std::reverse(kept.begin(), kept.end());
    graph_.nodes = std::move(kept);
    return read;
  }

  OnnxGraph& graph_;
  const KnownTensors& known_;
  Names outputs_;
  TensorNames names_;
  std::vector<std::string> folded_;  // what the removed nodes made
  Names made_;                       // what the others reckon: not constants
};

}  // namespace

bool ReckonsWithSizes(const OnnxModel& model) {
  return std::any_of(model.graph.nodes.begin(), model.graph.nodes.end(), AsksForASize);
}

Result<std::string> FoldSizes(ByteView onnx, const KnownTensors& known) {
  auto model = ReadOnnxModel(onnx);
  if (!model.ok()) return model.status();
  if (HasGraphsInside(*model)) return std::string(TextOf(onnx));
  ShapeConstantFolder(*model, known).Fold();
  return WriteOnnxModel(*model);
}

}  // namespace lattice
