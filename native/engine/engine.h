// A loaded model, whatever runs it: pixels in, boxes out.
#ifndef LATTICE_ENGINE_ENGINE_H_
#define LATTICE_ENGINE_ENGINE_H_

#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "native/base/status.h"
#include "native/image/decode.h"
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
};

// An image as its engine keeps it between a decode thread and its slice.
class EngineInput {
 public:
  virtual ~EngineInput() = default;
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
  // Slot numbers of a lane are 0 to slots(lane) - 1.
  virtual int slots(Lane lane) const = 0;
  // Most images of one slice.
  virtual int max_batch(Lane lane) const = 0;
  // Where Decode best puts the pixels of images for Prepare. Thread-safe; lives as long as the
  // process.
  virtual std::pmr::memory_resource* pixel_memory() = 0;
  // The host's share of an image's way into the network. Thread-safe. kInternalError when memory is
  // short. The input must not outlive the engine.
  virtual Result<std::unique_ptr<EngineInput>> Prepare(Image image) = 0;
  // Blocks until the slice is done. 1 <= items.size() <= max_batch(lane). kDetectionFailed with the
  // library's words.
  virtual Status Run(Lane lane, int slot, std::span<const EngineItem> items) = 0;
  // Boxes of one item of the slot's last Run, which succeeded.
  virtual Detections Detect(Lane lane, int slot, size_t item) = 0;
};

}  // namespace lattice

#endif  // LATTICE_ENGINE_ENGINE_H_
