// All that one batch needs on the GPU: stream, memory, contexts, recorded graphs.
#ifndef LATTICE_GPU_TENSORRT_TENSORRT_SLOT_H_
#define LATTICE_GPU_TENSORRT_TENSORRT_SLOT_H_

#include <NvInfer.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "native/engine/engine.h"
#include "native/gpu/cuda/owners.h"
#include "native/gpu/kernels/detection_kernels.h"
#include "native/gpu/tensorrt/slot_pixels.h"
#include "native/gpu/tensorrt/tensorrt_library.h"
#include "native/gpu/tensorrt/tensorrt_model.h"

namespace lattice {

// Runs batches of one size.
struct SizedEngine {
  int batch = 1;
  nvinfer1::ICudaEngine* engine = nullptr;
};

struct TensorRtSlotOptions {
  std::vector<SizedEngine> engines;  // ascending
  Stream::Priority priority = Stream::Priority::kHigh;
  Event::WaitMode wait = Event::WaitMode::kSpin;
};

// A batch is one launch: the copy of the requests, letterbox, network, box decode and the copy of
// the boxes are recorded in one graph per bucket. The graph reads image sizes and options from
// memory, so it serves any images. Of a network that runs whole the output is copied, and the host
// makes the boxes. One call at a time.
class TensorRtSlot {
 public:
  // Makes a slot on the thread's current GPU, to which the engines belong. Takes the memory of all
  // buckets, and makes and warms up the context and the graph of each. Engines and `model` must
  // outlive the slot. Fails with kOverloaded if the GPU has too little free memory, and with
  // kGpuLost like Run.
  static Result<std::unique_ptr<TensorRtSlot>> Create(const TensorRtModel& model,
                                                      const TensorRtSlotOptions& options);

  // Fills `found` with one entry per image. 1 <= images.size() <= the largest bucket. Takes memory
  // only for more pixels than any batch before it and than a full one of kUsualPhoto; kOverloaded
  // where there is none. Blocks until the GPU has ended the batch, also if it fails: then nothing
  // reads the images any more. kGpuLost when the GPU faulted. The thread's current GPU must be this
  // slot's.
  Status Run(std::span<const SlotImage> images, std::vector<Detections>* found);

 private:
  friend class SlotTimer;  // bench/native/slot_timer.h: times each stage alone

  struct Bucket {
    nvinfer1::ICudaEngine* engine = nullptr;
    int batch = 0;
    std::unique_ptr<nvinfer1::IExecutionContext> context;
    Graph graph;
  };

  explicit TensorRtSlot(const TensorRtModel& model) : model_(model) {}
  Status Allocate(const TensorRtSlotOptions& options);
  Status AllocateOutputs(size_t count);
  // Makes context and graph.
  Status MakeReady(Bucket* bucket);
  // The first run of a context, then its graph.
  Status Record(Bucket* bucket);
  // After a failure: waits for what was queued before it, which may still read images or use a
  // context, whose memory is about to be freed or used again. `failed`, or kGpuLost.
  Status EndQueued(const Status& failed);
  Result<std::unique_ptr<nvinfer1::IExecutionContext>> MakeContext(const Bucket& bucket);
  // Queues all of a batch except its pixels on the stream, to be run or recorded.
  Status Queue(const Bucket& bucket);
  Status QueueBoxes(int batch);    // nothing where the host makes them
  Status QueueResults(int batch);  // the copy to the host
  DeviceHead HeadOf() const;
  Status Upload(std::span<const SlotImage> images, int batch);
  void Collect(std::span<const SlotImage> images, std::vector<Detections>* found) const;

  const TensorRtModel& model_;
  Stream stream_;
  Event done_;
  DeviceBuffer arena_;  // working memory that the contexts share: one runs at a time
  DeviceBuffer input_;
  std::vector<DeviceBuffer> outputs_;  // of the network, one each of the model's outputs
  DeviceBuffer workspace_;
  DetectionWorkspace layout_{};
  // Images and requests of a batch; the requests follow the bucket's images.
  PinnedBuffer asked_;
  DeviceBuffer asked_there_;
  DeviceBuffer results_there_;
  PinnedBuffer results_;         // DeviceDetections, or the output of a whole network
  DeviceBuffer pixels_;          // grows with larger batches
  std::vector<Bucket> buckets_;  // ascending
};

}  // namespace lattice

#endif  // LATTICE_GPU_TENSORRT_TENSORRT_SLOT_H_
