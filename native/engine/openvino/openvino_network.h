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

// `input`: 3 * input_width * input_height floats of the caller, which must outlive Run and are used
// in place if aligned to 64 bytes. Run sets `output` to (4 + classes) * anchors floats, which the
// slot owns and keeps until its next Run.
struct NetworkItem {
  const float* input = nullptr;
  const float* output = nullptr;
};

class OpenVinoNetwork;
struct OpenVinoModel;

// The compiled networks of one file.
struct OpenVinoNetworks {
  // The one of the model's own input first, then those of the rectangles in the order of the
  // options.
  std::vector<std::unique_ptr<OpenVinoNetwork>> networks;
  std::vector<std::string> without;  // for each rectangle that is missing, why
  size_t memory_bytes = 0;           // of all networks together, estimated
};

// Calls on one slot must not overlap; slots are independent. An image's output does not depend on
// class and slot, on the other images of the batch or on their number.
class OpenVinoNetwork {
 public:
  // Reads the ONNX file, checks that it is a detector of the v8 layout (metadata task, one image
  // input of 3 channels, one output [batch, 4 + classes, anchors]) and compiles it for its own
  // input and for each rectangle of the options that is smaller and to which the network can be
  // changed. kUnknownModel if there is no such file, kInvalidModel with what was found and what is
  // needed. Blocks for up to seconds. Does not throw.
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
  // As Load, without measuring the memory.
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
