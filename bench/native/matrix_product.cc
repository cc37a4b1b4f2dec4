#include "bench/native/matrix_product.h"

#include <string_view>

#include "native/model/onnx_fields.h"
#include "native/model/onnx_tensor.h"
#include "native/model/protobuf_wire.h"

namespace lattice {
namespace {

constexpr uint64_t kIrVersionWritten = 8;
constexpr uint64_t kOpsetWritten = 13;
constexpr uint64_t kChannels = 3;

// Fields of TensorProto.
constexpr uint32_t kDims = 1;
constexpr uint32_t kDataType = 2;
constexpr uint32_t kTensorName = 8;
constexpr uint32_t kRawData = 9;

// TensorShapeProto.Dimension.dim_param.
constexpr uint32_t kDimensionName = 2;

std::string Dimension(uint64_t size) {
  std::string out;
  AppendNumber(out, onnx::kDimensionValue, size);
  return out;
}

// ValueInfoProto of [N, 3, size, size].
std::string Value(std::string_view name, uint64_t size) {
  std::string open, shape, tensor, type, out;
  AppendBytes(open, kDimensionName, "N");
  for (const std::string& each : {open, Dimension(kChannels), Dimension(size), Dimension(size)}) {
    AppendBytes(shape, onnx::kShapeDimension, each);
  }
  AppendNumber(tensor, onnx::kElementType, kFloat16);
  AppendBytes(tensor, onnx::kTensorShape, shape);
  AppendBytes(type, onnx::kTensorType, tensor);
  AppendBytes(out, onnx::kValueName, name);
  AppendBytes(out, onnx::kValueType, type);
  return out;
}

std::string Weights(uint64_t size) {
  const std::vector<uint16_t> halves = SpreadHalves(size * size);
  std::string out;
  AppendNumber(out, kDims, size);
  AppendNumber(out, kDims, size);
  AppendNumber(out, kDataType, kFloat16);
  AppendBytes(out, kTensorName, "weights");
  AppendBytes(out, kRawData,
              {reinterpret_cast<const char*>(halves.data()), halves.size() * sizeof(uint16_t)});
  return out;
}

std::string Product() {
  std::string out;
  AppendBytes(out, onnx::kNodeInput, "images");
  AppendBytes(out, onnx::kNodeInput, "weights");
  AppendBytes(out, onnx::kNodeOutput, "output0");
  AppendBytes(out, onnx::kNodeName, "product");
  AppendBytes(out, onnx::kNodeOp, "MatMul");
  return out;
}

}  // namespace

std::string MatrixProductModel(int size) {
  const auto side = static_cast<uint64_t>(size);
  std::string graph, opset, model;
  AppendBytes(graph, onnx::kGraphNode, Product());
  AppendBytes(graph, onnx::kGraphInitializer, Weights(side));
  AppendBytes(graph, onnx::kGraphInput, Value("images", side));
  AppendBytes(graph, onnx::kGraphOutput, Value("output0", side));
  AppendNumber(opset, onnx::kOpsetVersion, kOpsetWritten);
  AppendNumber(model, onnx::kIrVersion, kIrVersionWritten);
  AppendBytes(model, onnx::kGraph, graph);
  AppendBytes(model, onnx::kOpsetImport, opset);
  return model;
}

double MatrixProductFlops(int size) {
  const double side = size;
  return 2.0 * kChannels * side * side * side;
}

std::vector<uint16_t> SpreadHalves(size_t count) {
  constexpr uint32_t kSignAndFraction = 0x83ff;
  constexpr uint32_t kHalfToOne = 0x3800;  // exponent of 0.5 to 1
  std::vector<uint16_t> halves(count);
  uint32_t state = 1;
  for (uint16_t& half : halves) {
    state = state * 1664525u + 1013904223u;
    half = static_cast<uint16_t>((state >> 16 & kSignAndFraction) | kHalfToOne);
  }
  return halves;
}

}  // namespace lattice
