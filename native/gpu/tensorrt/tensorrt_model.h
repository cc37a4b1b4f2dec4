// From a model file to an engine on the GPU: described, converted, built or taken from the cache.
#ifndef LATTICE_GPU_TENSORRT_TENSORRT_MODEL_H_
#define LATTICE_GPU_TENSORRT_TENSORRT_MODEL_H_

#include <NvInfer.h>

#include <optional>
#include <string>
#include <vector>

#include "native/engine/gpu_engine.h"
#include "native/gpu/cuda/gpu_device.h"
#include "native/gpu/tensorrt/tensorrt_library.h"
#include "native/model/detection_head.h"

namespace lattice {

// An output of an engine.
struct EngineOutput {
  std::string name;
  std::vector<size_t> shape;  // of one image
  size_t element_bytes = 0;

  size_t elements() const;
  size_t bytes() const { return elements() * element_bytes; }
  bool operator==(const EngineOutput&) const = default;
};

struct TensorRtModel {
  std::string name;          // file name without folder
  std::string onnx;          // of ReadModelFile and WithReadableLayout
  ModelInfo info;            // without device
  std::vector<int> buckets;  // batch sizes, ascending
  // Where the network is cut: the GPU makes the boxes of the head's tensors, in FP16. None: it runs
  // whole, in FP32, and the host makes the boxes.
  std::optional<DetectionHead> cut;
  bool chooses_boxes = false;  // box_choice.h
  // Boxes and classes of each scale, or the one output of a whole network.
  std::vector<EngineOutput> outputs;
};

// "fp16" or "fp32".
std::string PrecisionOf(const TensorRtModel& model);

// All but the outputs, and engines, and anchors of a whole network. Runs the end of the network
// once on the CPU to see whether it may be cut (head_check.h). Codes of ReadModelFile,
// DescribeMetadata and ResolveInput. `batches` as in GpuEngineOptions.
Result<TensorRtModel> ReadTensorRtModel(
    const std::string& path, const std::vector<int>& batches = GpuEngineOptions().batches);

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

// Under which name the folder of engines keeps it.
std::string EngineFile(const TensorRtLibrary& library, const GpuDevice& gpu, int batch,
                       const TensorRtModel& model);

}  // namespace lattice

#endif  // LATTICE_GPU_TENSORRT_TENSORRT_MODEL_H_
