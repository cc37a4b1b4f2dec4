#include "native/gpu_onnx/half_rewriter.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "native/gpu_onnx/op_typing.h"
#include "native/gpu_onnx/tensor_names.h"

namespace lattice {
namespace {

// A floating tensor in the graph to be written. A name is empty where nobody reads that type.
struct Value {
  ElementType made = kFloat;  // of a constant: FLOAT if anybody reads that, else FLOAT16
  bool constant = false;
  bool half_read = false;
  bool float_read = false;
  std::string half_name;
  std::string float_name;

  bool read() const { return half_read || float_read; }
};

class HalfRewriter {
 public:
  HalfRewriter(OnnxModel& model, const std::vector<ElementType>& plan, const GraphTypes& types,
               const GraphConstants& constants)
      : model_(model), plan_(plan), types_(types), constants_(constants) {}

  Status Run();

 private:
  void AddValues();
  void CountReaders();
  void ChooseNames();
  Status WriteInitializers();
  Status WriteNodes();
  Status WriteConstantNode(OnnxNode node);
  Status WriteNode(OnnxNode node, ElementType precision);
  void AppendCast(const std::string& name);
  void WriteDescriptions();

  // The type in which a node reads an input; kNoType for one that is taken as it is.
  ElementType Wanted(size_t node, size_t input) const;
  bool IsOutput(const std::string& name) const { return outputs_.contains(name); }

  OnnxModel& model_;
  const std::vector<ElementType>& plan_;
  const GraphTypes& types_;
  const GraphConstants& constants_;
  std::unordered_set<std::string> outputs_;
  std::unordered_map<std::string, Value> values_;     // floating tensors by their old names
  std::unordered_set<std::string> read_;              // other tensors that somebody reads
  std::unordered_map<std::string, int32_t> written_;  // types by new names
  TensorNames tensor_names_;
  TensorNames node_names_;
  std::vector<OnnxNode> nodes_;
};

ElementType HalfRewriter::Wanted(size_t node, size_t input) const {
  const OnnxNode& reader = model_.graph.nodes[node];
  const OpTyping* typing = FindOpTyping(reader.op);
  switch (typing->input(input)) {
    case Port::kData:
      return plan_[node];
    case Port::kFloat:
      return kFloat;
    default:
      // A constant that is taken as it is stays exact.
      return constants_.contains(reader.inputs[input]) ? kFloat : kNoType;
  }
}

void HalfRewriter::AddValues() {
  for (const auto& [name, type] : types_) {
    if (IsFloating(type)) values_[name].constant = constants_.contains(name);
  }
  for (const OnnxValueInfo& input : model_.graph.inputs) {
    const auto value = values_.find(input.name);
    if (value != values_.end() && !value->second.constant) value->second.made = kFloat16;
  }
  for (size_t i = 0; i < model_.graph.nodes.size(); ++i) {
    for (const std::string& output : model_.graph.nodes[i].outputs) {
      const auto value = values_.find(output);
      if (value != values_.end()) value->second.made = plan_[i];
    }
  }
}

void HalfRewriter::CountReaders() {
  for (size_t i = 0; i < model_.graph.nodes.size(); ++i) {
    const OnnxNode& node = model_.graph.nodes[i];
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      read_.insert(node.inputs[k]);
      const auto value = values_.find(node.inputs[k]);
      if (value == values_.end()) continue;
      const ElementType wanted = Wanted(i, k);
      const ElementType type = wanted == kNoType ? value->second.made : wanted;
      (type == kFloat16 ? value->second.half_read : value->second.float_read) = true;
    }
  }
  for (const OnnxValueInfo& output : model_.graph.outputs) {
    outputs_.insert(output.name);
    read_.insert(output.name);
    const auto value = values_.find(output.name);
    if (value != values_.end()) value->second.float_read = true;
  }
  for (auto& [name, value] : values_) {
    if (value.constant) value.made = value.float_read || !value.half_read ? kFloat : kFloat16;
  }
}

// In the order of the file, so that the same file gives the same names.
void HalfRewriter::ChooseNames() {
  for (const auto& [name, type] : types_) tensor_names_.Take(name);
  for (const OnnxNode& node : model_.graph.nodes) node_names_.Take(node.name);
  const auto choose = [this](const std::string& name) {
    const auto found = values_.find(name);
    if (found == values_.end()) return;
    Value& value = found->second;
    const bool renamed = value.made == kFloat16 && IsOutput(name);
    if (value.made == kFloat) {
      value.float_name = name;
      if (value.half_read) value.half_name = tensor_names_.Free(name + "_float16");
    } else {
      value.half_name = renamed ? tensor_names_.Free(name + "_float16") : name;
      if (renamed) {
        value.float_name = name;
      } else if (value.float_read) {
        value.float_name = tensor_names_.Free(name + "_float32");
      }
    }
  };
  for (const OnnxTensor& tensor : model_.graph.initializers) choose(tensor.name);
  for (const OnnxValueInfo& input : model_.graph.inputs) {
    if (!constants_.contains(input.name)) choose(input.name);
  }
  for (const OnnxNode& node : model_.graph.nodes) {
    for (const std::string& output : node.outputs) choose(output);
  }
}

// The constant in the types that somebody reads.
Result<std::vector<OnnxTensor>> InReadTypes(const OnnxTensor& tensor, const Value& value) {
  std::vector<OnnxTensor> written;
  if (value.float_read && !value.half_read && tensor.type == kFloat) {
    written.push_back(tensor);
    return written;
  }
  if (value.half_read && !value.float_read && tensor.type == kFloat16) {
    written.push_back(tensor);
    return written;
  }
  const auto floats = ReadFloats(tensor);
  if (!floats.ok()) return floats.status();
  if (value.float_read) {
    written.push_back(tensor.type == kFloat ? tensor
                                            : WithFloats(tensor, value.float_name, *floats));
  }
  if (value.half_read) written.push_back(WithHalves(tensor, value.half_name, *floats));
  return written;
}

Status HalfRewriter::WriteInitializers() {
  std::vector<OnnxTensor> written;
  for (OnnxTensor& tensor : model_.graph.initializers) {
    const auto value = values_.find(tensor.name);
    if (value == values_.end()) {
      if (read_.contains(tensor.name)) written.push_back(std::move(tensor));
    } else if (value->second.read()) {
      auto typed = InReadTypes(tensor, value->second);
      if (!typed.ok()) return typed.status();
      for (OnnxTensor& one : *typed) written.push_back(std::move(one));
    }
  }
  model_.graph.initializers = std::move(written);
  for (const OnnxTensor& tensor : model_.graph.initializers) written_[tensor.name] = tensor.type;
  return {};
}

void HalfRewriter::AppendCast(const std::string& name) {
  const Value& value = values_.at(name);
  const bool to_half = value.made == kFloat;
  const std::string& from = to_half ? value.float_name : value.half_name;
  const std::string& to = to_half ? value.half_name : value.float_name;
  if (from.empty() || to.empty()) return;
  OnnxNode cast;
  cast.op = "Cast";
  cast.name = node_names_.Free(name + (to_half ? "_float16" : "_float32"));
  cast.inputs = {from};
  cast.outputs = {to};
  cast.Set(IntegerAttribute("to", to_half ? kFloat16 : kFloat));
  written_[to] = to_half ? kFloat16 : kFloat;
  nodes_.push_back(std::move(cast));
}

// One node a type; the second gets a name of its own.
Status HalfRewriter::WriteConstantNode(OnnxNode node) {
  const Value& value = values_.at(node.outputs[0]);
  if (!value.read()) return {};
  const OnnxTensor& tensor = constants_.at(node.outputs[0]);
  auto typed = InReadTypes(tensor, value);
  if (!typed.ok()) return typed.status();
  for (const OnnxTensor& one : *typed) {
    OnnxNode written = node;
    written.outputs = {one.type == kFloat ? value.float_name : value.half_name};
    if (written.outputs != node.outputs) {
      written.name = node_names_.Free(node.name + "_float16");
      written.changed = true;
    }
    if (one.type != tensor.type) {
      written.attributes.clear();
      written.Set(TensorAttribute("value", one));
    }
    written_[written.outputs[0]] = one.type;
    nodes_.push_back(std::move(written));
  }
  return {};
}

// A ConstantOfShape node whose attribute, if any, is of this type.
Status FillWith(ElementType precision, OnnxNode& node) {
  OnnxTensor tensor;
  tensor.type = kFloat;
  tensor.dims = {1};
  std::vector<float> values = {0};
  if (const OnnxAttribute* attribute = node.Find("value"); attribute != nullptr) {
    auto read = ReadTensor(attribute->tensor);
    if (!read.ok()) return read.status();
    auto floats = ReadFloats(*read);
    if (!floats.ok()) return floats.status();
    tensor = *std::move(read);
    values = *std::move(floats);
  }
  if (tensor.type == precision) return {};
  const auto with = precision == kFloat ? WithFloats : WithHalves;
  node.Set(TensorAttribute("value", with(tensor, tensor.name, values)));
  return {};
}

Status HalfRewriter::WriteNode(OnnxNode node, ElementType precision) {
  const int64_t target = node.Integer("to", kNoType);
  if (node.op == "Cast" && IsFloating(static_cast<int32_t>(target)) && target != precision) {
    node.Set(IntegerAttribute("to", precision));
  }
  if (node.op == "ConstantOfShape" && IsFloating(types_.at(node.outputs[0]))) {
    const Status filled = FillWith(precision, node);
    if (!filled.ok()) return filled;
  }
  std::vector<std::string> made;
  for (std::string& output : node.outputs) {
    const auto value = values_.find(output);
    if (value == values_.end()) {
      if (!output.empty()) written_[output] = types_.at(output);
      continue;
    }
    made.push_back(output);
    const std::string& name =
        value->second.made == kFloat ? value->second.float_name : value->second.half_name;
    written_[name] = value->second.made;
    if (name != output) {
      output = name;
      node.changed = true;
    }
  }
  nodes_.push_back(std::move(node));
  for (const std::string& name : made) AppendCast(name);
  return {};
}

Status HalfRewriter::WriteNodes() {
  for (const OnnxValueInfo& input : model_.graph.inputs) {
    if (!values_.contains(input.name) || constants_.contains(input.name)) continue;
    AppendCast(input.name);
  }
  for (size_t i = 0; i < model_.graph.nodes.size(); ++i) {
    OnnxNode node = model_.graph.nodes[i];
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const auto value = values_.find(node.inputs[k]);
      if (value == values_.end()) continue;
      ElementType wanted = Wanted(i, k);
      if (wanted == kNoType) wanted = value->second.made;
      const std::string& name =
          wanted == kFloat ? value->second.float_name : value->second.half_name;
      if (name == node.inputs[k]) continue;
      node.inputs[k] = name;
      node.changed = true;
    }
    const bool constant = node.op == "Constant" && node.outputs.size() == 1;
    const bool floating = constant && values_.contains(node.outputs[0]);
    if (constant && !floating && !read_.contains(node.outputs[0])) continue;
    const Status status =
        floating ? WriteConstantNode(std::move(node)) : WriteNode(std::move(node), plan_[i]);
    if (!status.ok()) return status;
  }
  model_.graph.nodes = std::move(nodes_);
  return {};
}

void HalfRewriter::WriteDescriptions() {
  OnnxGraph& graph = model_.graph;
  // Initializers listed as inputs were overridable defaults; types of theirs may have changed.
  std::erase_if(graph.inputs,
                [&](const OnnxValueInfo& input) { return constants_.contains(input.name); });
  for (OnnxValueInfo& input : graph.inputs) {
    if (IsFloating(input.type)) input.SetType(kFloat16);
  }
  for (OnnxValueInfo& output : graph.outputs) {
    if (IsFloating(output.type)) output.SetType(kFloat);
  }
  std::erase_if(graph.value_info,
                [&](const OnnxValueInfo& info) { return !written_.contains(info.name); });
  for (OnnxValueInfo& info : graph.value_info) {
    if (info.type != kNoType) info.SetType(written_.at(info.name));
  }
}

Status HalfRewriter::Run() {
  AddValues();
  CountReaders();
  ChooseNames();
  Status status = WriteInitializers();
  if (status.ok()) status = WriteNodes();
  if (status.ok()) WriteDescriptions();
  return status;
}

}  // namespace

Status ApplyPrecisions(OnnxModel& model, const std::vector<ElementType>& plan,
                       const GraphTypes& types, const GraphConstants& constants) {
  return HalfRewriter(model, plan, types, constants).Run();
}

}  // namespace lattice
