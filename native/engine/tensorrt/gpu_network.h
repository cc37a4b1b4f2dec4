// Converts a model file to the network that GPUs run.
#ifndef LATTICE_ENGINE_TENSORRT_GPU_NETWORK_H_
#define LATTICE_ENGINE_TENSORRT_GPU_NETWORK_H_

#include <string>

#include "native/base/status.h"
#include "native/onnx/model_info.h"

namespace lattice {

// The network in half precision (ToHalfPrecision), with the input sides of `info` and an open batch
// unless the file fixes it. In exports with open sides, values that follow from the sides alone are
// computed once here instead of in each batch (FoldSizes), if OpenVINO can read the file. Codes of
// ReadOnnxModel and ToHalfPrecision. Thread-safe.
Result<std::string> GpuNetwork(const std::string& onnx, const ModelInfo& info);

}  // namespace lattice

#endif  // LATTICE_ENGINE_TENSORRT_GPU_NETWORK_H_
