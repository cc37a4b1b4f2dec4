// The engine of NVIDIA machines: letterbox, TensorRT and box decode on the GPU. Declared here for
// every build; one without CUDA answers that it has none.
#ifndef LATTICE_ENGINE_TENSORRT_GPU_ENGINE_H_
#define LATTICE_ENGINE_TENSORRT_GPU_ENGINE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "native/cuda/patient_wait.h"
#include "native/engine/engine.h"
#include "native/gpu_monitor/gpu_reading.h"

namespace lattice {

// Images of the largest slice, where the export does not fix another number.
inline constexpr int kLargestGpuBatch = 32;

struct GpuEngineOptions {
  int gpu = 0;               // CUDA's ordinal in this process, the same for all its engines
  std::string cache_folder;  // of built engines; "" builds anew each time
  // Hex, of the model file, computed by the caller; "" stores no engine and takes no stored one.
  std::string model_sha256;
  int slots = 2;      // of each class: while one computes, the next is queued
  int most_sync = 8;  // largest batch of the sync class
  // A GPU that does not end a slice for that long is lost.
  Clock::duration patience = kGpuPatience;
};

// Share 0 to 1 of a build that takes minutes; false gives it up. Called while the loading thread
// waits, by one thread at a time, which may be another.
using OnEngineBuild = std::function<bool(double share)>;

// "CUDA 13.0, TensorRT 10" as built in; "" in a build without them.
std::string GpuBuild();

// Names of the GPUs that engines can run on, never empty when ok. kGpuUnavailable says what is
// missing and what to do: the build, the driver, a GPU, TensorRT. Never crashes; well under 2 s.
Result<std::vector<std::string>> UsableGpus();

// Where these GPUs are, in the order of UsableGpus and with its reasons. TensorRT is not asked for.
Result<std::vector<GpuIdentity>> IdentifyUsableGpus();

// Loads the model onto every usable GPU, from the cache or by building; a GPU that was lost before
// is one of the engine's devices all the same, and kGpuLost to whoever runs there. Codes of
// ReadModelFile, DescribeMetadata, GpuNetwork and BuildTensorRtPlan; kGpuUnavailable as
// UsableGpus, kOverloaded when GPU memory is short, kGpuLost when every GPU was lost.
Result<std::unique_ptr<Engine>> LoadGpuEngine(const std::string& path,
                                              const GpuEngineOptions& options,
                                              const OnEngineBuild& on_build);

}  // namespace lattice

#endif  // LATTICE_ENGINE_TENSORRT_GPU_ENGINE_H_
