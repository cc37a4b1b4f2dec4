// A thread that waits for its image, and decodes it itself where the router says so.
#ifndef LATTICE_DECODE_ROUTE_WAITING_THREAD_H_
#define LATTICE_DECODE_ROUTE_WAITING_THREAD_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>

#include "native/decode_route/decode_route.h"

namespace lattice {

// Run and Set are thread-safe; Wait belongs to the thread that made the object.
class WaitingThread final : public CallerThread {
 public:
  void Run(std::function<void()> work) override;
  void Set(Result<DecodedImage> decoded);
  // Runs what comes and returns what was set. Calls `on_idle` whenever it has waited for
  // `patience_ms`.
  Result<DecodedImage> Wait(double patience_ms, const std::function<void()>& on_idle);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  std::optional<Result<DecodedImage>> decoded_;
};

}  // namespace lattice

#endif  // LATTICE_DECODE_ROUTE_WAITING_THREAD_H_
