#include "native/gpu/tensorrt/gpu_network.h"

#include <algorithm>

#include "native/gpu/onnx/float_type.h"
#include "native/gpu/onnx/graph_constants.h"
#include "native/gpu/onnx/node_order.h"
#include "native/gpu/onnx/open_batch.h"
#include "native/model/onnx_reader.h"

namespace lattice {
namespace {

// Explicit quantisation, which is DequantizeLinear alone where only weights are in 8 bits; ONNX's
// own integer operators and those of ONNX Runtime, such as QGemm, MatMulIntegerToFloat and
// DynamicQuantizeMatMul. QuickGelu computes with floats.
bool IsQuantised(const OnnxNode& node) {
  const std::string& op = node.op;
  const bool is_q = op.size() > 1 && op[0] == 'Q' && op[1] >= 'A' && op[1] <= 'Z';
  return is_q || op.find("uantize") != std::string::npos || op.find("Integer") != std::string::npos;
}

Status CheckFloatOnly(const OnnxGraph& graph) {
  const auto quantised = std::find_if(graph.nodes.begin(), graph.nodes.end(), IsQuantised);
  if (quantised == graph.nodes.end()) return {};
  return InvalidModel("The model is quantised to 8 bits: it has " + NodeText(*quantised) +
                      ". GPUs run models in floating point only. Use the f32 export of the model, "
                      "or run this one on the CPU (LATTICE_DEVICE=cpu).");
}

}  // namespace

std::string BatchHeldBy(OnnxModel model, const std::optional<DetectionHead>& head) {
  if (head) CutAtHead(&model, *head);
  SortNodes(model.graph);
  return OpenBatch(&model);
}

Result<std::string> GpuNetwork(const std::string& onnx, const ModelInfo& info,
                               const std::optional<DetectionHead>& head) {
  auto model = ReadOnnxModel(BytesOf(onnx));
  if (!model.ok()) return model.status();
  Status status = CheckFloatOnly(model->graph);
  if (!status.ok()) return status;
  if (head) CutAtHead(&*model, *head);
  // Exporters need not write nodes in order, and OpenBatch needs it.
  SortNodes(model->graph);
  if (info.fixed_batch == 0) {
    // The file's batch is open, where OpenBatch does nothing, or SetBuckets set fixed_batch to 0
    // because OpenBatch had succeeded. So this does not fail here.
    if (const std::string held = OpenBatch(&*model); !held.empty()) return InvalidModel(held);
  }
  status = SetFloatType(*model, head ? kFloat16 : kFloat);
  if (!status.ok()) return status;
  for (OnnxValueInfo& input : model->graph.inputs) {
    // Batch and channels stay.
    input.CloseShape({-1, -1, info.input_height, info.input_width});
  }
  return WriteOnnxModel(*model);
}

}  // namespace lattice
