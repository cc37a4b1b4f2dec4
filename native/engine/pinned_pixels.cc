#include "native/engine/pinned_pixels.h"

#include <algorithm>
#include <bit>
#include <new>
#include <optional>
#include <utility>

#include "native/base/numa_nodes.h"

namespace lattice {
namespace {

constexpr size_t kSmallest = 256 << 10;
constexpr size_t kMostIdle = 512 << 20;

}  // namespace

PinnedPixels& PinnedPixels::Shared() {
  static auto* pixels = new PinnedPixels(kMostIdle, std::max<size_t>(1, NumaNodes().List().size()));
  return *pixels;
}

size_t PinnedPixels::idle_bytes() const {
  const std::lock_guard lock(mutex_);
  return idle_.idle_bytes();
}

void* PinnedPixels::do_allocate(size_t bytes, size_t) {
  const size_t size = std::bit_ceil(std::max(bytes, kSmallest));
  const int node = nodes_ > 1 ? CurrentNumaNode() : 0;
  {
    const std::lock_guard lock(mutex_);
    if (auto kept = idle_.Take(node, size)) {
      void* const memory = kept->data();
      used_.emplace(memory, Used{*std::move(kept), node});
      return memory;
    }
  }
  auto pinned = nodes_ > 1 ? PinnedBuffer::AllocateNear(size) : PinnedBuffer::Allocate(size);
  if (!pinned.ok()) throw std::bad_alloc();
  void* const memory = pinned->data();
  const std::lock_guard lock(mutex_);
  used_.emplace(memory, Used{*std::move(pinned), node});
  return memory;
}

void PinnedPixels::do_deallocate(void* memory, size_t, size_t) {
  std::optional<PinnedBuffer> surplus;  // outside the lock: giving memory back takes long
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(memory);
  if (found == used_.end()) return;
  Used freed = std::move(found->second);
  used_.erase(found);
  const size_t size = freed.buffer.size();
  surplus = idle_.Keep(freed.node, size, std::move(freed.buffer));
}

}  // namespace lattice
