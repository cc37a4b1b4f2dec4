#include "native/engine/pinned_pixels.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace lattice {
namespace {

constexpr size_t kSmallest = 256 << 10;
constexpr size_t kMostIdle = 512 << 20;

}  // namespace

PinnedPixels& PinnedPixels::Shared() {
  static auto* pixels = new PinnedPixels(kMostIdle);
  return *pixels;
}

size_t PinnedPixels::idle_bytes() const {
  const std::lock_guard lock(mutex_);
  return idle_bytes_;
}

void* PinnedPixels::do_allocate(size_t bytes, size_t) {
  const size_t size = std::bit_ceil(std::max(bytes, kSmallest));
  {
    const std::lock_guard lock(mutex_);
    std::vector<PinnedBuffer>& idle = idle_[size];
    if (!idle.empty()) {
      PinnedBuffer buffer = std::move(idle.back());
      idle.pop_back();
      idle_bytes_ -= size;
      void* const memory = buffer.data();
      used_.emplace(memory, std::move(buffer));
      return memory;
    }
  }
  auto pinned = PinnedBuffer::Allocate(size);
  if (!pinned.ok()) throw std::bad_alloc();
  void* const memory = pinned->data();
  const std::lock_guard lock(mutex_);
  used_.emplace(memory, *std::move(pinned));
  return memory;
}

void PinnedPixels::do_deallocate(void* memory, size_t, size_t) {
  PinnedBuffer freed;  // outside the lock: giving memory back takes long
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(memory);
  if (found == used_.end()) return;
  freed = std::move(found->second);
  used_.erase(found);
  if (idle_bytes_ + freed.size() > most_idle_bytes_) return;
  idle_bytes_ += freed.size();
  idle_[freed.size()].push_back(std::move(freed));
}

}  // namespace lattice
