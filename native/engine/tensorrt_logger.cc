#include "native/engine/tensorrt_logger.h"

#include <utility>

namespace lattice {
namespace {

constexpr size_t kLongest = 300;

}  // namespace

TensorRtLogger& TensorRtLogger::Get() {
  static auto* logger = new TensorRtLogger();
  return *logger;
}

void TensorRtLogger::log(Severity severity, const char* message) noexcept {
  if (severity > Severity::kERROR || message == nullptr) return;
  try {
    const std::lock_guard lock(mutex_);
    // The first one names the cause, those after it what followed.
    if (error_.empty()) error_ = std::string(message).substr(0, kLongest);
  } catch (...) {
    // Out of memory: the failure is reported without TensorRT's words.
  }
}

std::string TensorRtLogger::TakeError() {
  const std::lock_guard lock(mutex_);
  return std::exchange(error_, {});
}

Status TensorRtLogger::Failure(StatusCode code, const std::string& what) {
  const std::string error = TakeError();
  return {code, what + (error.empty() ? "." : ": " + error)};
}

}  // namespace lattice
