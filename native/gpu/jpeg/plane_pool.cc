#include "native/gpu/jpeg/plane_pool.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <new>

namespace lattice {
namespace {

constexpr size_t kSmallest = size_t{256} << 10;

size_t RoundUp(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

// Four sizes per doubling: at most a fifth is lost, and photos of one camera share blocks.
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

std::shared_ptr<PlanePool> PlanePool::Create(size_t most_bytes, Allocate allocate) {
  return std::shared_ptr<PlanePool>(new PlanePool(most_bytes, std::move(allocate)));
}

size_t PlanePool::held_bytes() const {
  const std::lock_guard lock(mutex_);
  return held_bytes_;
}

PlanePool::Block PlanePool::Take(size_t bytes) {
  size_t size = BlockSize(bytes);
  bool has_room = false;
  std::vector<Block> freed;  // outside the lock: freeing GPU memory takes long
  Block block = TakeKept(&size, &has_room, &freed);
  freed.clear();
  if (!block && has_room) {
    block = allocate_(size);
    if (!block) {
      const std::lock_guard lock(mutex_);
      held_bytes_ -= size;
    }
  }
  if (!block) return nullptr;
  uint8_t* const memory = block.get();
  return {memory, [pool = shared_from_this(), block = std::move(block), size](uint8_t*) mutable {
            pool->Return(std::move(block), size);
          }};
}

PlanePool::Block PlanePool::TakeKept(size_t* size, bool* has_room, std::vector<Block>* freed) {
  const std::lock_guard lock(mutex_);
  const auto fits = [&] { return held_bytes_ + *size <= most_bytes_; };
  const auto found = kept_.lower_bound(*size);
  if (found != kept_.end() && (found->first == *size || !fits())) {
    Block block = std::move(found->second);
    *size = found->first;
    kept_.erase(found);
    return block;
  }
  while (!fits() && !kept_.empty()) {
    const auto largest = std::prev(kept_.end());
    freed->push_back(std::move(largest->second));
    held_bytes_ -= largest->first;
    kept_.erase(largest);
  }
  *has_room = fits();
  if (*has_room) held_bytes_ += *size;
  return nullptr;
}

void PlanePool::Return(Block block, size_t size) {
  const std::lock_guard lock(mutex_);
  try {
    kept_.emplace(size, std::move(block));
  } catch (const std::bad_alloc&) {
    held_bytes_ -= size;  // freed instead
  }
}

}  // namespace lattice
