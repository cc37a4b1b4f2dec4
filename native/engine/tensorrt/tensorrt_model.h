// From a model file to an engine on the GPU: described, converted, built or taken from the cache.
#ifndef LATTICE_ENGINE_TENSORRT_TENSORRT_MODEL_H_
#define LATTICE_ENGINE_TENSORRT_TENSORRT_MODEL_H_

#include <NvInfer.h>

#include <memory>
#include <string>

#include "native/cuda/gpu_device.h"
#include "native/engine/tensorrt/gpu_engine.h"
#include "native/engine/tensorrt/tensorrt_library.h"

namespace lattice {

struct TensorRtModel {
  std::string name;  // file name without folder
  std::string onnx;  // the file's bytes
  ModelInfo info;    // without device and anchors
};

// Codes of ReadModelFile, DescribeMetadata and ResolveInput.
Result<TensorRtModel> ReadTensorRtModel(const std::string& path);

// The engine for the thread's current GPU, which is `gpu`. A cached one that TensorRT refuses is
// built again. Sets info.anchors. Codes of GpuNetwork and BuildTensorRtPlan if it is built;
// kInvalidModel if the network is no detector of the v8 layout.
Result<TensorRtOwned<nvinfer1::ICudaEngine>> OpenTensorRtModel(
    const TensorRtLibrary& library, nvinfer1::IRuntime& runtime, const GpuDevice& gpu,
    const GpuEngineOptions& options, const OnEngineBuild& on_build, TensorRtModel* model);

}  // namespace lattice

#endif  // LATTICE_ENGINE_TENSORRT_TENSORRT_MODEL_H_
