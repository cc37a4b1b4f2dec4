#include "native/base/serial_thread.h"

#include <utility>

namespace lattice {

SerialThread::SerialThread() : thread_([this] { Loop(); }) {}

SerialThread::~SerialThread() { Stop(); }

bool SerialThread::Post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    queue_.push_back(std::move(work));
  }
  changed_.notify_one();
  return true;
}

void SerialThread::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  const std::lock_guard joining(joining_);
  if (thread_.joinable()) thread_.join();
}

void SerialThread::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    auto work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
    work = nullptr;  // what it captured is freed outside the lock
    lock.lock();
  }
}

}  // namespace lattice
