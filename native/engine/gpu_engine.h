// The engine for NVIDIA GPUs: letterbox, TensorRT and box decode on the GPU. Declared in every
// build; without CUDA every call fails and says so.
#ifndef LATTICE_ENGINE_GPU_ENGINE_H_
#define LATTICE_ENGINE_GPU_ENGINE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "native/base/watched_call.h"
#include "native/engine/engine.h"

namespace lattice {

class ImageDecoder;

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
  // Batch sizes that there are engines for, ascending; a batch between two computes as the larger
  // one. An export whose network holds a fixed batch has that one (ModelInfo::without says so).
  std::vector<int> batches = {1, 2, 4, 8, 16, 32};
  int slots = 2;      // of each class: while one batch computes, the next one is queued
  int most_sync = 8;  // images of the largest sync batch
  // Limit of the pinned memory that is kept for later images; less where full batches of
  // kLargePhoto (native/gpu/jpeg/photo_sides.h) take less. The first engine of a process decides.
  size_t most_idle_bytes = size_t{2} << 30;
  std::shared_ptr<const ImageDecoder> decoder;  // null: every image is decoded on the CPU
  // A batch that takes longer ends the process (native/base/watched_call.h).
  Clock::duration longest_run = kLongestDeviceCall;

  // Images of the largest batches of all slots together.
  size_t images() const {
    return static_cast<size_t>(slots) * static_cast<size_t>(most_sync + batches.back());
  }
};

// The versions of this build, such as "CUDA 13.0, TensorRT 10"; "" without them.
std::string GpuBuild();

// The GPUs that an engine can run on, by ordinal; never empty when ok. kGpuUnavailable says what is
// missing and what to do: the build, the driver, a GPU, TensorRT. Takes well under 2 s.
Result<std::vector<GpuIdentity>> UsableGpus();

// Decodes on the JPEG engines of GPU `gpu`, as CUDA counts in this process, and on the CPU. Opens
// nvJPEG and creates a context on the GPU, a few tenths of a second; afterwards the GPU is the
// thread's current one. kGpuUnavailable and other codes with a sentence where the engines cannot be
// used; touches no GPU where none can be used.
Result<std::shared_ptr<const ImageDecoder>> OpenJpegEngines(int gpu);

// kGpuUnavailable with a sentence where no GPU could decode: in a build without nvJPEG's header and
// on a machine without the library. Touches no GPU.
Status FindJpegEngines();

// Loads the model onto one GPU with the engine of its smallest batch size, from the cache or by
// building it; Engine::AddBatches loads the others in the same way. Codes of ReadModelFile,
// DescribeMetadata, GpuNetwork and BuildTensorRtPlan; kGpuUnavailable as UsableGpus and if there is
// no usable GPU of that ordinal; kOverloaded if the GPU has too little free memory;
// kDetectionFailed if TensorRT does not run its own engine; kGpuLost if the GPU faulted, now or
// before: then the process cannot use it any more and has to end.
Result<std::unique_ptr<Engine>> LoadGpuEngine(const std::string& path,
                                              const GpuEngineOptions& options,
                                              const OnEngineBuild& on_build);

}  // namespace lattice

#endif  // LATTICE_ENGINE_GPU_ENGINE_H_
