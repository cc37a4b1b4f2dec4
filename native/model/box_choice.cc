#include "native/model/box_choice.h"

#include <algorithm>
#include <string_view>

#include "native/model/onnx_fields.h"

namespace lattice {
namespace {

bool Chooses(std::string_view op) { return op == "TopK" || op == "NonMaxSuppression"; }

bool NodeChooses(ByteView node, int nested);

bool GraphChooses(ByteView graph, int nested) {
  WireReader reader(graph);
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field || nested > onnx::kMostNested) return false;
    if (field->number == onnx::kGraphNode && NodeChooses(field->bytes, nested + 1)) return true;
  }
  return false;
}

bool AttributeChooses(ByteView attribute, int nested) {
  WireReader reader(attribute);
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field) return false;
    const bool graph =
        field->number == onnx::kAttributeGraph || field->number == onnx::kAttributeGraphs;
    if (graph && GraphChooses(field->bytes, nested)) return true;
  }
  return false;
}

bool NodeChooses(ByteView node, int nested) {
  WireReader reader(node);
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field) return false;
    if (field->number == onnx::kNodeOp && Chooses(TextOf(field->bytes))) return true;
    if (field->number == onnx::kNodeAttribute && AttributeChooses(field->bytes, nested))
      return true;
  }
  return false;
}

}  // namespace

bool ChoosesBoxes(const OnnxGraph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const OnnxNode& node) { return NodeChooses(node.message.bytes(), 0); });
}

}  // namespace lattice
