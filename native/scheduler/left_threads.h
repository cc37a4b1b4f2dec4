// Threads that stand in a call that may never return.
#ifndef LATTICE_SCHEDULER_LEFT_THREADS_H_
#define LATTICE_SCHEDULER_LEFT_THREADS_H_

#include <mutex>
#include <set>
#include <thread>

namespace lattice {

// Shared with those threads, so that one that comes back learns whether what it belonged to is
// still there. Thread-safe.
class LeftThreads {
 public:
  void Leave(std::thread::id thread) {
    const std::lock_guard lock(mutex_);
    left_.insert(thread);
  }

  // True: it belongs to the others again. False after Close: nobody waits for it, and it must end
  // without touching what it belonged to.
  bool TakeBack(std::thread::id thread) {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    left_.erase(thread);
    return true;
  }

  // Those that are left for good.
  std::set<std::thread::id> Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    return left_;
  }

 private:
  std::mutex mutex_;
  bool closed_ = false;
  std::set<std::thread::id> left_;
};

}  // namespace lattice

#endif  // LATTICE_SCHEDULER_LEFT_THREADS_H_
