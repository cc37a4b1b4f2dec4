#include "native/decode_route/waiting_thread.h"

#include <chrono>
#include <utility>

namespace lattice {

// Both notify under the lock: the waiting thread may be gone as soon as it has seen the change.
void WaitingThread::Run(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  work_ = std::move(work);
  changed_.notify_one();
}

void WaitingThread::Set(Result<DecodedImage> decoded) {
  const std::lock_guard lock(mutex_);
  decoded_.emplace(std::move(decoded));
  changed_.notify_one();
}

Result<DecodedImage> WaitingThread::Wait(double patience_ms, const std::function<void()>& on_idle) {
  const std::chrono::duration<double, std::milli> patience(patience_ms);
  std::unique_lock lock(mutex_);
  while (!decoded_) {
    if (work_) {
      const std::function<void()> work = std::exchange(work_, nullptr);
      lock.unlock();
      work();
      lock.lock();
    } else if (changed_.wait_for(lock, patience) == std::cv_status::timeout) {
      lock.unlock();
      on_idle();
      lock.lock();
    }
  }
  return *std::move(decoded_);
}

}  // namespace lattice
