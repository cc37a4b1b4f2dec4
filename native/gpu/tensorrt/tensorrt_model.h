// A model file as a GPU runs it. Needs no GPU, and no CUDA.
#ifndef LATTICE_GPU_TENSORRT_TENSORRT_MODEL_H_
#define LATTICE_GPU_TENSORRT_TENSORRT_MODEL_H_

#include <optional>
#include <string>
#include <vector>

#include "native/gpu/gpu_engine.h"
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
  std::string onnx;          // of InKnownLayout
  ModelInfo info;            // without device
  std::vector<int> buckets;  // batch sizes, ascending
  // The head at which the network is cut: the GPU makes the boxes from its tensors, in FP16.
  // nullopt: the network runs whole, in FP32, and the host makes the boxes.
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

}  // namespace lattice

#endif  // LATTICE_GPU_TENSORRT_TENSORRT_MODEL_H_
