#include "native/gpu_onnx/graph_types.h"

#include <utility>

#include "native/gpu_onnx/op_typing.h"

namespace lattice {
namespace {

constexpr size_t kNameShown = 80;

// Type of a Constant or ConstantOfShape node's output; kNoType where it has none that counts.
Result<int32_t> ValueType(const OnnxNode& node) {
  for (const OnnxAttribute& attribute : node.attributes) {
    if (attribute.name == "value") {
      const auto tensor = ReadTensor(attribute.tensor);
      if (!tensor.ok()) return tensor.status();
      return tensor->type;
    }
    if (attribute.name == "value_float" || attribute.name == "value_floats") {
      return int32_t{kFloat};
    }
    if (attribute.name == "value_int" || attribute.name == "value_ints") return int32_t{kInt64};
  }
  return node.op == "Constant" ? int32_t{kNoType} : int32_t{kFloat};
}

int32_t TypeOf(const GraphTypes& types, const OnnxNode& node, size_t input) {
  if (input >= node.inputs.size() || node.inputs[input].empty()) return kNoType;
  return types.at(node.inputs[input]);
}

int32_t DataType(const GraphTypes& types, const OnnxNode& node, const OpTyping& typing) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (typing.input(i) != Port::kData) continue;
    const int32_t type = TypeOf(types, node, i);
    if (type != kNoType) return type;
  }
  return kNoType;
}

Result<int32_t> OutputType(const GraphTypes& types, const OnnxNode& node, const OpTyping& typing,
                           size_t output) {
  switch (typing.output(output)) {
    case Port::kInt64:
      return int32_t{kInt64};
    case Port::kBool:
      return int32_t{kBool};
    case Port::kTarget:
      return static_cast<int32_t>(node.Integer("to", kNoType));
    case Port::kValue:
      return ValueType(node);
    case Port::kQuantized: {
      const int32_t type = TypeOf(types, node, 2);
      return type != kNoType ? type : static_cast<int32_t>(node.Integer("output_dtype", kUint8));
    }
    default:
      return DataType(types, node, typing);
  }
}

Status AddNode(const OnnxNode& node, GraphTypes& types) {
  const OpTyping* typing = node.domain.empty() ? FindOpTyping(node.op) : nullptr;
  if (typing == nullptr) {
    const std::string domain =
        node.domain.empty() ? "" : " of " + node.domain.substr(0, kNameShown);
    return InvalidModel(NodeText(node) + domain +
                        " is of a kind whose number types are not known here, so the model cannot "
                        "be converted to half precision; an export in FP32, or one with explicit "
                        "QuantizeLinear and DequantizeLinear nodes, is needed.");
  }
  const bool lacks_input =
      !typing->inputs.empty() && (node.inputs.empty() || node.inputs[0].empty());
  if (lacks_input || node.outputs.empty() || node.outputs[0].empty()) {
    return InvalidModel(NodeText(node) + " lacks its first input or output.");
  }
  for (const std::string& input : node.inputs) {
    if (!input.empty() && !types.contains(input)) {
      return InvalidModel(NodeText(node) + " reads '" + input.substr(0, kNameShown) +
                          "', which nothing before it makes.");
    }
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const auto type = OutputType(types, node, *typing, i);
    if (!type.ok()) return type.status();
    if (node.outputs[i].empty()) continue;
    if (*type == kNoType) return InvalidModel(NodeText(node) + " makes no known type.");
    if (!types.emplace(node.outputs[i], *type).second) {
      return InvalidModel("The tensor '" + node.outputs[i].substr(0, kNameShown) +
                          "' is made twice.");
    }
  }
  return {};
}

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

Result<GraphTypes> InferTypes(const OnnxModel& model) {
  GraphTypes types;
  for (const OnnxTensor& tensor : model.graph.initializers) {
    if (tensor.name.empty() || !types.emplace(tensor.name, tensor.type).second) {
      return InvalidModel("The tensor '" + tensor.name.substr(0, kNameShown) + "' is made twice.");
    }
  }
  for (const OnnxValueInfo& input : model.graph.inputs) {
    if (input.type == kNoType) {
      return InvalidModel("The input '" + input.name.substr(0, kNameShown) + "' is no tensor.");
    }
    types.emplace(input.name, input.type);
  }
  for (const OnnxNode& node : model.graph.nodes) {
    const Status added = AddNode(node, types);
    if (!added.ok()) return added;
  }
  return types;
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
