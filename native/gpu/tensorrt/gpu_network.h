// Converts a model file to the network that GPUs run.
#ifndef LATTICE_GPU_TENSORRT_GPU_NETWORK_H_
#define LATTICE_GPU_TENSORRT_GPU_NETWORK_H_

#include <optional>
#include <string>

#include "native/base/status.h"
#include "native/model/detection_head.h"
#include "native/model/model_info.h"
#include "native/model/onnx_graph.h"

namespace lattice {

// Why the network, up to the head where there is one, runs only the batch that its file fixes: a
// sentence that names a node (open_batch.h); "" where it runs any.
std::string BatchHeldBy(OnnxModel model, const std::optional<DetectionHead>& head);

// Returns the network that the GPU runs. With a head it is the part up to the head in half
// precision, whose outputs are the tensors of the head; without one it is the whole network in
// FP32. The input is FLOAT16 in both, with the sides of `info` and an open batch unless `info`
// fixes it. Arithmetic on sizes stays: TensorRT folds it. Fails with the codes of ReadOnnxModel and
// SetFloatType, and with kInvalidModel for a model that is quantised to 8 bits. Thread-safe; needs
// about three times the file's memory while it runs.
Result<std::string> GpuNetwork(const std::string& onnx, const ModelInfo& info,
                               const std::optional<DetectionHead>& head);

}  // namespace lattice

#endif  // LATTICE_GPU_TENSORRT_GPU_NETWORK_H_
