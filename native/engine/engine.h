// A loaded network, whatever runs it.
#ifndef LATTICE_ENGINE_ENGINE_H_
#define LATTICE_ENGINE_ENGINE_H_

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "native/base/status.h"

namespace lattice {

struct ModelInfo {
  std::string task;  // always "detect" once loaded
  std::vector<std::string> names;
  int input_width = 0;
  int input_height = 0;
  int anchors = 0;
  int fixed_batch = 0;  // 0 = any
  int stride = 32;
  std::string device;     // "CPU", or the GPU's name
  std::string precision;  // "f32", "bf16", ...
  std::map<std::string, std::string> metadata;
};

// Two ways through one network. A sync slice has many threads and is done soon; async slices have
// few each, so that none waits for another's core, and step aside for everything else.
enum class Lane { kSync, kAsync };

struct LaneOptions {
  int parallel = 1;  // slices that compute at the same time, sharing the lane's threads
  int slots = 1;     // callers of Run at the same time, at least `parallel`
};

struct EngineOptions {
  std::string precision = "auto";  // auto | f32 | bf16; auto takes bf16 only where the CPU has it
  int threads = 1;                 // CPU threads of a lane's slices together
  LaneOptions sync;
  LaneOptions async;
  bool async_yields = true;  // async slices compute only where no other thread wants the core
};

// One image of a slice. `input` is 3 * input_width * input_height floats of the caller's (aligned
// to 64 bytes it is used in place) and must outlive Run. Run sets `output` to (4 + classes) *
// anchors floats that the slot owns; they stay until the slot's next Run.
struct EngineItem {
  const float* input = nullptr;
  const float* output = nullptr;
};

// Within one slot calls must not overlap; slots are independent. An image's output does not depend
// on lane and slot, on its neighbours in the slice or on their number.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual const ModelInfo& info() const = 0;
  // Slot numbers of a lane are 0 to slots(lane) - 1.
  virtual int slots(Lane lane) const = 0;
  // Most images of one slice.
  virtual int max_batch() const = 0;
  // Blocks until the slice is done. 1 <= items.size() <= max_batch(). kDetectionFailed with the
  // library's words.
  virtual Status Run(Lane lane, int slot, std::span<EngineItem> items) = 0;
};

// Reads the ONNX file, checks that it is a v8-layout detector (metadata task, one image input of 3
// channels, one output [batch, 4 + classes, anchors]) and compiles it. kUnknownModel when there is
// no such file, kInvalidModel with what was found and what is needed. Blocks for up to seconds.
// Library exceptions stop here.
Result<std::unique_ptr<Engine>> LoadOpenVinoEngine(const std::string& path,
                                                   const EngineOptions& options);

// "2026.4.1..." of the library in use.
std::string OpenVinoVersion();

}  // namespace lattice

#endif  // LATTICE_ENGINE_ENGINE_H_
