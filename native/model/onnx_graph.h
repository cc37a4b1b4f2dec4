// An ONNX file as nodes and tensors that can be changed and written back.
#ifndef LATTICE_MODEL_ONNX_GRAPH_H_
#define LATTICE_MODEL_ONNX_GRAPH_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "native/base/status.h"
#include "native/model/onnx_tensor.h"
#include "native/model/protobuf_wire.h"

namespace lattice {

// AttributeProto. Graphs inside attributes are kept, not read.
struct OnnxAttribute {
  std::string name;
  int64_t integer = 0;
  float real = 0;
  std::vector<float> reals;
  std::vector<int64_t> integers;
  ByteView tensor;  // the TensorProto `t`, empty where there is none; lies in `message`
  Message message;
};

OnnxAttribute IntegerAttribute(std::string name, int64_t value);
OnnxAttribute IntegersAttribute(std::string name, std::vector<int64_t> values);

struct OnnxNode {
  std::string op;
  std::string name;
  std::string domain;               // "" is ONNX's own
  std::vector<std::string> inputs;  // "" is an optional input left out
  std::vector<std::string> outputs;
  std::vector<OnnxAttribute> attributes;
  Message message;       // as read
  bool changed = false;  // to be written from the fields above instead of `message`

  const OnnxAttribute* Find(std::string_view attribute) const;
  int64_t Integer(std::string_view attribute, int64_t otherwise) const;
  // Replaces the attribute of this name or adds it, and marks the node as changed.
  void Set(OnnxAttribute attribute);
};

// ValueInfoProto: type and shape of one tensor.
struct OnnxValueInfo {
  std::string name;
  int32_t type = kNoType;  // kNoType where it is no tensor
  Message message;

  // Precondition: it is a tensor.
  void SetType(int32_t element);
  // Sizes, -1 where the file leaves one open; empty where it gives no shape.
  std::vector<int64_t> Shape() const;
  // Sizes for the axes that the file leaves open; -1, and an axis behind the last, stay open.
  void CloseShape(const std::vector<int64_t>& sizes);
  // Leaves the first axis open.
  void OpenBatch();

 private:
  // Size by axis, -1 for an open one.
  void SetSizes(const std::function<int64_t(size_t axis, int64_t size)>& chosen);
};

// A field that is not read, or the position of the first of a kind that is.
struct OnnxPart {
  uint32_t number = 0;
  ByteView whole;
};

struct OnnxGraph {
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> initializers;
  std::vector<OnnxValueInfo> inputs;
  std::vector<OnnxValueInfo> outputs;
  std::vector<OnnxValueInfo> value_info;
  std::vector<OnnxPart> parts;  // in the file's order
};

struct OnnxModel {
  int64_t opset = 0;  // of ONNX's own operators; 0 where the model names none
  OnnxGraph graph;
  std::vector<OnnxPart> parts;
};

// Every field that is not read is written byte for byte in its place; fields of one kind follow
// each other where the first of them was. So a file of a usual serialiser is written unchanged.
std::string WriteOnnxModel(const OnnxModel& model);

}  // namespace lattice

#endif  // LATTICE_MODEL_ONNX_GRAPH_H_
