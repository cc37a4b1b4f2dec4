// The outcome of a native call: a code and a sentence for the caller.
// The codes map one to one to `NATIVE_CODES` in src/native/contract.ts, in this order.
#ifndef LATTICE_BASE_STATUS_H_
#define LATTICE_BASE_STATUS_H_

#include <string>
#include <utility>
#include <variant>

namespace lattice {

enum class StatusCode {
  kOk = 0,
  kCancelled,
  kDeadlineExceeded,
  kImageNotFound,
  kPathNotAllowed,
  kNotARegularFile,
  kImageUnreadable,
  kImageTooLarge,
  kUnsupportedImageFormat,
  kInvalidImage,
  kInputChanged,
  kVolumeUnavailable,
  kInvalidModel,
  kUnknownModel,
  kDetectionFailed,
  kGpuUnavailable,
  kGpuLost,
  kOverloaded,
  kShuttingDown,
  kInternalError,
};

// Callers see the sentence: it must not contain an absolute path of the server.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

// Runs steps in order up to the first failure, which it returns.
template <typename... Steps>
Status InOrder(const Steps&... steps) {
  Status status;
  (void)((status = steps(), status.ok()) && ...);
  return status;
}

// A value, or the status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Result(Status status) : state_(std::move(status)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(state_); }
  // Precondition of these: ok(). `*std::move(result)` moves the value out.
  T& operator*() & { return std::get<T>(state_); }
  const T& operator*() const& { return std::get<T>(state_); }
  T&& operator*() && { return std::get<T>(std::move(state_)); }
  T* operator->() { return &std::get<T>(state_); }
  const T* operator->() const { return &std::get<T>(state_); }
  Status status() const { return ok() ? Status() : std::get<Status>(state_); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace lattice

#endif  // LATTICE_BASE_STATUS_H_
