// A network on the CPU: pixels in, the head's outputs out.
#ifndef LATTICE_CPU_OPENVINO_NETWORK_H_
#define LATTICE_CPU_OPENVINO_NETWORK_H_

#include <algorithm>
#include <memory>
#include <span>
#include <string>

#include "native/base/scoped_fd.h"
#include "native/boxes/detections.h"
#include "native/engine/engine.h"
#include "native/model/input_size.h"

namespace lattice {

// `input`: 3 * size.width * size.height numbers of the caller, which must outlive Run: bytes where
// the network's byte_input says so, else floats. A batch of one image uses them in place if they
// are aligned to 64 bytes. Run sets `output`, whose numbers the slot owns and keeps until its next
// Run.
struct NetworkItem {
  const void* input = nullptr;
  InputSize size;
  HeadOutput output = {};
};

// Calls must not overlap within the slots that they take; others are independent. An image's output
// depends on its pixels and its size alone: not on class, slot and width, nor on what ran before.
class OpenVinoNetwork {
 public:
  // Reads the ONNX file, checks that it is a detector (metadata task, one image input of 3
  // channels, an output of a known HeadLayout), cuts it at its head where the core can do the rest,
  // and compiles it. kUnknownModel if there is no such file, kInvalidModel with what was found and
  // what is needed. Blocks for up to seconds. Does not throw.
  static Result<std::unique_ptr<OpenVinoNetwork>> Load(const std::string& path,
                                                       const EngineOptions& options);
  ~OpenVinoNetwork();
  OpenVinoNetwork(const OpenVinoNetwork&) = delete;
  OpenVinoNetwork& operator=(const OpenVinoNetwork&) = delete;

  const ModelInfo& info() const { return info_; }
  size_t memory_bytes() const { return memory_bytes_; }
  int slots(WorkClass work_class) const;
  int wide_slots(WorkClass work_class) const;  // as Engine::wide_slots
  // The largest batch: one image, or the model's fixed batch.
  int max_batch() const { return std::max(1, info_.fixed_batch); }

  // Like Engine::Run, but on raw memory. Each item has the model's own size, or one of its
  // rectangles.
  Status Run(WorkClass work_class, int slot, Width width, std::span<NetworkItem> items);

 private:
  struct Slots;
  // Like Load, but does not measure the memory. Throws what the library throws.
  static Result<std::unique_ptr<OpenVinoNetwork>> Make(const std::string& path,
                                                       const EngineOptions& options);
  OpenVinoNetwork(ModelInfo info, std::shared_ptr<const ScopedFd> in_use,
                  std::unique_ptr<Slots> slots);

  const ModelInfo info_;
  size_t memory_bytes_ = 0;
  const std::shared_ptr<const ScopedFd> in_use_;  // the kept network
  const std::unique_ptr<Slots> slots_;
};

// "2026.4.1..." of the library in use.
std::string OpenVinoVersion();

}  // namespace lattice

#endif  // LATTICE_CPU_OPENVINO_NETWORK_H_
