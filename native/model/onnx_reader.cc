#include "native/model/onnx_reader.h"

#include <cstring>

#include "native/base/bit_cast.h"
#include "native/model/onnx_fields.h"

namespace lattice {
namespace {

// A part takes up to some 300 bytes of memory but may take 2 of the file.
constexpr size_t kMaxParts = 1'000'000;

// Reads messages into structs; false for damage or too many parts.
class ModelReader {
 public:
  Status ReadModel(ByteView bytes, OnnxModel& model);

 private:
  // Calls `take(field)` for every field until one returns false.
  template <typename Take>
  bool ForEach(ByteView bytes, Take take) {
    WireReader reader(bytes);
    while (!reader.AtEnd()) {
      const auto field = reader.Next();
      if (!field || ++parts_ > kMaxParts || !take(*field)) return false;
    }
    return true;
  }

  bool ReadGraph(ByteView bytes, OnnxGraph& graph);
  bool ReadNode(ByteView bytes, OnnxNode& node);
  bool ReadAttribute(ByteView bytes, OnnxAttribute& attribute);
  bool ReadValueInfo(ByteView bytes, OnnxValueInfo& info);
  bool ReadOpset(ByteView bytes, OnnxModel& model);

  size_t parts_ = 0;
  Status tensor_;  // why a tensor was refused
};

bool ModelReader::ReadAttribute(ByteView bytes, OnnxAttribute& attribute) {
  attribute.message = Message(bytes);
  return ForEach(bytes, [&](const WireField& field) {
    const float real = BitCast<float>(static_cast<uint32_t>(field.value));
    if (field.number == onnx::kAttributeName) attribute.name = TextOf(field.bytes);
    if (field.number == onnx::kAttributeInteger)
      attribute.integer = static_cast<int64_t>(field.value);
    if (field.number == onnx::kAttributeFloat) attribute.real = real;
    if (field.number == onnx::kAttributeTensor) attribute.tensor = field.bytes;
    if (field.number == onnx::kAttributeIntegers) {
      return ForEachInteger(field, [&](int64_t value) {
        attribute.integers.push_back(value);
        return true;
      });
    }
    if (field.number != onnx::kAttributeFloats) return true;
    if (!field.delimited()) {
      attribute.reals.push_back(real);
      return true;
    }
    const size_t count = field.bytes.size() / sizeof(float);
    attribute.reals.resize(count);
    if (count > 0) {
      std::memcpy(attribute.reals.data(), field.bytes.data(), count * sizeof(float));
    }
    return field.bytes.size() % sizeof(float) == 0;
  });
}

bool ModelReader::ReadNode(ByteView bytes, OnnxNode& node) {
  node.message = Message(bytes);
  return ForEach(bytes, [&](const WireField& field) {
    const std::string_view text = TextOf(field.bytes);
    switch (field.number) {
      case onnx::kNodeInput:
        node.inputs.emplace_back(text);
        return field.delimited();
      case onnx::kNodeOutput:
        node.outputs.emplace_back(text);
        return field.delimited();
      case onnx::kNodeName:
        node.name = text;
        return field.delimited();
      case onnx::kNodeOp:
        node.op = text;
        return field.delimited();
      case onnx::kNodeDomain:
        node.domain = text == "ai.onnx" ? "" : text;
        return field.delimited();
      case onnx::kNodeAttribute:
        return field.delimited() && ReadAttribute(field.bytes, node.attributes.emplace_back());
      default:
        return true;
    }
  });
}

bool ModelReader::ReadValueInfo(ByteView bytes, OnnxValueInfo& info) {
  info.message = Message(bytes);
  return ForEach(bytes, [&](const WireField& field) {
    if (field.number == onnx::kValueName) info.name = TextOf(field.bytes);
    if (field.number != onnx::kValueType) return true;
    return ForEach(field.bytes, [&](const WireField& type) {
      if (type.number != onnx::kTensorType) return true;
      return ForEach(type.bytes, [&](const WireField& part) {
        if (part.number == onnx::kElementType) info.type = static_cast<int32_t>(part.value);
        return true;
      });
    });
  });
}

bool ModelReader::ReadGraph(ByteView bytes, OnnxGraph& graph) {
  uint64_t seen = 0;  // kinds of which one came before
  return ForEach(bytes, [&](const WireField& field) {
    const bool read = field.number == onnx::kGraphNode || field.number == onnx::kGraphInitializer ||
                      (field.number >= onnx::kGraphInput && field.number <= onnx::kGraphValueInfo);
    if (read && !field.delimited()) return false;
    if (!read || (seen & uint64_t{1} << field.number) == 0) {
      graph.parts.push_back({field.number, field.whole});
    }
    if (read) seen |= uint64_t{1} << field.number;
    switch (field.number) {
      case onnx::kGraphNode:
        return ReadNode(field.bytes, graph.nodes.emplace_back());
      case onnx::kGraphInitializer: {
        auto tensor = ReadTensor(field.bytes);
        tensor_ = tensor.status();
        if (tensor.ok()) graph.initializers.push_back(*std::move(tensor));
        return tensor_.ok();
      }
      case onnx::kGraphInput:
        return ReadValueInfo(field.bytes, graph.inputs.emplace_back());
      case onnx::kGraphOutput:
        return ReadValueInfo(field.bytes, graph.outputs.emplace_back());
      case onnx::kGraphValueInfo:
        return ReadValueInfo(field.bytes, graph.value_info.emplace_back());
      default:
        return true;
    }
  });
}

bool ModelReader::ReadOpset(ByteView bytes, OnnxModel& model) {
  std::string_view domain;
  int64_t version = 0;
  const bool read = ForEach(bytes, [&](const WireField& field) {
    if (field.number == onnx::kOpsetDomain) domain = TextOf(field.bytes);
    if (field.number == onnx::kOpsetVersion) version = static_cast<int64_t>(field.value);
    return true;
  });
  if (domain.empty() || domain == "ai.onnx") model.opset = version;
  return read;
}

Status ModelReader::ReadModel(ByteView bytes, OnnxModel& model) {
  int graphs = 0;
  const bool read = ForEach(bytes, [&](const WireField& field) {
    model.parts.push_back({field.number, field.whole});
    if (field.number == onnx::kOpsetImport) return ReadOpset(field.bytes, model);
    if (field.number != onnx::kGraph) return true;
    return ++graphs == 1 && field.delimited() && ReadGraph(field.bytes, model.graph);
  });
  if (!tensor_.ok()) return tensor_;
  if (parts_ > kMaxParts) {
    return {StatusCode::kInvalidModel, "The model has more than a million parts."};
  }
  if (read && graphs == 1) return {};
  return {StatusCode::kInvalidModel,
          "The file is not a complete ONNX model: it is damaged, cut short or of another format."};
}

}  // namespace

Result<OnnxModel> ReadOnnxModel(ByteView bytes) {
  OnnxModel model;
  const Status status = ModelReader().ReadModel(bytes, model);
  if (!status.ok()) return status;
  return model;
}

}  // namespace lattice
