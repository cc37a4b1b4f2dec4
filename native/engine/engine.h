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
#include "native/base/stopwatch.h"
#include "native/image/decode.h"
#include "native/image/gpu_image.h"
#include "native/onnx/input_size.h"
#include "native/onnx/model_info.h"
#include "native/postprocess/detections.h"

namespace lattice {

// Two ways through one network. A sync slice is done soon; async slices are many and step aside.
enum class Lane { kSync, kAsync };

struct LaneOptions {
  int parallel = 1;  // slices that compute at the same time
  int slots = 1;     // callers of Run at the same time, at least `parallel`
};

struct EngineOptions {
  std::string precision = "auto";  // auto | f32 | bf16; auto takes bf16 only where the CPU has it
  int threads = 1;                 // CPU threads of a lane's slices together
  LaneOptions sync;
  LaneOptions async;
  bool async_yields = true;  // async slices compute only where no other thread wants the core
  size_t idle_inputs = 8;    // host inputs kept for later images
  // Smaller inputs beside the model's own: an image takes the smallest that holds it as it lies in
  // the model's own, which is less to compute and changes its boxes a little. CPU only.
  std::vector<InputSize> rectangles = {};
};

// An image as its engine keeps it between a decode thread and its slice.
class EngineInput {
 public:
  virtual ~EngineInput() = default;
  // The GPU in whose memory its pixels lie, and which alone can run it; -1: any device.
  virtual int gpu() const { return -1; }
  // Host memory of decoded pixels that it keeps.
  virtual size_t pixel_bytes() const { return 0; }
};

// Where slices run: a GPU, or the CPU as a whole.
struct EngineDevice {
  int index = 0;  // as CUDA counts in this process; 0 for the CPU
  std::string name;
};

// One image of a slice; both must outlive the slot's last Detect of it.
struct EngineItem {
  EngineInput* input = nullptr;  // of the same engine's Prepare
  const DetectionOptions* options = nullptr;
};

// Run and Detect must not overlap within one slot; slots are independent. An image's boxes do not
// depend on lane and slot, on its neighbours in the slice or on their number. No method throws.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual const ModelInfo& info() const = 0;
  // Never changes, the same ones in the same order for every model of this process.
  virtual std::vector<EngineDevice> devices() const { return {{0, info().device}}; }
  // Slot numbers of a lane are 0 to slots(lane) - 1, an equal share for each device in turn.
  virtual int slots(Lane lane) const = 0;
  // Most images of one slice.
  virtual int max_batch(Lane lane) const = 0;
  // Where Decode best puts the pixels of images for Prepare. Thread-safe; lives as long as the
  // process.
  virtual std::pmr::memory_resource* pixel_memory() = 0;
  // The same for threads that may wait for no driver: gives memory at once, and the best where some
  // of it lies idle.
  virtual std::pmr::memory_resource* ready_pixel_memory() { return pixel_memory(); }
  // What Decode best makes of images for Prepare, which takes RGB too. Thread-safe.
  virtual PixelLayout pixel_layout() const { return PixelLayout::kRgb; }
  // The host's share of an image's way into the network. Thread-safe. kInternalError when memory is
  // short. The input must not outlive the engine.
  virtual Result<std::unique_ptr<EngineInput>> Prepare(Image image) = 0;
  // Whether decoders may leave pixels on a GPU, for PrepareOnGpu: the same for an image whose
  // memory the input keeps until its slice is done.
  virtual bool takes_gpu_images() const { return false; }
  virtual Result<std::unique_ptr<EngineInput>> PrepareOnGpu(GpuImage /*image*/) {
    return Status(StatusCode::kInternalError, "This engine reads no GPU's memory.");
  }
  // Blocks until the slice is done. 1 <= items.size() <= max_batch(lane). kDetectionFailed with the
  // library's words. kGpuLost when the slot's device faulted or did not end the slice within the
  // engine's patience, now or before: its slots answer that from then on, and the items can run on
  // another device. An engine keeps for ever what a device that hangs may still read.
  virtual Status Run(Lane lane, int slot, std::span<const EngineItem> items) = 0;
  // A Run that takes longer stands in a call that does not return: then its device is lost, and the
  // items can run on another one while the engine still reads them. Long enough for the engine's
  // own verdict. None: a Run may take as long as it likes.
  virtual std::optional<Clock::duration> longest_run() const { return std::nullopt; }
  // Boxes of one item of the slot's last Run, which succeeded.
  virtual Detections Detect(Lane lane, int slot, size_t item) = 0;
};

}  // namespace lattice

#endif  // LATTICE_ENGINE_ENGINE_H_
