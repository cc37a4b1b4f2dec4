// A loaded model, whatever runs it: pixels in, boxes out.
#ifndef LATTICE_ENGINE_ENGINE_H_
#define LATTICE_ENGINE_ENGINE_H_

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "native/base/status.h"
#include "native/image/decode.h"
#include "native/image/gpu_image.h"
#include "native/onnx/input_size.h"
#include "native/onnx/model_info.h"
#include "native/postprocess/detections.h"

namespace lattice {

// A caller waits for sync work; async work has lower priority.
enum class WorkClass { kSync, kAsync };

struct ClassOptions {
  int parallel = 1;  // batches that compute at the same time, each on its share of the threads
  int slots = 1;     // callers of Run at the same time, at least `parallel`
  int wide = 1;      // shares of a wide batch, at most `parallel`

  // Wide batches that compute at the same time.
  int wide_batches() const { return parallel / wide; }
};

// The threads of a batch: threads that share a network wait for each other at every layer. So an
// image alone is done sooner on many, and several images are done sooner on one share each.
enum class Width { kOneShare, kWide };

struct EngineOptions {
  std::string precision = "auto";  // auto | f32 | bf16; auto takes bf16 only where the CPU has it
  int threads = 1;                 // CPU threads of a class's batches together
  ClassOptions sync;
  ClassOptions async;
  bool async_yields = true;  // async batches compute only where no other thread wants the core
  size_t idle_inputs = 8;    // host inputs kept for later images
  // Smaller inputs beside the model's own: an image takes the smallest that holds it as it lies in
  // the model's own, which is less to compute. Without a list every smaller input of a model with
  // open sides, as the reference does; an empty list is none. CPU only.
  std::optional<std::vector<InputSize>> rectangles = std::nullopt;
};

// An image as its engine keeps it between a decode thread and its batch.
class EngineInput {
 public:
  virtual ~EngineInput() = default;
  // Host memory of pixels that it keeps.
  virtual size_t pixel_bytes() const { return 0; }
};

// One image of a batch; both must outlive the slot's last Detect of it.
struct EngineItem {
  EngineInput* input = nullptr;  // of the same engine's Prepare
  const DetectionOptions* options = nullptr;
};

// Run and Detect must not overlap within one slot; slots are independent. An image's boxes do not
// depend on class, slot and width, on its neighbours in the batch or on their number. No method
// throws.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual const ModelInfo& info() const = 0;
  // Slot numbers of a class are 0 to slots(work_class) - 1.
  virtual int slots(WorkClass work_class) const = 0;
  // Most images of one batch.
  virtual int max_batch(WorkClass work_class) const = 0;
  // Where Decode best puts the pixels of images for Prepare. Thread-safe; lives as long as the
  // process. It may wait for a driver: not for the event loop.
  virtual std::pmr::memory_resource* pixel_memory() = 0;
  // What Decode best makes of images for Prepare, which takes RGB too. Thread-safe.
  virtual PixelLayout pixel_layout() const { return PixelLayout::kRgb; }
  // The host's share of an image's way into the network. Thread-safe. kInternalError when memory is
  // short. The input must not outlive the engine.
  virtual Result<std::unique_ptr<EngineInput>> Prepare(Image image) = 0;
  // Whether decoders may leave pixels on a GPU, for PrepareOnGpu: the same for an image whose
  // memory the input keeps until its batch is done.
  virtual bool takes_gpu_images() const { return false; }
  virtual Result<std::unique_ptr<EngineInput>> PrepareOnGpu(GpuImage /*image*/) {
    return Status(StatusCode::kInternalError, "This engine reads no GPU's memory.");
  }
  // Blocks until the batch is done. 1 <= items.size() <= max_batch(work_class). The shares of all
  // running batches of a class together should be at most its `parallel`. kDetectionFailed with the
  // library's message. kGpuLost when the device faulted: the process cannot use it any more. A
  // device that hangs ends the process (native/base/watched_call.h).
  virtual Status Run(WorkClass work_class, int slot, Width width,
                     std::span<const EngineItem> items) = 0;
  // Boxes of one item of the slot's last Run, which succeeded.
  virtual Detections Detect(WorkClass work_class, int slot, size_t item) = 0;
};

}  // namespace lattice

#endif  // LATTICE_ENGINE_ENGINE_H_
