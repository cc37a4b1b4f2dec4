// Builds without CUDA or TensorRT's headers.
#include "native/engine/tensorrt/gpu_engine.h"
#include "native/engine/tensorrt/gpu_limits.h"

namespace lattice {

Result<GpuLimits> MeasureGpuLimits(int, std::chrono::milliseconds) { return UsableGpus().status(); }

}  // namespace lattice
