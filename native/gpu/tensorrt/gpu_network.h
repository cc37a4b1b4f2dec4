// Converts a model file to the network that GPUs run.
#ifndef LATTICE_GPU_TENSORRT_GPU_NETWORK_H_
#define LATTICE_GPU_TENSORRT_GPU_NETWORK_H_

#include <optional>
#include <string>

#include "native/base/status.h"
#include "native/model/detection_head.h"
#include "native/model/model_info.h"

namespace lattice {

// With a head, the network up to it in half precision, whose outputs are the head's tensors;
// without one, the whole network in FP32. The input is FLOAT16 in both, with the sides of `info`
// and an open batch unless the file fixes it. Arithmetic on sizes stays: TensorRT folds it. Codes
// of ReadOnnxModel and SetFloatType; kInvalidModel for a model that is quantised to 8 bits.
// Thread-safe; needs about three times the file's memory while it runs.
Result<std::string> GpuNetwork(const std::string& onnx, const ModelInfo& info,
                               const std::optional<DetectionHead>& head);

}  // namespace lattice

#endif  // LATTICE_GPU_TENSORRT_GPU_NETWORK_H_
