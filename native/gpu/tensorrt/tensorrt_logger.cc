#include "native/gpu/tensorrt/tensorrt_logger.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

namespace lattice {
namespace {

constexpr size_t kLongest = 300;

thread_local bool is_listening = false;

}  // namespace

struct TensorRtLogger::Listener {
  Listener() {
    const std::lock_guard lock(Get().mutex_);
    Get().listeners_.push_back(this);
    is_listening = true;
  }
  ~Listener() {
    const std::lock_guard lock(Get().mutex_);
    std::erase(Get().listeners_, this);
    is_listening = false;
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // The first error names the cause, later ones its consequences.
  void Hear(const char* message) {
    if (error.empty()) error = std::string(message).substr(0, kLongest);
  }

  std::string error;  // guarded by the logger's mutex
};

TensorRtLogger::Listener& TensorRtLogger::ThisThread() {
  thread_local Listener listener;
  return listener;
}

TensorRtLogger& TensorRtLogger::Get() {
  static auto* logger = new TensorRtLogger();
  return *logger;
}

void TensorRtLogger::log(Severity severity, const char* message) noexcept {
  if (severity > Severity::kERROR || message == nullptr) return;
  try {
    const std::lock_guard lock(mutex_);
    if (is_listening) {
      ThisThread().Hear(message);
    } else {
      for (Listener* listener : listeners_) listener->Hear(message);
    }
  } catch (...) {
    // Out of memory: the failure is reported without TensorRT's words.
  }
}

std::string TensorRtLogger::TakeError() {
  Listener& listener = ThisThread();
  const std::lock_guard lock(mutex_);
  return std::exchange(listener.error, {});
}

Status TensorRtLogger::Failure(StatusCode code, const std::string& what) {
  const std::string error = TakeError();
  return {CodeOf(error, code), what + (error.empty() ? "." : ": " + error)};
}

StatusCode TensorRtLogger::CodeOf(const std::string& error, StatusCode otherwise) {
  // The words of CUDA's sentence and the name of its own code.
  constexpr std::array<std::string_view, 2> kWords = {"out of memory", "outofmemory"};
  const auto same = [](char a, char b) { return std::tolower(static_cast<uint8_t>(a)) == b; };
  for (const std::string_view words : kWords) {
    const auto found = std::search(error.begin(), error.end(), words.begin(), words.end(), same);
    if (found != error.end()) return StatusCode::kOverloaded;
  }
  return otherwise;
}

}  // namespace lattice
