#include "native/engine/tensorrt/gpu_network.h"

#include <vector>

#include "native/engine/openvino/openvino_tensors.h"
#include "native/gpu_onnx/half_precision.h"
#include "native/gpu_onnx/size_folding.h"
#include "native/onnx/model_description.h"
#include "native/onnx/onnx_reader.h"

namespace lattice {
namespace {

// For an open batch two sizes: what both have in common does not depend on the batch.
std::vector<Shape> InputsOf(const ModelInfo& info) {
  const int batch = info.fixed_batch > 0 ? info.fixed_batch : 1;
  std::vector<Shape> inputs = {{batch, 3, info.input_height, info.input_width}};
  if (info.fixed_batch == 0) inputs.push_back({2, 3, info.input_height, info.input_width});
  return inputs;
}

Result<std::string> WithoutSizes(const std::string& onnx, const ModelInfo& info) {
  const auto model = ReadOnnxModel(BytesOf(onnx));
  if (!model.ok()) return model.status();
  if (!ReckonsWithSizes(*model)) return onnx;
  const auto known = InferTensors(onnx, InputsOf(info));
  if (!known) return onnx;
  return FoldSizes(BytesOf(onnx), *known);
}

}  // namespace

Result<std::string> GpuNetwork(const std::string& onnx, const ModelInfo& info) {
  const auto folded = WithoutSizes(onnx, info);
  if (!folded.ok()) return folded.status();
  return ToHalfPrecision(BytesOf(*folded), {-1, -1, info.input_height, info.input_width});
}

}  // namespace lattice
