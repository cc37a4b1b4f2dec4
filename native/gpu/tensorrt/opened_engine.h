// The engine of a model for batches of one size: built, or taken from the folder of engines.
#ifndef LATTICE_GPU_TENSORRT_OPENED_ENGINE_H_
#define LATTICE_GPU_TENSORRT_OPENED_ENGINE_H_

#include <NvInfer.h>

#include <memory>
#include <string>

#include "native/gpu/cuda/gpu_device.h"
#include "native/gpu/gpu_engine.h"
#include "native/gpu/tensorrt/tensorrt_library.h"
#include "native/gpu/tensorrt/tensorrt_model.h"

namespace lattice {

// An engine for batches of one size.
struct OpenedEngine {
  std::unique_ptr<nvinfer1::ICudaEngine> engine;
  bool is_kept = false;  // in the folder of engines
};

// The engine for batches of this size of `model.buckets`, on the thread's current GPU, which is
// `gpu`. A cached one that TensorRT refuses is built again. The first one completes `model`; the
// outputs of others must be the same. Codes of GpuNetwork and BuildTensorRtPlan if it is built;
// kInvalidModel if the network's outputs are of no known layout.
Result<OpenedEngine> OpenTensorRtModel(const TensorRtLibrary& library, nvinfer1::IRuntime& runtime,
                                       const GpuDevice& gpu, const GpuEngineOptions& options,
                                       const OnEngineBuild& on_build, int batch,
                                       TensorRtModel* model);

// The name under which the folder of engines keeps an engine.
std::string EngineFile(const TensorRtLibrary& library, const GpuDevice& gpu, int batch,
                       const TensorRtModel& model);

}  // namespace lattice

#endif  // LATTICE_GPU_TENSORRT_OPENED_ENGINE_H_
