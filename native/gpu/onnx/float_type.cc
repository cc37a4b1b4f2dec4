#include "native/gpu/onnx/float_type.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "native/gpu/onnx/graph_constants.h"
#include "native/gpu/onnx/tensor_names.h"
#include "native/model/half_float.h"

namespace lattice {
namespace {

// Inputs that are FLOAT in every opset.
bool IsFloatPort(const OnnxNode& node, size_t input) {
  return (node.op == "Resize" && (input == 1 || input == 2)) ||
         (node.op == "Upsample" && input == 1);
}

// Whether the output of a node that reads floats has floats. All operators that are not listed make
// the type that they read.
bool MakesFloats(const OnnxNode& node, size_t output) {
  static const std::unordered_set<std::string> kNone = {
      "ArgMax", "ArgMin",      "Equal",   "Greater", "GreaterOrEqual",    "IsInf", "IsNaN",
      "Less",   "LessOrEqual", "NonZero", "Shape",   "NonMaxSuppression", "Size"};
  static const std::unordered_set<std::string> kFirst = {"Dropout", "MaxPool", "TopK"};
  if (node.op == "Cast") return IsFloating(static_cast<int32_t>(node.Integer("to", kNoType)));
  return !kNone.contains(node.op) && (output == 0 || !kFirst.contains(node.op));
}

// The constant in this type, under this name.
Result<OnnxTensor> InType(const OnnxTensor& tensor, const std::string& name, ElementType type) {
  if (tensor.type == type && tensor.name == name) return tensor;
  auto values = ReadFloats(tensor);
  if (!values.ok()) return values.status();
  if (type == kFloat) return WithFloats(tensor, name, *values);
  for (float& value : *values) {
    if (std::isfinite(value)) value = std::clamp(value, -kLargestHalf, kLargestHalf);
  }
  return WithHalves(tensor, name, *values);
}

class FloatTypeSetter {
 public:
  FloatTypeSetter(OnnxModel& model, ElementType type, GraphConstants constants)
      : model_(model), type_(type), constants_(std::move(constants)), names_(model.graph) {
    for (const OnnxValueInfo& output : model.graph.outputs) outputs_.insert(output.name);
  }

  Status Run() {
    Status status = SetInputs();
    std::vector<OnnxNode> nodes = std::exchange(model_.graph.nodes, {});
    for (size_t i = 0; status.ok() && i < nodes.size(); ++i) status = Add(std::move(nodes[i]));
    if (!status.ok()) return status;
    DropUnread();
    std::move(written_.begin(), written_.end(), std::back_inserter(model_.graph.initializers));
    for (OnnxValueInfo& output : model_.graph.outputs) {
      if (IsFloating(output.type)) output.SetType(type_);
    }
    model_.graph.value_info.clear();
    return {};
  }

 private:
  // Floating constants are written in the types that are read; others may have lost their readers.
  void DropUnread() {
    std::unordered_set<std::string> read;
    for (const OnnxNode& node : model_.graph.nodes) {
      read.insert(node.inputs.begin(), node.inputs.end());
    }
    std::erase_if(model_.graph.initializers, [&](const OnnxTensor& tensor) {
      return IsFloating(tensor.type) || !read.contains(tensor.name);
    });
  }

  Status SetInputs() {
    // Initializers listed as inputs were overridable defaults.
    std::erase_if(model_.graph.inputs,
                  [&](const OnnxValueInfo& input) { return constants_.contains(input.name); });
    for (OnnxValueInfo& input : model_.graph.inputs) {
      if (!IsFloating(input.type)) {
        return InvalidModel("The input '" + input.name.substr(0, 80) + "' is of type " +
                            TypeName(input.type) + "; FLOAT or FLOAT16 is needed.");
      }
      input.SetType(kFloat16);
      made_[input.name] = kFloat16;
    }
    return {};
  }

  Status Add(OnnxNode node) {
    for (std::string& input : node.inputs) {
      if (const auto same = same_as_.find(input); same != same_as_.end()) {
        input = same->second;
        node.changed = true;
      }
    }
    if (node.op == "Constant" && node.outputs.size() == 1 && IsFloatingConstant(node.outputs[0])) {
      return {};  // written where it is read
    }
    const bool reads_floats = std::any_of(node.inputs.begin(), node.inputs.end(),
                                          [&](const auto& input) { return IsFloat(input); });
    if (node.op == "Cast" && reads_floats && MakesFloats(node, 0) && node.outputs.size() == 1 &&
        !outputs_.contains(node.outputs[0])) {
      same_as_[node.outputs[0]] = node.inputs[0];
      return {};
    }
    const ElementType type = TypeFor(node);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Status read = Read(node, i, IsFloatPort(node, i) ? kFloat : type);
      if (!read.ok()) return read;
    }
    return Write(std::move(node), reads_floats, type);
  }

  // The type in which a node computes.
  ElementType TypeFor(const OnnxNode& node) const {
    const bool any = std::any_of(node.inputs.begin(), node.inputs.end(), [&](const auto& input) {
      return made_.contains(input) && !sizes_.contains(input);
    });
    return any ? type_ : kFloat;
  }

  bool IsFloatingConstant(const std::string& name) const {
    const auto constant = constants_.find(name);
    return constant != constants_.end() && IsFloating(constant->second.type);
  }
  bool IsFloat(const std::string& name) const {
    return made_.contains(name) || IsFloatingConstant(name);
  }

  // Makes the node read a floating input in this type.
  Status Read(OnnxNode& node, size_t input, ElementType type) {
    std::string& name = node.inputs[input];
    if (!IsFloat(name)) return {};
    const auto made = made_.find(name);
    if (made != made_.end() && made->second == type) return {};
    auto [known, is_new] = read_as_.try_emplace({name, type});
    if (is_new) {
      const bool own_name = made == made_.end() && type == type_;
      known->second = own_name ? name : names_.Free(name + Suffix(type));
      if (made == made_.end()) {
        auto tensor = InType(constants_.at(name), known->second, type);
        if (!tensor.ok()) return tensor.status();
        written_.push_back(*std::move(tensor));
      } else {
        AddCast(name, known->second, type);
      }
    }
    if (name != known->second) {
      name = known->second;
      node.changed = true;
    }
    return {};
  }

  Status Write(OnnxNode node, bool reads_floats, ElementType type) {
    if (node.op == "ConstantOfShape") return WriteFilled(std::move(node));
    const bool casts = node.op == "Cast" && MakesFloats(node, 0);
    if (casts && node.Integer("to", kNoType) != type) node.Set(IntegerAttribute("to", type));
    std::vector<std::pair<std::string, std::string>> renamed;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const bool floats = (reads_floats || casts) && MakesFloats(node, i);
      std::string& name = node.outputs[i];
      if (name.empty() || !floats) continue;
      made_[name] = type;
      if (type != type_) sizes_.insert(name);
      if (type == type_ || !outputs_.contains(name)) continue;
      renamed.emplace_back(names_.Free(name + Suffix(type)), name);
      made_[name] = type_;
      name = renamed.back().first;
      node.changed = true;
    }
    model_.graph.nodes.push_back(std::move(node));
    for (const auto& [from, to] : renamed) AddCast(from, to, type_);
    return {};
  }

  // Its value's type is its own.
  Status WriteFilled(OnnxNode node) {
    int32_t type = kFloat;
    if (const OnnxAttribute* value = node.Find("value"); value != nullptr) {
      const auto tensor = ReadTensor(value->tensor);
      if (!tensor.ok()) return tensor.status();
      type = tensor->type;
    }
    if (IsFloating(type) && !node.outputs.empty()) {
      made_[node.outputs[0]] = static_cast<ElementType>(type);
      sizes_.insert(node.outputs[0]);
    }
    model_.graph.nodes.push_back(std::move(node));
    return {};
  }

  void AddCast(const std::string& from, const std::string& to, ElementType type) {
    OnnxNode cast;
    cast.op = "Cast";
    cast.inputs = {from};
    cast.outputs = {to};
    cast.Set(IntegerAttribute("to", type));
    model_.graph.nodes.push_back(std::move(cast));
  }

  static const char* Suffix(ElementType type) { return type == kFloat ? "_float32" : "_float16"; }

  OnnxModel& model_;
  const ElementType type_;
  const GraphConstants constants_;
  TensorNames names_;
  std::unordered_set<std::string> outputs_;
  std::unordered_map<std::string, ElementType> made_;     // floats that are no constants
  std::unordered_set<std::string> sizes_;                 // those of integers and constants only
  std::unordered_map<std::string, std::string> same_as_;  // what Casts between floats made
  std::map<std::pair<std::string, ElementType>, std::string> read_as_;
  std::vector<OnnxTensor> written_;  // constants in the types that are read
};

}  // namespace

Status SetFloatType(OnnxModel& model, ElementType type) {
  auto constants = CollectConstants(model);
  if (!constants.ok()) return constants.status();
  return FloatTypeSetter(model, type, *std::move(constants)).Run();
}

}  // namespace lattice
