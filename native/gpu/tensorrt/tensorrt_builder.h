// ONNX -> TensorRT plan.
#ifndef LATTICE_GPU_TENSORRT_TENSORRT_BUILDER_H_
#define LATTICE_GPU_TENSORRT_TENSORRT_BUILDER_H_

#include <string>
#include <vector>

#include "native/base/status.h"
#include "native/gpu/gpu_engine.h"
#include "native/gpu/tensorrt/tensorrt_library.h"
#include "native/model/model_info.h"

namespace lattice {

inline constexpr int kBuilderLevel = 3;

// Builds the plan for the thread's current GPU and batches of this size, in minutes. `onnx` comes
// from GpuNetwork. `timings` of an earlier build on this GPU, or empty, shorten the build; they are
// replaced with those for the next build, also if this one is cancelled. The share of `on_build`
// never falls. kInvalidModel for a network that TensorRT cannot parse or build, kCancelled if
// `on_build` returned false.
Result<std::vector<char>> BuildTensorRtPlan(const TensorRtLibrary& library, const std::string& onnx,
                                            const ModelInfo& model, int batch,
                                            std::vector<char>* timings,
                                            const OnEngineBuild& on_build);

}  // namespace lattice

#endif  // LATTICE_GPU_TENSORRT_TENSORRT_BUILDER_H_
