#include "native/layouts/graph_extension.h"

#include <iterator>
#include <utility>

#include "native/model/onnx_fields.h"

namespace lattice {
namespace {

std::string Named(std::string_view name) { return "lattice." + std::string(name); }

template <typename Value>
OnnxTensor TensorOf(std::string_view name, int32_t type, std::vector<int64_t> dims,
                    const std::vector<Value>& values) {
  return MakeTensor(Named(name), type, std::move(dims),
                    {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)});
}

}  // namespace

std::string GraphExtension::Constant(std::string_view name, std::vector<int64_t> dims,
                                     const std::vector<float>& values) {
  return Keep(TensorOf(name, kFloat, std::move(dims), values));
}

std::string GraphExtension::Constant(std::string_view name, std::vector<int64_t> dims,
                                     const std::vector<int64_t>& values) {
  return Keep(TensorOf(name, kInt64, std::move(dims), values));
}

std::string GraphExtension::Constant(std::string_view name, const std::vector<int64_t>& values) {
  return Constant(name, {static_cast<int64_t>(values.size())}, values);
}

std::string GraphExtension::Add(OnnxNode node) {
  graph_->nodes.push_back(std::move(node));
  return graph_->nodes.back().outputs[0];
}

std::string GraphExtension::Add(std::string_view op, std::vector<std::string> inputs,
                                std::string_view output) {
  return Add(Node(op, std::move(inputs), output));
}

std::string GraphExtension::Join(std::vector<std::string> tensors, int64_t axis,
                                 std::string_view output) {
  OnnxNode joined = Node("Concat", std::move(tensors), output);
  joined.Set(IntegerAttribute("axis", axis));
  return Add(std::move(joined));
}

std::string GraphExtension::Part(const std::string& tensor, int64_t axis, int64_t from, int64_t to,
                                 std::string_view output) {
  const std::string name(output);
  return Add("Slice",
             {tensor, Constant(name + ".from", {from}), Constant(name + ".to", {to}),
              Constant(name + ".axis", {axis})},
             output);
}

std::string GraphExtension::Reshaped(const std::string& tensor, const std::vector<int64_t>& shape,
                                     std::string_view output) {
  return Add("Reshape", {tensor, Constant(std::string(output) + ".shape", shape)}, output);
}

OnnxNode GraphExtension::Node(std::string_view op, std::vector<std::string> inputs,
                              std::string_view output) {
  OnnxNode node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.outputs = {Named(output)};
  node.name = node.outputs[0];
  node.changed = true;
  return node;
}

void GraphExtension::InsertBehind(const std::string& tensor, std::vector<OnnxNode> nodes) {
  for (OnnxNode& node : graph_->nodes) {
    for (std::string& name : node.inputs) {
      if (name != tensor) continue;
      name = nodes.back().outputs[0];
      node.changed = true;
    }
  }
  graph_->nodes.insert(graph_->nodes.begin(), std::make_move_iterator(nodes.begin()),
                       std::make_move_iterator(nodes.end()));
}

void GraphExtension::SetOutput(const std::string& tensor) {
  std::string element;
  AppendNumber(element, onnx::kElementType, kFloat);
  std::string type;
  AppendBytes(type, onnx::kTensorType, element);
  std::string message;
  AppendBytes(message, onnx::kValueName, tensor);
  AppendBytes(message, onnx::kValueType, type);
  OnnxValueInfo output;
  output.name = tensor;
  output.type = kFloat;
  output.message = Message(std::move(message));
  graph_->outputs = {std::move(output)};
}

std::string GraphExtension::Keep(OnnxTensor tensor) {
  graph_->initializers.push_back(std::move(tensor));
  return graph_->initializers.back().name;
}

}  // namespace lattice
