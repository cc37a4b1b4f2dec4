#include "native/model/onnx_graph.h"

#include <algorithm>

#include "native/model/onnx_fields.h"

namespace lattice {
namespace {

void AppendWhole(std::string& out, ByteView whole) { out += TextOf(whole); }

// A changed node: the fields that are read, then the others as they were.
std::string WriteNode(const OnnxNode& node) {
  std::string out;
  for (const std::string& name : node.inputs) AppendBytes(out, onnx::kNodeInput, name);
  for (const std::string& name : node.outputs) AppendBytes(out, onnx::kNodeOutput, name);
  if (!node.name.empty()) AppendBytes(out, onnx::kNodeName, node.name);
  AppendBytes(out, onnx::kNodeOp, node.op);
  for (const OnnxAttribute& attribute : node.attributes) {
    AppendBytes(out, onnx::kNodeAttribute, attribute.message.text());
  }
  if (!node.domain.empty()) AppendBytes(out, onnx::kNodeDomain, node.domain);
  WireReader reader(node.message.bytes());
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field) break;  // ReadNode has walked these bytes before
    if (field->number > onnx::kNodeAttribute && field->number != onnx::kNodeDomain) {
      AppendWhole(out, field->whole);
    }
  }
  return out;
}

// All of one kind; false where the kind is not one that is read.
bool WriteKind(const OnnxGraph& graph, uint32_t number, std::string& out) {
  const auto all = [&](const auto& items) {
    for (const auto& item : items) AppendBytes(out, number, item.message.text());
    return true;
  };
  switch (number) {
    case onnx::kGraphNode:
      for (const OnnxNode& node : graph.nodes) {
        if (node.changed) {
          AppendBytes(out, number, WriteNode(node));
        } else {
          AppendBytes(out, number, node.message.text());
        }
      }
      return true;
    case onnx::kGraphInitializer:
      return all(graph.initializers);
    case onnx::kGraphInput:
      return all(graph.inputs);
    case onnx::kGraphOutput:
      return all(graph.outputs);
    case onnx::kGraphValueInfo:
      return all(graph.value_info);
    default:
      return false;
  }
}

// Space for what a rewritten network has more, so that megabytes of weights are not copied again.
constexpr size_t kAdded = size_t{1} << 20;

// `bytes`: about what it takes.
std::string WriteGraph(const OnnxGraph& graph, size_t bytes) {
  std::string out;
  out.reserve(bytes);
  bool has_initializers = false;
  for (const OnnxPart& part : graph.parts) {
    has_initializers = has_initializers || part.number == onnx::kGraphInitializer;
    if (!WriteKind(graph, part.number, out)) AppendWhole(out, part.whole);
  }
  // The one kind that may come to a graph that had none.
  if (!has_initializers) (void)WriteKind(graph, onnx::kGraphInitializer, out);
  return out;
}

// `message` with the delimited field of this number holding `content`.
std::string WithField(ByteView message, uint32_t number, std::string_view content) {
  std::string out;
  WireReader reader(message);
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field) break;  // walked before
    if (field->number == number) {
      AppendBytes(out, number, content);
    } else {
      AppendWhole(out, field->whole);
    }
  }
  return out;
}

ByteView FieldOf(ByteView message, uint32_t number) {
  WireReader reader(message);
  ByteView found;
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field) break;  // walked before
    if (field->number == number) found = field->bytes;
  }
  return found;
}

}  // namespace

OnnxAttribute IntegerAttribute(std::string name, int64_t value) {
  std::string message;
  AppendBytes(message, onnx::kAttributeName, name);
  AppendNumber(message, onnx::kAttributeInteger, static_cast<uint64_t>(value));
  AppendNumber(message, onnx::kAttributeType, onnx::kTypeIsInteger);
  OnnxAttribute attribute;
  attribute.name = std::move(name);
  attribute.integer = value;
  attribute.message = Message(std::move(message));
  return attribute;
}

OnnxAttribute IntegersAttribute(std::string name, std::vector<int64_t> values) {
  std::string message;
  AppendBytes(message, onnx::kAttributeName, name);
  for (const int64_t value : values) {
    AppendNumber(message, onnx::kAttributeIntegers, static_cast<uint64_t>(value));
  }
  AppendNumber(message, onnx::kAttributeType, onnx::kTypeIsIntegers);
  OnnxAttribute attribute;
  attribute.name = std::move(name);
  attribute.integers = std::move(values);
  attribute.message = Message(std::move(message));
  return attribute;
}

const OnnxAttribute* OnnxNode::Find(std::string_view attribute) const {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const OnnxAttribute& a) { return a.name == attribute; });
  return found == attributes.end() ? nullptr : &*found;
}

int64_t OnnxNode::Integer(std::string_view attribute, int64_t otherwise) const {
  const OnnxAttribute* found = Find(attribute);
  return found == nullptr ? otherwise : found->integer;
}

void OnnxNode::Set(OnnxAttribute attribute) {
  changed = true;
  for (OnnxAttribute& old : attributes) {
    if (old.name != attribute.name) continue;
    old = std::move(attribute);
    return;
  }
  attributes.push_back(std::move(attribute));
}

void OnnxValueInfo::SetType(int32_t element) {
  if (element == type) return;
  const ByteView old_type = FieldOf(message.bytes(), onnx::kValueType);
  const ByteView old_tensor = FieldOf(old_type, onnx::kTensorType);
  std::string tensor;
  AppendNumber(tensor, onnx::kElementType, static_cast<uint64_t>(element));
  WireReader reader(old_tensor);
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field) break;  // walked before
    if (field->number != onnx::kElementType) AppendWhole(tensor, field->whole);
  }
  message = Message(
      WithField(message.bytes(), onnx::kValueType, WithField(old_type, onnx::kTensorType, tensor)));
  type = element;
}

std::vector<int64_t> OnnxValueInfo::Shape() const {
  std::vector<int64_t> sizes;
  const ByteView tensor = FieldOf(FieldOf(message.bytes(), onnx::kValueType), onnx::kTensorType);
  WireReader reader(FieldOf(tensor, onnx::kTensorShape));
  while (!reader.AtEnd()) {
    const auto dimension = reader.Next();
    if (!dimension) break;  // walked before
    if (dimension->number != onnx::kShapeDimension) continue;
    int64_t size = -1;
    WireReader parts(dimension->bytes);
    while (!parts.AtEnd()) {
      const auto part = parts.Next();
      if (!part) break;
      if (part->number == onnx::kDimensionValue && part->varint()) {
        size = static_cast<int64_t>(part->value);
      }
    }
    sizes.push_back(size);
  }
  return sizes;
}

void OnnxValueInfo::SetSizes(const std::function<int64_t(size_t axis, int64_t size)>& chosen) {
  const std::vector<int64_t> sizes = Shape();
  const ByteView old_type = FieldOf(message.bytes(), onnx::kValueType);
  const ByteView old_tensor = FieldOf(old_type, onnx::kTensorType);
  std::string shape;
  size_t axis = 0;
  WireReader reader(FieldOf(old_tensor, onnx::kTensorShape));
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field) break;  // walked before
    const bool dimension = field->number == onnx::kShapeDimension;
    const int64_t size = dimension ? chosen(axis, sizes[axis]) : -1;
    if (dimension && size != sizes[axis]) {
      std::string content;
      if (size >= 0) AppendNumber(content, onnx::kDimensionValue, static_cast<uint64_t>(size));
      AppendBytes(shape, onnx::kShapeDimension, content);
    } else {
      AppendWhole(shape, field->whole);
    }
    axis += dimension ? 1 : 0;
  }
  if (axis == 0) return;
  const std::string tensor = WithField(old_tensor, onnx::kTensorShape, shape);
  const std::string type = WithField(old_type, onnx::kTensorType, tensor);
  message = Message(WithField(message.bytes(), onnx::kValueType, type));
}

void OnnxValueInfo::CloseShape(const std::vector<int64_t>& sizes) {
  SetSizes([&](size_t axis, int64_t size) {
    return size < 0 && axis < sizes.size() ? sizes[axis] : size;
  });
}

void OnnxValueInfo::OpenBatch() {
  SetSizes([](size_t axis, int64_t size) { return axis == 0 ? -1 : size; });
}

std::string WriteOnnxModel(const OnnxModel& model) {
  std::string out;
  for (const OnnxPart& part : model.parts) {
    if (part.number == onnx::kGraph) {
      const std::string graph = WriteGraph(model.graph, part.whole.size() + kAdded);
      out.reserve(out.size() + graph.size() + kAdded);
      AppendBytes(out, onnx::kGraph, graph);
    } else {
      AppendWhole(out, part.whole);
    }
  }
  return out;
}

}  // namespace lattice
