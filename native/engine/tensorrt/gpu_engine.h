// The engine for NVIDIA GPUs: letterbox, TensorRT and box decode on the GPU. Declared in every
// build; without CUDA every call fails and says so.
#ifndef LATTICE_ENGINE_TENSORRT_GPU_ENGINE_H_
#define LATTICE_ENGINE_TENSORRT_GPU_ENGINE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "native/cuda/patient_wait.h"
#include "native/engine/engine.h"

namespace lattice {

// Which GPU it is.
struct GpuIdentity {
  int index = 0;  // CUDA's ordinal in this process
  std::string name;
  std::string uuid;           // "GPU-..." as nvidia-smi prints it
  std::string bus_id;         // "0000:17:00.0", as the kernel names it
  int numa_node = -1;         // -1: the kernel does not say
  uint64_t memory_bytes = 0;  // according to CUDA
};

struct GpuEngineOptions {
  int gpu = 0;               // CUDA's ordinal in this process, the same for all its engines
  std::string cache_folder;  // of built engines; "" builds the engine on each load
  // Batch sizes that an engine is built for, ascending; a batch between two computes as the larger
  // one. An export that fixes its batch has that one.
  std::vector<int> batches = {1, 2, 4, 8, 16, 32};
  int slots = 2;      // of each class: while one batch computes, the next one is queued
  int most_sync = 8;  // images of the largest sync batch
  // The GPU is lost if it does not end a batch within this time.
  Clock::duration patience = kGpuPatience;
};

// Receives the share (0 to 1) of a build, which takes minutes; returning false cancels the build.
// Called while the loading thread waits, by one thread at a time, which may be another one.
using OnEngineBuild = std::function<bool(double share)>;

// The versions of this build, such as "CUDA 13.0, TensorRT 10"; "" without them.
std::string GpuBuild();

// The GPUs that an engine can run on, by ordinal; never empty when ok. kGpuUnavailable says what is
// missing and what to do: the build, the driver, a GPU, TensorRT. Takes well under 2 s.
Result<std::vector<GpuIdentity>> UsableGpus();

// Loads the model onto one GPU, from the cache or by building the engine. Codes of ReadModelFile,
// DescribeMetadata, GpuNetwork and BuildTensorRtPlan; kGpuUnavailable as UsableGpus and if there is
// no usable GPU of that ordinal; kOverloaded if the GPU has too little free memory; kGpuLost if the
// GPU faulted or hangs, now or before: then the process cannot use it any more and has to end
// (native/base/abandoned_gpu.h).
Result<std::unique_ptr<Engine>> LoadGpuEngine(const std::string& path,
                                              const GpuEngineOptions& options,
                                              const OnEngineBuild& on_build);

}  // namespace lattice

#endif  // LATTICE_ENGINE_TENSORRT_GPU_ENGINE_H_
