#include "native/addon/mailbox.h"

#include <utility>

namespace lattice {

void Mailbox::Open(napi_threadsafe_function wake) {
  const MutexLock lock(mutex_);
  wake_ = wake;
}

void Mailbox::PostResult(TaskResult result) {
  const MutexLock lock(mutex_);
  if (wake_ == nullptr) return;
  contents_.results.push_back(std::move(result));
  Wake();
}

void Mailbox::PostReply(Reply reply) {
  const MutexLock lock(mutex_);
  if (wake_ == nullptr) return;
  contents_.replies.push_back(std::move(reply));
  Wake();
}

void Mailbox::PostReleased(napi_ref value) {
  const MutexLock lock(mutex_);
  if (wake_ == nullptr) return;
  contents_.released.push_back(value);
  Wake();
}

void Mailbox::PostDeviceLost(const Status& status) {
  const MutexLock lock(mutex_);
  if (wake_ == nullptr) return;
  contents_.device_lost = status;
  Wake();
}

// Called under the lock, so that Shut cannot pass while a wake is under way.
void Mailbox::Wake() {
  if (woken_) return;
  woken_ = napi_call_threadsafe_function(wake_, nullptr, napi_tsfn_nonblocking) == napi_ok;
}

Mailbox::Contents Mailbox::Drain() {
  const MutexLock lock(mutex_);
  woken_ = false;
  return std::exchange(contents_, {});
}

void Mailbox::Shut() {
  const MutexLock lock(mutex_);
  wake_ = nullptr;
  contents_ = {};
}

}  // namespace lattice
