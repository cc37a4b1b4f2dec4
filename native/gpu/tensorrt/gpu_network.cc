#include "native/gpu/tensorrt/gpu_network.h"

#include "native/gpu_onnx/float_type.h"
#include "native/gpu_onnx/node_order.h"
#include "native/gpu_onnx/signed_quantization.h"
#include "native/model/onnx_reader.h"

namespace lattice {

Result<std::string> GpuNetwork(const std::string& onnx, const ModelInfo& info,
                               const std::optional<DetectionHead>& head) {
  auto model = ReadOnnxModel(BytesOf(onnx));
  if (!model.ok()) return model.status();
  if (head) CutAtHead(&*model, *head);
  SortNodes(model->graph);
  Status status = MakeQuantizationSigned(*model);
  if (status.ok()) status = SetFloatType(*model, head ? kFloat16 : kFloat);
  if (!status.ok()) return status;
  for (OnnxValueInfo& input : model->graph.inputs) {
    input.CloseShape({-1, -1, info.input_height, info.input_width});
  }
  return WriteOnnxModel(*model);
}

}  // namespace lattice
