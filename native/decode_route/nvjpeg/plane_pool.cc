#include "native/decode_route/nvjpeg/plane_pool.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <new>
#include <utility>

namespace lattice {
namespace {

constexpr size_t kSmallest = size_t{256} << 10;

size_t RoundUp(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

// Four sizes for each doubling: at most a fifth is lost, and photos of one camera share blocks.
size_t BlockSize(size_t bytes) {
  const size_t least = std::max(bytes, kSmallest);
  return RoundUp(least, std::bit_floor(least) / 4);
}

}  // namespace

PlaneLayout LayOutPlanes(int width, int height) {
  const size_t across = RoundUp(static_cast<size_t>(width), 16);
  const size_t down = RoundUp(static_cast<size_t>(height), 16);
  PlaneLayout layout;
  for (size_t i = 0; i < 3; ++i) {
    const size_t part = i == 0 ? 1 : 2;
    const size_t pitch = RoundUp(across / part, 256);
    layout.offsets[i] = layout.bytes;
    layout.pitches[i] = static_cast<int>(pitch);
    layout.bytes += pitch * (down / part);
  }
  return layout;
}

std::shared_ptr<PlanePool> PlanePool::Create(size_t most_bytes, Allocate allocate,
                                             size_t most_lent) {
  return std::shared_ptr<PlanePool>(new PlanePool(most_bytes, std::move(allocate), most_lent));
}

size_t PlanePool::held_bytes() const {
  const std::lock_guard lock(mutex_);
  return held_bytes_;
}

bool PlanePool::Reserve(size_t size) {
  const std::lock_guard lock(mutex_);
  if (abandoned_ || held_bytes_ + size > most_bytes_) return false;
  held_bytes_ += size;
  return true;
}

std::vector<PlanePool::Block> PlanePool::MakeRoom(size_t size) {
  std::vector<Block> freed;
  const std::lock_guard lock(mutex_);
  while (!abandoned_ && !kept_.empty() && held_bytes_ + size > most_bytes_) {
    const auto largest = std::prev(kept_.end());
    freed.push_back(std::move(largest->second));
    held_bytes_ -= largest->first;
    kept_.erase(largest);
  }
  return freed;
}

PlanePool::Block PlanePool::TakeKept(size_t size) {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(size);
  if (found == kept_.end()) return nullptr;
  Block block = std::move(found->second);
  kept_.erase(found);
  return block;
}

PlanePool::Block PlanePool::Take(size_t bytes) {
  const size_t size = BlockSize(bytes);
  {
    const std::lock_guard lock(mutex_);
    if (lent_ >= most_lent_) return nullptr;
    ++lent_;
  }
  Block block = Find(size);
  if (block) return Lend(std::move(block), size);
  const std::lock_guard lock(mutex_);
  --lent_;
  return nullptr;
}

PlanePool::Block PlanePool::Find(size_t size) {
  Block block = TakeKept(size);
  if (block) return block;
  if (size > most_bytes_) return nullptr;
  // Freeing takes long: outside the lock.
  MakeRoom(size).clear();
  if (!Reserve(size)) return nullptr;
  block = allocate_(size);
  if (!block) {
    // Others use the GPU too: what is kept here may be what is missing.
    MakeRoom(most_bytes_).clear();
    block = allocate_(size);
  }
  if (!block) {
    const std::lock_guard lock(mutex_);
    held_bytes_ -= size;
  }
  return block;
}

PlanePool::Block PlanePool::Lend(Block block, size_t size) {
  uint8_t* const memory = block.get();
  return {memory, [pool = shared_from_this(), block = std::move(block), size](uint8_t*) mutable {
            pool->Return(std::move(block), size);
          }};
}

void PlanePool::Return(Block block, size_t size) {
  const std::lock_guard lock(mutex_);
  --lent_;
  if (abandoned_) return;
  try {
    kept_.emplace(size, std::move(block));
  } catch (const std::bad_alloc&) {
    held_bytes_ -= size;  // freed instead
  }
}

void PlanePool::Abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  kept_.clear();
}

}  // namespace lattice
