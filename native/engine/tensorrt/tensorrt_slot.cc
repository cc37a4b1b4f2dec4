#include "native/engine/tensorrt/tensorrt_slot.h"

#include <cuda_fp16.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "native/cuda/cuda_status.h"
#include "native/cuda/kernels/letterbox_kernel.h"
#include "native/engine/tensorrt/tensorrt_logger.h"

namespace lattice {
namespace {

constexpr size_t kAskedBytes = sizeof(DeviceImage) + sizeof(DeviceRequest);
constexpr size_t kPixelAlignment = 256;

// The first run of a network also loads its kernels.
constexpr std::chrono::minutes kWarmingPatience{2};

// No score exceeds it, so an unused place of a batch yields no boxes.
constexpr float kUnreachable = 2.0f;

Status Refused(const std::string& what) {
  return TensorRtLogger::Get().Failure(StatusCode::kDetectionFailed, what);
}

// The name of the one tensor of this mode; the engine was checked to have one.
const char* TensorOf(const nvinfer1::ICudaEngine& engine, nvinfer1::TensorIOMode mode) {
  for (int32_t i = 0; i < engine.getNbIOTensors(); ++i) {
    const char* name = engine.getIOTensorName(i);
    if (engine.getTensorIOMode(name) == mode) return name;
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

size_t Aligned(size_t bytes) {
  return (bytes + kPixelAlignment - 1) / kPixelAlignment * kPixelAlignment;
}

// Bytes of the slot's memory for an image's pixels; 0 if they are read in place.
size_t UploadBytes(const SlotImage& image) {
  return image.on_gpu == nullptr ? Aligned(image.pixels->data.size()) : 0;
}

DeviceImage DescribePlanes(const GpuImage& planes, const LetterboxTransform& transform) {
  DeviceImage image{};
  image.transform = transform;
  image.layout = PixelLayout::kYuv420;
  image.orientation = planes.orientation;
  for (size_t i = 0; i < 3; ++i) {
    image.planes[i] = planes.planes[i];
    image.pitches[i] = planes.pitches[i];
  }
  return image;
}

// Queues the copy of an image's pixels to `there`, unless they are read in place, and describes
// where the kernels find them.
Status QueuePixels(const SlotImage& image, const Stream& stream, uint8_t* there,
                   DeviceImage* placed) {
  if (image.on_gpu != nullptr) {
    *placed = DescribePlanes(*image.on_gpu, image.transform);
    return {};
  }
  const Image& pixels = *image.pixels;
  *placed = DescribeImage(there, pixels, image.transform);
  return ToStatus(cudaMemcpyAsync(there, pixels.data.data(), pixels.data.size(),
                                  cudaMemcpyHostToDevice, stream.get()),
                  "copying an image to the GPU");
}

}  // namespace

Result<std::unique_ptr<TensorRtSlot>> TensorRtSlot::Create(nvinfer1::ICudaEngine& engine,
                                                           const ModelInfo& model,
                                                           const TensorRtSlotOptions& options) {
  if (!IsServed({1, static_cast<int>(model.names.size()), model.anchors})) {
    return Status(StatusCode::kInvalidModel,
                  "The model has " + std::to_string(model.names.size()) + " classes and " +
                      std::to_string(model.anchors) + " anchors; a GPU serves at most " +
                      std::to_string(kMostClasses) + " and " + std::to_string(kMostAnchors) + ".");
  }
  std::unique_ptr<TensorRtSlot> slot(new TensorRtSlot(engine, model));
  Status made = slot->Allocate(options);
  for (size_t i = 0; made.ok() && i < options.buckets.size(); ++i) {
    made = slot->AddBucket(static_cast<int>(i), options.buckets[i]);
  }
  if (!made.ok()) return made;
  return slot;
}

HeadShape TensorRtSlot::ShapeOf(int batch) const {
  return {batch, static_cast<int>(model_.names.size()), model_.anchors};
}

Status TensorRtSlot::Allocate(const TensorRtSlotOptions& options) {
  patience_ = options.patience;
  auto stream = Stream::Create(options.priority);
  if (!stream.ok()) return stream.status();
  stream_ = *std::move(stream);
  auto done = Event::Create(options.wait);
  if (!done.ok()) return done.status();
  done_ = *std::move(done);

  const int most = options.buckets.back();
  const auto count = static_cast<size_t>(most);
  const auto pixels =
      static_cast<size_t>(model_.input_width) * static_cast<size_t>(model_.input_height);
  const auto rows = static_cast<size_t>(4 + model_.names.size());
  int64_t arena = 0;
  for (size_t i = 0; i < options.buckets.size(); ++i) {
    arena = std::max(arena, engine_.getDeviceMemorySizeForProfileV2(static_cast<int32_t>(i)));
  }
  const Status taken = InOrder(
      [&] { return Take(static_cast<size_t>(std::max<int64_t>(arena, 1)), &arena_); },
      [&] { return Take(count * 3 * pixels * sizeof(__half), &input_); },
      [&] {
        return Take(count * rows * static_cast<size_t>(model_.anchors) * sizeof(float), &head_);
      },
      [&] { return Take(DetectionWorkspaceBytes(ShapeOf(most)), &workspace_); },
      [&] { return Take(count * kAskedBytes, &asked_); },
      [&] { return Take(count * kAskedBytes, &asked_there_); },
      [&] { return Take(count * sizeof(DeviceDetections), &results_there_); },
      [&] { return Take(count * sizeof(DeviceDetections), &results_); });
  if (!taken.ok()) return taken;
  layout_ = LayOutWorkspace(workspace_.data(), ShapeOf(most));
  return InOrder([] { return ToStatus(LoadLetterboxKernel(), "loading the letterbox kernel"); },
                 [] { return ToStatus(LoadDetectionKernels(), "loading the detection kernels"); },
                 [&] {
                   return ToStatus(ClearWorkspace(layout_, ShapeOf(most), stream_.get()),
                                   "clearing the workspace");
                 });
}

Status TensorRtSlot::AddBucket(int profile, int batch) {
  Bucket bucket;
  bucket.batch = batch;
  bucket.context.reset(
      engine_.createExecutionContext(nvinfer1::ExecutionContextAllocationStrategy::kUSER_MANAGED));
  if (!bucket.context) return Refused("TensorRT gave no execution context");
  nvinfer1::IExecutionContext& context = *bucket.context;
  context.setDeviceMemoryV2(arena_.data(), static_cast<int64_t>(arena_.size()));
  if (!context.setOptimizationProfileAsync(profile, stream_.get())) {
    return Refused("TensorRT refused its profile " + std::to_string(profile));
  }
  const char* input = TensorOf(engine_, nvinfer1::TensorIOMode::kINPUT);
  const char* output = TensorOf(engine_, nvinfer1::TensorIOMode::kOUTPUT);
  const nvinfer1::Dims4 shape(batch, 3, model_.input_height, model_.input_width);
  if (!context.setInputShape(input, shape) || !context.setTensorAddress(input, input_.data()) ||
      !context.setTensorAddress(output, head_.data())) {
    return Refused("TensorRT refused the tensors of a batch of " + std::to_string(batch));
  }
  // The first run is not recorded and has no images: in it TensorRT prepares what depends on the
  // shape and CUDA loads kernels, and a recording must contain neither.
  const Status ran = InOrder([&] { return Upload({}, batch); }, [&] { return Queue(bucket); },
                             [&] { return stream_.Synchronize(kWarmingPatience); });
  if (!ran.ok()) return ran;
  auto graph = Graph::Capture(stream_, [&] { return Queue(bucket); });
  if (!graph.ok()) return graph.status();
  auto ready = GraphExec::Instantiate(*graph);
  if (!ready.ok()) return ready.status();
  bucket.graph = *std::move(ready);
  buckets_.push_back(std::move(bucket));
  // One launch without images, so that the first batch takes no longer than later ones.
  return InOrder([&] { return buckets_.back().graph.Upload(stream_); },
                 [&] { return buckets_.back().graph.Launch(stream_); },
                 [&] { return stream_.Synchronize(); });
}

Status TensorRtSlot::Queue(const Bucket& bucket) {
  const auto count = static_cast<size_t>(bucket.batch);
  auto* images = asked_there_.As<DeviceImage>();
  auto* requests = reinterpret_cast<DeviceRequest*>(images + count);
  const HeadShape shape = ShapeOf(bucket.batch);
  return InOrder(
      [&] {
        return ToStatus(cudaMemcpyAsync(images, asked_.data(), count * kAskedBytes,
                                        cudaMemcpyHostToDevice, stream_.get()),
                        "queueing the copy of the requests");
      },
      [&] {
        return ToStatus(LaunchLetterbox(images, bucket.batch, model_.input_width,
                                        model_.input_height, input_.As<__half>(), stream_.get()),
                        "queueing the letterbox");
      },
      [&] {
        return bucket.context->enqueueV3(stream_.get()) ? Status()
                                                        : Refused("The network could not run");
      },
      [&] {
        return ToStatus(LaunchDetections(head_.As<float>(), shape, requests, layout_,
                                         results_there_.As<DeviceDetections>(), stream_.get()),
                        "queueing the box decode");
      },
      [&] {
        return ToStatus(cudaMemcpyAsync(results_.data(), results_there_.data(),
                                        count * sizeof(DeviceDetections), cudaMemcpyDeviceToHost,
                                        stream_.get()),
                        "queueing the copy of the boxes");
      });
}

// Queues the pixels and writes the requests that the graph copies.
Status TensorRtSlot::Upload(std::span<const SlotImage> images, int batch) {
  size_t bytes = 0;
  for (const SlotImage& image : images) bytes += UploadBytes(image);
  if (bytes > pixels_.size()) {
    DeviceBuffer grown;
    const Status taken = Take(bytes + bytes / 2, &grown);
    if (!taken.ok()) return taken;
    pixels_ = std::move(grown);
  }
  auto* asked = asked_.As<DeviceImage>();
  auto* requests = reinterpret_cast<DeviceRequest*>(asked + batch);
  auto* there = pixels_.As<uint8_t>();
  for (size_t i = 0; i < images.size(); ++i) {
    const Status queued = QueuePixels(images[i], stream_, there, &asked[i]);
    if (!queued.ok()) return queued;
    requests[i] = MakeDeviceRequest(*images[i].options, images[i].transform);
    there += UploadBytes(images[i]);
  }
  for (auto i = images.size(); i < static_cast<size_t>(batch); ++i) {
    asked[i] = {};
    requests[i] = {};
    requests[i].confidence = kUnreachable;
  }
  return {};
}

Status TensorRtSlot::Run(std::span<const SlotImage> images, std::vector<Detections>* found) {
  const auto fits = std::find_if(buckets_.begin(), buckets_.end(), [&](const Bucket& bucket) {
    return static_cast<size_t>(bucket.batch) >= images.size();
  });
  const Status ran = InOrder(
      [&] { return Upload(images, fits->batch); }, [&] { return fits->graph.Launch(stream_); },
      [&] { return done_.Record(stream_); }, [&] { return done_.Wait(patience_); });
  if (!ran.ok()) {
    if (ran.code() == StatusCode::kGpuLost) return ran;
    // Queued work may still read the images, whose memory is about to be used again.
    const Status rest = stream_.Synchronize(patience_);
    return rest.code() == StatusCode::kGpuLost ? rest : ran;
  }
  Collect(images.size(), found);
  return {};
}

void TensorRtSlot::Collect(size_t count, std::vector<Detections>* found) const {
  const auto* results = results_.As<DeviceDetections>();
  found->assign(count, {});
  for (size_t i = 0; i < count; ++i) {
    Detections& one = (*found)[i];
    one.truncated = results[i].truncated != 0;
    const auto boxes = static_cast<size_t>(std::clamp(results[i].count, 0, kMostDetections));
    one.boxes.reserve(boxes);
    for (size_t row = 0; row < boxes; ++row) {
      const float* r = results[i].rows[row];
      one.boxes.push_back({r[0], r[1], r[2], r[3], r[4], r[5]});
    }
  }
}

}  // namespace lattice
