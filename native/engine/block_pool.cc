#include "native/engine/block_pool.h"

#include <algorithm>
#include <bit>
#include <new>

namespace lattice {
namespace {

// Photos of one camera, cropped or turned, use each other's blocks.
constexpr size_t kGrain = size_t{256} << 10;
constexpr size_t kAlignment = 64;

}  // namespace

BlockPool::~BlockPool() {
  for (const auto& [size, block] : idle_) {
    options_.source->deallocate(block.memory, size, kAlignment);
  }
}

size_t BlockPool::idle_bytes() const {
  const std::lock_guard lock(mutex_);
  return idle_bytes_;
}

size_t BlockPool::BlockSize(size_t bytes) const {
  if (options_.powers_of_two) return std::bit_ceil(std::max(bytes, kGrain));
  return (bytes + kGrain - 1) / kGrain * kGrain;
}

void* BlockPool::do_allocate(size_t bytes, size_t alignment) {
  if (bytes < options_.smallest) return options_.source->allocate(bytes, alignment);
  const size_t size = BlockSize(bytes);
  if (void* const idle = TakeIdle(size)) return idle;
  return options_.source->allocate(size, kAlignment);
}

void BlockPool::do_deallocate(void* memory, size_t bytes, size_t alignment) {
  if (bytes < options_.smallest) {
    options_.source->deallocate(memory, bytes, alignment);
    return;
  }
  const size_t size = BlockSize(bytes);
  if (size > options_.most_idle_bytes || !Keep(memory, size)) {
    options_.source->deallocate(memory, size, kAlignment);
  }
  // Outside the lock: freeing memory takes long.
  while (true) {
    const auto [surplus, surplus_size] = TakeSurplus();
    if (surplus_size == 0) return;
    options_.source->deallocate(surplus, surplus_size, kAlignment);
  }
}

void* BlockPool::TakeIdle(size_t size) {
  const std::lock_guard lock(mutex_);
  const auto found = idle_.find(size);
  if (found == idle_.end()) return nullptr;
  void* const memory = found->second.memory;
  idle_bytes_ -= size;
  idle_.erase(found);
  return memory;
}

bool BlockPool::Keep(void* memory, size_t size) {
  const std::lock_guard lock(mutex_);
  try {
    idle_.emplace(size, Block{memory, returns_++});
  } catch (const std::bad_alloc&) {
    return false;
  }
  idle_bytes_ += size;
  return true;
}

std::pair<void*, size_t> BlockPool::TakeSurplus() {
  const std::lock_guard lock(mutex_);
  if (idle_bytes_ <= options_.most_idle_bytes) return {nullptr, 0};
  const auto oldest =
      std::min_element(idle_.begin(), idle_.end(), [](const auto& one, const auto& other) {
        return one.second.returned < other.second.returned;
      });
  const std::pair surplus(oldest->second.memory, oldest->first);
  idle_bytes_ -= oldest->first;
  idle_.erase(oldest);
  return surplus;
}

}  // namespace lattice
