// A loaded model, whatever runs it: pixels in, boxes out.
#ifndef LATTICE_ENGINE_ENGINE_H_
#define LATTICE_ENGINE_ENGINE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "native/base/status.h"
#include "native/boxes/detections.h"
#include "native/image/encoded_image.h"
#include "native/image/picture_view.h"
#include "native/model/input_size.h"
#include "native/model/model_info.h"

namespace lattice {

// A caller waits for sync work; async work has lower priority.
enum class WorkClass { kSync, kAsync };

struct ClassOptions {
  int slots = 1;  // callers of Run at the same time, each on its group of the threads
  int wide = 1;   // slots that a wide batch takes; divides `slots`
};

// The threads of a batch: one group, or those of several slots. Threads that share a network wait
// for each other at every layer: one image is done sooner on many threads, and several images are
// done sooner side by side, each on one group.
enum class Width { kOneShare, kWide };

struct EngineOptions {
  std::string precision = "auto";  // auto | f32 | bf16; auto takes bf16 only where the CPU has it
  int threads = 1;                 // CPU threads of a class's batches together
  ClassOptions sync;
  ClassOptions async;
  bool async_yields = true;  // async batches compute only where no other thread wants the core
  // Other models serve meanwhile: the load gives way to their images. CPU only.
  bool beside_others = false;
  size_t idle_inputs = 8;  // host inputs kept for later images, at most
  // Folder of compiled networks, made if its parent exists; "" compiles on each load. CPU only.
  std::string kept_folder = {};
  // The size of all compiled networks in that folder together; those in use may be more. CPU only.
  size_t most_kept_bytes = size_t{2} << 30;
  bool anew = false;  // compiles although there is a network, which is replaced. CPU only.
  // Smaller inputs beside the model's own: an image takes the smallest that holds it at the scale
  // that it would have in the model's own, which is less to compute. Without a list those of the
  // usual shapes of pictures, for a model whose file leaves the sides variable; an empty list is
  // none. CPU only.
  std::optional<std::vector<InputSize>> rectangles = std::nullopt;
};

// kCpuAfterHardware: the GPU's JPEG engines had tried and failed.
enum class DecodedBy { kNobody, kCpu, kHardware, kCpuAfterHardware };

// An image as its engine keeps it between a decode thread and its batch.
struct EngineInput {
  virtual ~EngineInput() = default;
  // Host memory of pixels that it alone keeps.
  virtual size_t pixel_bytes() const { return 0; }

  // Host memory of pixels that it keeps together with the other parts of its picture.
  size_t shared_bytes = 0;
  int width = 0;  // of the oriented source image
  int height = 0;
  DecodedBy decoded_by = DecodedBy::kNobody;
  double decode_ms = 0;
  double preprocess_ms = 0;  // from pixels to this input
};

using EngineInputs = std::vector<std::unique_ptr<EngineInput>>;

// One image of a batch; both must outlive the slot's last Detect of it.
struct EngineItem {
  EngineInput* input = nullptr;  // of the same engine's Take
  const DetectionOptions* options = nullptr;
};

// Receives the progress (0 to 1) of a build, which takes minutes; returning false cancels it.
// Called while the loading thread waits, by one thread at a time, which may be another one.
using OnEngineBuild = std::function<bool(double progress)>;

// Run and Detect must not overlap within the slots that they take; others are independent. An
// image's boxes do not depend on class, slot and width, on its neighbours in the batch or on their
// number. No method throws.
class Engine {
 public:
  virtual ~Engine() = default;
  // Constant. Thread-safe.
  virtual const ModelInfo& info() const = 0;
  // Must not run at the same time as AddBatches.
  virtual LoadedBatches batches() const { return {}; }
  // Loads the engines of more batch sizes of `batches().engines`, all or none of them. Run goes on
  // meanwhile; a batch waits no longer than it takes to exchange pointers. `max_batch` never falls.
  // Not beside another call of it or of `batches`. Codes of LoadGpuEngine.
  virtual Status AddBatches(std::span<const int> batches, const OnEngineBuild& on_build);
  // Slot numbers of a class are 0 to slots(work_class) - 1.
  virtual int slots(WorkClass work_class) const = 0;
  // Neighbouring slots that a wide batch takes, the first at a multiple of their number. Run is
  // told the first.
  virtual int wide_slots(WorkClass work_class) const = 0;
  // Most images of one batch.
  virtual int max_batch(WorkClass work_class) const = 0;
  // Bytes of pixels that Take will need on the host, by the file's header; 0 where it does not say.
  // Thread-safe.
  virtual size_t ExpectedBytes(const EncodedImage& encoded, const DecodeLimits& limits) const = 0;
  // The host's part of the work on an image before the network: decodes it to where this engine
  // reads it best. Thread-safe; may wait for a driver. Codes of Decode (native/image/decode.h),
  // kGpuLost as Run, kInternalError when memory is short. The input must not outlive the engine.
  virtual Result<std::unique_ptr<EngineInput>> Take(const EncodedImage& encoded,
                                                    const DecodeLimits& limits) = 0;
  // The same for decoded pixels: an input of each of `parts`, in their order. The parts lie in the
  // picture; of one in planes the only part is the whole.
  virtual Result<EngineInputs> Take(Image picture, std::span<const Rect> parts) = 0;
  // The memory into which a caller decodes pictures that it gives as pixels; pictures elsewhere may
  // have to be copied. Thread-safe; lives as long as the engine.
  virtual std::pmr::memory_resource& pixel_memory() = 0;
  // Blocks until the batch is done. 1 <= items.size() <= max_batch(work_class). The slots of all
  // running batches of a class together are at most its `slots`. kDetectionFailed with the
  // library's message. kGpuLost when the device faulted: the process cannot use it any more. A
  // device that hangs ends the process (native/base/watched_call.h).
  virtual Status Run(WorkClass work_class, int slot, Width width,
                     std::span<const EngineItem> items) = 0;
  // Boxes of one item of the slot's last Run, which succeeded.
  virtual Detections Detect(WorkClass work_class, int slot, size_t item) = 0;
};

inline Status Engine::AddBatches(std::span<const int> /*batches*/,
                                 const OnEngineBuild& /*on_build*/) {
  return {StatusCode::kInternalError, "This engine runs batches of one size."};
}

}  // namespace lattice

#endif  // LATTICE_ENGINE_ENGINE_H_
