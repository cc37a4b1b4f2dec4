// ONNX -> TensorRT plan.
#ifndef LATTICE_ENGINE_TENSORRT_TENSORRT_BUILDER_H_
#define LATTICE_ENGINE_TENSORRT_TENSORRT_BUILDER_H_

#include <functional>
#include <string>
#include <vector>

#include "native/base/status.h"
#include "native/engine/tensorrt/tensorrt_library.h"
#include "native/onnx/model_info.h"

namespace lattice {

// Batch sizes that an engine is built for, ascending, one optimization profile each.
std::vector<int> BucketsOf(const ModelInfo& model);

inline constexpr int kBuilderLevel = 3;

// Share 0 to 1 done, never falling; false gives up the build. Called by one thread at a time, which
// may be TensorRT's.
using OnBuildProgress = std::function<bool(double share)>;

// The plan for the thread's current GPU, minutes long. `onnx` is GpuNetwork's. `timings` are
// an earlier build's or empty, and become those for the next build on this GPU, which they shorten:
// also when this one was given up. kInvalidModel for a network that TensorRT cannot parse or build,
// kCancelled when `on_progress` gave up.
Result<std::vector<char>> BuildTensorRtPlan(const TensorRtLibrary& library, const std::string& onnx,
                                            const ModelInfo& model, std::vector<char>* timings,
                                            const OnBuildProgress& on_progress);

}  // namespace lattice

#endif  // LATTICE_ENGINE_TENSORRT_TENSORRT_BUILDER_H_
