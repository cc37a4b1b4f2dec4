// What TensorRT says, kept for the sentence that explains a failure.
#ifndef LATTICE_ENGINE_TENSORRT_TENSORRT_LOGGER_H_
#define LATTICE_ENGINE_TENSORRT_TENSORRT_LOGGER_H_

#include <NvInfer.h>

#include <mutex>
#include <string>

#include "native/base/status.h"

namespace lattice {

// Thread-safe; lives as long as the process, because TensorRT keeps the first logger it was given.
class TensorRtLogger final : public nvinfer1::ILogger {
 public:
  static TensorRtLogger& Get();

  void log(Severity severity, const char* message) noexcept override;

  // The first error since the last call, shortened to a sentence or two; "" when there was none.
  std::string TakeError();

  // A failure whose sentence is `what` with that error, and whose code is that of CodeOf.
  Status Failure(StatusCode code, const std::string& what);

  // kOverloaded for an error of TensorRT's that speaks of memory, else `otherwise`.
  static StatusCode CodeOf(const std::string& error, StatusCode otherwise);

 private:
  TensorRtLogger() = default;

  std::mutex mutex_;
  std::string error_;
};

}  // namespace lattice

#endif  // LATTICE_ENGINE_TENSORRT_TENSORRT_LOGGER_H_
