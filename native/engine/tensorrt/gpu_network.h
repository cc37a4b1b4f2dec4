// A model file as the network that GPUs run.
#ifndef LATTICE_ENGINE_TENSORRT_GPU_NETWORK_H_
#define LATTICE_ENGINE_TENSORRT_GPU_NETWORK_H_

#include <string>

#include "native/base/status.h"
#include "native/onnx/model_info.h"

namespace lattice {

// The same network in half precision (ToHalfPrecision), its input's sides those of `info`, its
// batch open unless the file fixes it. What follows from the sides alone, in exports that leave
// them open, is computed here and not in every slice (FoldSizes); where OpenVINO cannot read the
// file it stays, and TensorRT has to cope. Codes of ReadOnnxModel and ToHalfPrecision. Thread-safe.
Result<std::string> GpuNetwork(const std::string& onnx, const ModelInfo& info);

}  // namespace lattice

#endif  // LATTICE_ENGINE_TENSORRT_GPU_NETWORK_H_
