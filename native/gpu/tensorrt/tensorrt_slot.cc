#include "native/gpu/tensorrt/tensorrt_slot.h"

#include <cuda_fp16.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>
#include <utility>

#include "native/base/watched_call.h"
#include "native/gpu/cuda/cuda_status.h"
#include "native/gpu/jpeg/photo_sides.h"
#include "native/gpu/kernels/letterbox_kernel.h"
#include "native/gpu/tensorrt/tensorrt_logger.h"

namespace lattice {
namespace {

constexpr size_t kAskedBytes = sizeof(DeviceImage) + sizeof(DeviceRequest);

// Limit for one bucket: the first run of a network also loads its kernels.
constexpr std::chrono::minutes kLongestWarmUp{2};

// No score exceeds it, so an unused place of a batch yields no boxes.
constexpr float kUnreachable = 2.0f;

Status Refused(const std::string& what) {
  return TensorRtLogger::Get().Failure(StatusCode::kDetectionFailed, what);
}

// The name of the one input; the engine was checked to have one.
const char* InputOf(const nvinfer1::ICudaEngine& engine) {
  for (int32_t i = 0; i < engine.getNbIOTensors(); ++i) {
    const char* name = engine.getIOTensorName(i);
    if (engine.getTensorIOMode(name) == nvinfer1::TensorIOMode::kINPUT) return name;
  }
  return "";
}

template <typename Memory>
Status Take(size_t bytes, Memory* memory) {
  auto taken = Memory::Allocate(bytes);
  if (!taken.ok()) return taken.status();
  *memory = *std::move(taken);
  return {};
}

Detections Copied(const DeviceDetections& result) {
  Detections boxes;
  boxes.truncated = result.truncated != 0;
  const auto count = static_cast<size_t>(std::clamp(result.count, 0, kMostDetections));
  boxes.boxes.reserve(count);
  for (size_t row = 0; row < count; ++row) {
    const float* r = result.rows[row];
    boxes.boxes.push_back({r[0], r[1], r[2], r[3], r[4], r[5]});
  }
  return boxes;
}

// The host makes them of the output of a whole network, image `index` of the batch.
Detections BoxesOf(const TensorRtModel& model, const float* outputs, size_t index,
                   const SlotImage& image) {
  const std::vector<size_t>& shape = model.outputs[0].shape;
  const size_t count = shape[model.info.head.layout == HeadLayout::kFinal ? 0 : 1];
  HeadOutput output;
  output.rows = outputs + index * model.outputs[0].elements();
  output.count = static_cast<int>(count);
  return FindBoxes(model.info.head, output, image.transform, *image.options);
}

}  // namespace

Result<std::unique_ptr<TensorRtSlot>> TensorRtSlot::Create(const TensorRtModel& model,
                                                           const TensorRtSlotOptions& options) {
  std::unique_ptr<TensorRtSlot> slot(new TensorRtSlot(model));
  const Status allocated = slot->Allocate(options);
  if (!allocated.ok()) return allocated;
  for (Bucket& bucket : slot->buckets_) {
    const WatchedCall watched("warming up a network", kLongestWarmUp);
    const Status ready = slot->MakeReady(&bucket);
    if (!ready.ok()) return slot->EndQueued(ready);
  }
  return slot;
}

DeviceHead TensorRtSlot::HeadOf() const {
  DeviceHead head;
  head.classes = model_.info.head.classes;
  head.bins = model_.info.head.bins;
  head.one_to_one = model_.info.head.one_to_one ? 1 : 0;
  for (size_t i = 0; i < kHeadScales; ++i) {
    const std::vector<size_t>& boxes = model_.outputs[2 * i].shape;
    const auto columns = static_cast<int>(boxes[2]);
    head.strides[i] = model_.info.head.strides[i];
    head.scales[i] = {outputs_[2 * i].As<Half>(), outputs_[2 * i + 1].As<Half>(), columns,
                      static_cast<int>(boxes[1]) * columns};
  }
  return head;
}

Status TensorRtSlot::AllocateOutputs(size_t count) {
  for (const EngineOutput& output : model_.outputs) {
    const Status taken = Take(count * output.bytes(), &outputs_.emplace_back());
    if (!taken.ok()) return taken;
  }
  if (!model_.cut) return Take(count * model_.outputs[0].bytes(), &results_);
  const int anchors = HeadOf().anchors();
  const auto batch = static_cast<int>(count);
  return InOrder([&] { return Take(DetectionWorkspaceBytes(batch, anchors), &workspace_); },
                 [&] { return Take(count * sizeof(DeviceDetections), &results_there_); },
                 [&] { return Take(count * sizeof(DeviceDetections), &results_); },
                 [&] {
                   layout_ = LayOutWorkspace(workspace_.data(), batch, anchors);
                   return ToStatus(LoadDetectionKernels(), "loading the detection kernels");
                 },
                 [&] {
                   return ToStatus(ClearWorkspace(layout_, batch, stream_.get()),
                                   "clearing the workspace");
                 });
}

Status TensorRtSlot::Allocate(const TensorRtSlotOptions& options) {
  auto stream = Stream::Create(options.priority);
  if (!stream.ok()) return stream.status();
  stream_ = *std::move(stream);
  auto done = Event::Create(options.wait);
  if (!done.ok()) return done.status();
  done_ = *std::move(done);

  const auto count = static_cast<size_t>(options.engines.back().batch);
  const auto pixels =
      static_cast<size_t>(model_.info.input_width) * static_cast<size_t>(model_.info.input_height);
  int64_t arena = 0;
  for (const auto& [batch, engine] : options.engines) {
    Bucket& bucket = buckets_.emplace_back();
    bucket.engine = engine;
    bucket.batch = batch;
    arena = std::max(arena, engine->getDeviceMemorySizeForProfileV2(0));
  }
  return InOrder([&] { return Take(static_cast<size_t>(std::max<int64_t>(arena, 1)), &arena_); },
                 [&] { return Take(count * 3 * pixels * sizeof(__half), &input_); },
                 [&] { return Take(count * kAskedBytes, &asked_); },
                 [&] { return Take(count * kAskedBytes, &asked_there_); },
                 [&] { return Take(count * SlotPixels::Aligned(kUsualPhoto.bytes()), &pixels_); },
                 [&] { return ToStatus(LoadLetterboxKernel(), "loading the letterbox kernel"); },
                 [&] { return AllocateOutputs(count); });
}

Result<std::unique_ptr<nvinfer1::IExecutionContext>> TensorRtSlot::MakeContext(
    const Bucket& bucket) {
  // TensorRT promises nothing for two contexts of an engine that are created at the same time.
  static std::mutex creating;
  const std::lock_guard lock(creating);
  std::unique_ptr<nvinfer1::IExecutionContext> context(bucket.engine->createExecutionContext(
      nvinfer1::ExecutionContextAllocationStrategy::kUSER_MANAGED));
  if (!context) return Refused("TensorRT gave no execution context");
  context->setDeviceMemoryV2(arena_.data(), static_cast<int64_t>(arena_.size()));
  // Only the first context of an engine has it without being told.
  if (!context->setOptimizationProfileAsync(0, stream_.get())) {
    return Refused("TensorRT refused the engine's only profile");
  }
  const char* input = InputOf(*bucket.engine);
  const nvinfer1::Dims4 shape(bucket.batch, 3, model_.info.input_height, model_.info.input_width);
  bool set =
      context->setInputShape(input, shape) && context->setTensorAddress(input, input_.data());
  for (size_t i = 0; set && i < outputs_.size(); ++i) {
    set = context->setTensorAddress(model_.outputs[i].name.c_str(), outputs_[i].data());
  }
  if (set) return context;
  return Refused("TensorRT refused the tensors of a batch of " + std::to_string(bucket.batch));
}

Status TensorRtSlot::MakeReady(Bucket* bucket) {
  auto context = MakeContext(*bucket);
  if (!context.ok()) return context.status();
  bucket->context = *std::move(context);
  return Record(bucket);
}

Status TensorRtSlot::Record(Bucket* bucket) {
  // The first run is not recorded and has no images: in it TensorRT prepares what depends on the
  // shape and CUDA loads kernels, and a recording must contain neither.
  const Status ran = InOrder([&] { return Upload({}, bucket->batch); },
                             [&] { return Queue(*bucket); }, [&] { return stream_.Synchronize(); });
  if (!ran.ok()) return ran;
  auto graph = Graph::Capture(stream_, [&] { return Queue(*bucket); });
  if (!graph.ok()) return graph.status();
  bucket->graph = *std::move(graph);
  // A launch without images, so that the first batch takes no longer than later ones.
  return InOrder([&] { return bucket->graph.Launch(stream_); },
                 [&] { return stream_.Synchronize(); });
}

Status TensorRtSlot::EndQueued(const Status& failed) {
  if (failed.code() == StatusCode::kGpuLost) return failed;
  const Status rest = stream_.Synchronize();
  return rest.code() == StatusCode::kGpuLost ? rest : failed;
}

Status TensorRtSlot::Queue(const Bucket& bucket) {
  auto* images = asked_there_.As<DeviceImage>();
  return InOrder(
      [&] {
        return ToStatus(
            cudaMemcpyAsync(images, asked_.data(), static_cast<size_t>(bucket.batch) * kAskedBytes,
                            cudaMemcpyHostToDevice, stream_.get()),
            "queueing the copy of the requests");
      },
      [&] {
        return ToStatus(
            LaunchLetterbox(images, bucket.batch, model_.info.input_width, model_.info.input_height,
                            input_.As<__half>(), stream_.get()),
            "queueing the letterbox");
      },
      [&] {
        return bucket.context->enqueueV3(stream_.get()) ? Status()
                                                        : Refused("The network could not run");
      },
      [&] { return QueueBoxes(bucket.batch); }, [&] { return QueueResults(bucket.batch); });
}

Status TensorRtSlot::QueueBoxes(int batch) {
  if (!model_.cut) return {};
  const auto* requests =
      reinterpret_cast<const DeviceRequest*>(asked_there_.As<DeviceImage>() + batch);
  return ToStatus(LaunchDetections(HeadOf(), batch, requests, layout_,
                                   results_there_.As<DeviceDetections>(), stream_.get()),
                  "queueing the box decode");
}

Status TensorRtSlot::QueueResults(int batch) {
  const DeviceBuffer& from = model_.cut ? results_there_ : outputs_[0];
  const size_t one = model_.cut ? sizeof(DeviceDetections) : model_.outputs[0].bytes();
  return ToStatus(cudaMemcpyAsync(results_.data(), from.data(), static_cast<size_t>(batch) * one,
                                  cudaMemcpyDeviceToHost, stream_.get()),
                  "queueing the copy of the boxes");
}

// Queues the pixels and writes the requests that the graph copies.
Status TensorRtSlot::Upload(std::span<const SlotImage> images, int batch) {
  SlotPixels pixels(images);
  if (const size_t bytes = pixels.bytes(); bytes > pixels_.size()) {
    pixels_ = {};  // first, so that the GPU need not hold both; no batch is in work
    const Status taken = Take(bytes + bytes / 2, &pixels_);
    if (!taken.ok()) return taken;
  }
  const Status queued = pixels.Queue(pixels_.As<uint8_t>(), stream_);
  if (!queued.ok()) return queued;
  auto* asked = asked_.As<DeviceImage>();
  auto* requests = reinterpret_cast<DeviceRequest*>(asked + batch);
  for (size_t i = 0; i < images.size(); ++i) {
    asked[i] = pixels.Describe(images[i]);
    requests[i] = MakeDeviceRequest(*images[i].options, images[i].transform);
  }
  DetectionOptions unreachable;
  unreachable.confidence = kUnreachable;
  for (auto i = images.size(); i < static_cast<size_t>(batch); ++i) {
    asked[i] = {};
    requests[i] = MakeDeviceRequest(unreachable, {});
  }
  return {};
}

Status TensorRtSlot::Run(std::span<const SlotImage> images, std::vector<Detections>* found) {
  const auto fits = std::find_if(buckets_.begin(), buckets_.end(), [&](const Bucket& bucket) {
    return static_cast<size_t>(bucket.batch) >= images.size();
  });
  const Status ran = InOrder([&] { return Upload(images, fits->batch); },
                             [&] { return fits->graph.Launch(stream_); },
                             [&] { return done_.Record(stream_); }, [&] { return done_.Wait(); });
  if (!ran.ok()) return EndQueued(ran);
  Collect(images, found);
  return {};
}

void TensorRtSlot::Collect(std::span<const SlotImage> images,
                           std::vector<Detections>* found) const {
  found->assign(images.size(), {});
  for (size_t i = 0; i < images.size(); ++i) {
    (*found)[i] = model_.cut ? Copied(results_.As<DeviceDetections>()[i])
                             : BoxesOf(model_, results_.As<float>(), i, images[i]);
  }
}

}  // namespace lattice
