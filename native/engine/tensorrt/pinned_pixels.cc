#include "native/engine/tensorrt/pinned_pixels.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "native/base/left_gpus.h"
#include "native/base/numa_nodes.h"
#include "native/cuda/gpu_device.h"
#include "native/cuda/later_free.h"

namespace lattice {
namespace {

constexpr size_t kSmallest = 256 << 10;
constexpr size_t kMostIdle = 512 << 20;

size_t BlockSize(size_t bytes) { return std::bit_ceil(std::max(bytes, kSmallest)); }

}  // namespace

PinnedPixels& PinnedPixels::Shared() {
  static auto* pixels = new PinnedPixels(kMostIdle, std::max<size_t>(1, NumaNodes().List().size()));
  return *pixels;
}

size_t PinnedPixels::idle_bytes() const {
  const std::lock_guard lock(mutex_);
  return idle_.idle_bytes();
}

// Through whichever GPU still answers: the memory serves all of them.
Result<PinnedBuffer> PinnedPixels::Pin(size_t bytes) const {
  const auto pin = [&] {
    return nodes_ > 1 ? PinnedBuffer::AllocateNear(bytes) : PinnedBuffer::Allocate(bytes);
  };
  auto pinned = pin();
  if (pinned.ok() || pinned.status().code() != StatusCode::kGpuLost) return pinned;
  const int gpus = CountGpus();
  for (int gpu = 0; gpu < gpus && !pinned.ok(); ++gpu) {
    if (UseGpu(gpu).ok()) pinned = pin();
  }
  return pinned;
}

int PinnedPixels::NodeHere() const { return nodes_ > 1 ? CurrentNumaNode() : 0; }

void* PinnedPixels::TakeIdle(size_t size) {
  const int node = NodeHere();
  const std::lock_guard lock(mutex_);
  auto kept = idle_.Take(node, size);
  if (!kept) return nullptr;
  void* const memory = kept->data();
  used_.emplace(memory, Used{*std::move(kept), node});
  return memory;
}

bool PinnedPixels::Has(const void* memory) const {
  const std::lock_guard lock(mutex_);
  return used_.contains(memory);
}

Image PinnedPixels::Pinned(Image image) {
  if (image.data.get_allocator().resource() == this || Has(image.data.data())) return image;
  return {image.width, image.height, ByteBuffer(image.data, this), image.layout, image.orientation};
}

void* PinnedPixels::do_allocate(size_t bytes, size_t) {
  const size_t size = BlockSize(bytes);
  if (void* const idle = TakeIdle(size)) return idle;
  const int node = NodeHere();
  auto pinned = Pin(size);
  if (!pinned.ok()) throw std::bad_alloc();
  void* const memory = pinned->data();
  const std::lock_guard lock(mutex_);
  used_.emplace(memory, Used{*std::move(pinned), node});
  return memory;
}

void PinnedPixels::do_deallocate(void* memory, size_t, size_t) {
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(memory);
  if (found == used_.end()) return;
  Used freed = std::move(found->second);
  used_.erase(found);
  const size_t size = freed.buffer.size();
  // None can be given back any more: all are for later images.
  if (IsAnyGpuLeft()) idle_.KeepAll();
  // Giving memory back takes long, or for ever.
  for (PinnedBuffer& surplus : idle_.Keep(freed.node, size, std::move(freed.buffer))) {
    FreeLater(std::move(surplus));
  }
}

void* PinnedPixels::IdleOnly::do_allocate(size_t bytes, size_t alignment) {
  if (void* const idle = pixels_->TakeIdle(BlockSize(bytes))) return idle;
  return std::pmr::new_delete_resource()->allocate(bytes, alignment);
}

void PinnedPixels::IdleOnly::do_deallocate(void* memory, size_t bytes, size_t alignment) {
  if (pixels_->Has(memory)) {
    pixels_->deallocate(memory, bytes, alignment);
  } else {
    std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
  }
}

}  // namespace lattice
