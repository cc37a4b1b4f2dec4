// TensorRT's log, whose errors explain failures.
#ifndef LATTICE_GPU_TENSORRT_TENSORRT_LOGGER_H_
#define LATTICE_GPU_TENSORRT_TENSORRT_LOGGER_H_

#include <NvInfer.h>

#include <mutex>
#include <string>

#include "native/base/status.h"

namespace lattice {

// Thread-safe. Never destroyed, because TensorRT keeps the first logger that it receives.
class TensorRtLogger final : public nvinfer1::ILogger {
 public:
  static TensorRtLogger& Get();

  void log(Severity severity, const char* message) noexcept override;

  // The first error since the last call, shortened to a sentence or two; "" when there was none.
  std::string TakeError();

  // A failure: `what`, followed by that error, with the code of CodeOf.
  Status Failure(StatusCode code, const std::string& what);

  // kOverloaded for an error of TensorRT about missing memory, else `otherwise`.
  static StatusCode CodeOf(const std::string& error, StatusCode otherwise);

 private:
  TensorRtLogger() = default;

  std::mutex mutex_;
  std::string error_;
};

}  // namespace lattice

#endif  // LATTICE_GPU_TENSORRT_TENSORRT_LOGGER_H_
