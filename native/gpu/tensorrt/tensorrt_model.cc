#include "native/gpu/tensorrt/tensorrt_model.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "native/cpu/head_check.h"
#include "native/gpu/kernels/device_detections.h"
#include "native/gpu/tensorrt/gpu_network.h"
#include "native/layouts/known_layout.h"
#include "native/model/box_choice.h"
#include "native/model/model_description.h"
#include "native/model/model_file.h"
#include "native/model/onnx_reader.h"

namespace lattice {
namespace {

// Inputs of the network that are no weights: old files list those too.
std::vector<Shape> InputShapes(const OnnxModel& model) {
  std::vector<Shape> shapes;
  for (const OnnxValueInfo& input : model.graph.inputs) {
    const bool is_weight =
        std::any_of(model.graph.initializers.begin(), model.graph.initializers.end(),
                    [&](const OnnxTensor& tensor) { return tensor.name == input.name; });
    if (!is_weight) shapes.push_back(input.Shape());
  }
  return shapes;
}

// Cuts the network where that gives the same boxes and the kernels serve them.
void Cut(const OnnxModel& network, const Shape& input, TensorRtModel* model) {
  const auto classes = static_cast<int>(model->info.names.size());
  model->cut = FindDetectionHead(network, classes);
  const auto head = model->cut ? CheckHead(model->onnx, *model->cut, input, classes) : std::nullopt;
  model->info.head.classes = classes;
  if (!head) {
    model->cut.reset();
    return;
  }
  int anchors = 0;
  for (const int stride : head->strides) {
    anchors += model->info.input_width / stride * (model->info.input_height / stride);
  }
  if (!IsServed(classes, anchors)) {
    model->cut.reset();
    return;
  }
  model->info.head = *head;
}

// A fixed batch is opened where the network allows it: the usual export fixes 1.
void SetBuckets(const OnnxModel& network, const std::vector<int>& batches, TensorRtModel* model) {
  model->buckets = batches;
  if (model->info.fixed_batch == 0) return;
  const std::string held = BatchHeldBy(network, model->cut);
  if (held.empty()) {
    model->info.fixed_batch = 0;
    return;
  }
  model->buckets = {model->info.fixed_batch};
  model->info.without.push_back("It runs batches of " + std::to_string(model->info.fixed_batch) +
                                " only, which is slow on a GPU. " + held +
                                " Export it with dynamic=True.");
}

}  // namespace

size_t EngineOutput::elements() const {
  return std::accumulate(shape.begin(), shape.end(), size_t{1}, std::multiplies<>());
}

std::string PrecisionOf(const TensorRtModel& model) { return model.cut ? "fp16" : "fp32"; }

Result<TensorRtModel> ReadTensorRtModel(const std::string& path, const std::vector<int>& batches) {
  auto file = ReadDescribedModel(path);
  if (!file.ok()) return file.status();
  TensorRtModel model;
  model.name = std::filesystem::path(path).filename().string();
  model.info = std::move(file->info);
  model.onnx = InKnownLayout(std::move(file->bytes), &model.info);
  const auto network = ReadOnnxModel(BytesOf(model.onnx));
  if (!network.ok()) return network.status();
  const auto input = ResolveInput(InputShapes(*network), model.info);
  if (!input.ok()) return input.status();
  Cut(*network, *input, &model);
  model.chooses_boxes = ChoosesBoxes(network->graph);
  SetBuckets(*network, batches, &model);
  return model;
}

}  // namespace lattice
