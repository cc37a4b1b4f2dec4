// A network on the CPU: floats in, the head's raw output out.
#ifndef LATTICE_ENGINE_OPENVINO_OPENVINO_NETWORK_H_
#define LATTICE_ENGINE_OPENVINO_OPENVINO_NETWORK_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "native/engine/engine.h"
#include "native/onnx/input_size.h"

namespace lattice {

// `input` is 3 * input_width * input_height floats of the caller's (aligned to 64 bytes it is used
// in place) and must outlive Run. Run sets `output` to (4 + classes) * anchors floats that the slot
// owns; they stay until the slot's next Run.
struct NetworkItem {
  const float* input = nullptr;
  const float* output = nullptr;
};

class OpenVinoNetwork;
struct OpenVinoModel;

// What one file was compiled to.
struct OpenVinoNetworks {
  // At the model's own input first, then at the rectangles in the order that they were asked for.
  std::vector<std::unique_ptr<OpenVinoNetwork>> networks;
  std::vector<std::string> without;  // why the others are not among them
  size_t memory_bytes = 0;           // about what they take together
};

// Within one slot calls must not overlap; slots are independent. An image's output does not depend
// on class and slot, on its neighbours in the batch or on their number.
class OpenVinoNetwork {
 public:
  // Reads the ONNX file, checks that it is a v8-layout detector (metadata task, one image input of
  // 3 channels, one output [batch, 4 + classes, anchors]) and compiles it at its own input and at
  // the rectangles of the options, but for those that are not smaller or that the network cannot be
  // changed to. kUnknownModel when there is no such file, kInvalidModel with what was found and
  // what is needed. Blocks for up to seconds. Library exceptions stop here.
  static Result<OpenVinoNetworks> Load(const std::string& path, const EngineOptions& options);
  ~OpenVinoNetwork();
  OpenVinoNetwork(const OpenVinoNetwork&) = delete;
  OpenVinoNetwork& operator=(const OpenVinoNetwork&) = delete;

  const ModelInfo& info() const { return info_; }
  int slots(WorkClass work_class) const;
  int max_batch() const { return batch_; }

  // As Engine::Run, on raw memory.
  Status Run(WorkClass work_class, int slot, std::span<NetworkItem> items);

 private:
  struct Slots;
  // Load, but for the memory that everything took.
  static Result<OpenVinoNetworks> LoadAll(const std::string& path, const EngineOptions& options);
  static Result<std::unique_ptr<OpenVinoNetwork>> Make(const OpenVinoModel& model,
                                                       const EngineOptions& options,
                                                       std::optional<InputSize> rectangle);
  OpenVinoNetwork(ModelInfo info, int batch, std::unique_ptr<Slots> slots);

  const ModelInfo info_;
  const int batch_;
  const std::unique_ptr<Slots> slots_;
};

// "2026.4.1..." of the library in use.
std::string OpenVinoVersion();

}  // namespace lattice

#endif  // LATTICE_ENGINE_OPENVINO_OPENVINO_NETWORK_H_
