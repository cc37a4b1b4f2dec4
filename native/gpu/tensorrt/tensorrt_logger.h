// TensorRT's log, whose errors explain failures.
#ifndef LATTICE_GPU_TENSORRT_TENSORRT_LOGGER_H_
#define LATTICE_GPU_TENSORRT_TENSORRT_LOGGER_H_

#include <NvInfer.h>

#include <mutex>
#include <string>
#include <vector>

#include "native/base/status.h"

namespace lattice {

// One for all loads: TensorRT keeps the first logger that it receives, so it is never destroyed. An
// error belongs to the load on whose thread TensorRT logs it. One that it logs on a thread of its
// own could be any load's, so every load hears it. Thread-safe.
class TensorRtLogger final : public nvinfer1::ILogger {
 public:
  static TensorRtLogger& Get();

  void log(Severity severity, const char* message) noexcept override;

  // The first error that this thread's load heard since the last call, shortened to a sentence or
  // two; "" when there was none. A thread hears errors from its first call on.
  std::string TakeError();

  // A failure: `what`, followed by that error, with the code of CodeOf.
  Status Failure(StatusCode code, const std::string& what);

  // kOverloaded for an error of TensorRT about missing memory, else `otherwise`.
  static StatusCode CodeOf(const std::string& error, StatusCode otherwise);

 private:
  struct Listener;  // a thread that loads models, until it ends

  TensorRtLogger() = default;
  static Listener& ThisThread();

  std::mutex mutex_;
  std::vector<Listener*> listeners_;
};

}  // namespace lattice

#endif  // LATTICE_GPU_TENSORRT_TENSORRT_LOGGER_H_
