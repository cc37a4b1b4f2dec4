// A model file on its way to a GPU: described, converted, built or taken from the cache.
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

// The engine for the thread's current GPU, which is `gpu`; one that was kept and that TensorRT
// refuses is built anew. The file is converted only where it is built: GpuNetwork's codes are its
// own then. kInvalidModel when the built network is no detector of the v8 layout; sets
// info.anchors.
Result<std::unique_ptr<nvinfer1::ICudaEngine>> OpenTensorRtModel(
    const TensorRtLibrary& library, nvinfer1::IRuntime& runtime, const GpuDevice& gpu,
    const GpuEngineOptions& options, const OnEngineBuild& on_build, TensorRtModel* model);

}  // namespace lattice

#endif  // LATTICE_ENGINE_TENSORRT_TENSORRT_MODEL_H_
