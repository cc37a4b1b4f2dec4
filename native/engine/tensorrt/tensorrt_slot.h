// One place on a GPU where a slice of images can run: stream, memory, contexts, recorded graphs.
#ifndef LATTICE_ENGINE_TENSORRT_TENSORRT_SLOT_H_
#define LATTICE_ENGINE_TENSORRT_TENSORRT_SLOT_H_

#include <NvInfer.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "native/cuda/kernels/detection_kernels.h"
#include "native/cuda/kernels/device_image.h"
#include "native/cuda/owners.h"
#include "native/engine/engine.h"

namespace lattice {

struct TensorRtSlotOptions {
  std::vector<int> buckets;  // ascending; the engine's profiles in the same order
  Stream::Priority priority = Stream::Priority::kHigh;
  Event::WaitMode wait = Event::WaitMode::kSpin;
  Clock::duration patience = kGpuPatience;  // with a slice
};

// An image on its way: pixels in pinned memory or in a GPU's, and what it asks.
struct SlotImage {
  const Image* pixels = nullptr;
  LetterboxTransform transform;
  const DetectionOptions* options = nullptr;
  const GpuImage* on_gpu = nullptr;  // where set, the pixels: read in place if this GPU has them
};

// A slice is one launch: copies of what the images ask and where they lie, letterbox, network, box
// decode and the copy back are recorded in one graph a bucket. The graph reads sizes and options
// from memory, so it serves any images. One call at a time.
class TensorRtSlot {
 public:
  // For the thread's current GPU, which is `engine`'s too; records and warms every graph. `engine`
  // must outlive the slot. kOverloaded when the GPU's memory is short, kGpuLost as Run.
  static Result<std::unique_ptr<TensorRtSlot>> Create(nvinfer1::ICudaEngine& engine,
                                                      const ModelInfo& model,
                                                      const TensorRtSlotOptions& options);

  // Fills `found` with one entry an image. 1 <= images.size() <= the largest bucket. Blocks until
  // the GPU is done, where it fails as well: the images are not read any more. kGpuLost when it
  // faulted, or did not answer within the patience: then IsGpuLeft, and it may read the images and
  // write into this slot at any time, so neither may be freed or used again. The thread's current
  // GPU must be this slot's.
  Status Run(std::span<const SlotImage> images, std::vector<Detections>* found);

  size_t gpu_bytes() const;

 private:
  friend class SlotTimer;  // bench/native/slot_timer.h: times each stage alone

  struct Bucket {
    int batch = 0;
    std::unique_ptr<nvinfer1::IExecutionContext> context;
    GraphExec graph;
  };

  TensorRtSlot(nvinfer1::ICudaEngine& engine, const ModelInfo& model)
      : engine_(engine), model_(model) {}
  Status Allocate(const TensorRtSlotOptions& options);
  Status AddBucket(int profile, int batch);
  // All of a slice but its pixels, on the stream: run so, or recorded.
  Status Queue(const Bucket& bucket);
  HeadShape ShapeOf(int batch) const;
  Status Upload(std::span<const SlotImage> images, int batch);
  void Collect(size_t count, std::vector<Detections>* found) const;

  nvinfer1::ICudaEngine& engine_;
  const ModelInfo& model_;
  int gpu_ = -1;
  Clock::duration patience_{};
  Stream stream_;
  Event done_;
  DeviceBuffer arena_;  // the contexts' working memory: one runs at a time
  DeviceBuffer input_;
  DeviceBuffer head_;
  DeviceBuffer workspace_;
  DetectionWorkspace layout_{};
  // Images and requests of a slice, the requests right behind the bucket's images.
  PinnedBuffer asked_;
  DeviceBuffer asked_there_;
  DeviceBuffer results_there_;
  PinnedBuffer results_;
  DeviceBuffer pixels_;  // grows with the largest slice seen
  std::vector<Bucket> buckets_;
};

}  // namespace lattice

#endif  // LATTICE_ENGINE_TENSORRT_TENSORRT_SLOT_H_
