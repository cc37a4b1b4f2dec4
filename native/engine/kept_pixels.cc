#include "native/engine/kept_pixels.h"

#include <algorithm>
#include <new>

namespace lattice {
namespace {

// A photo of 12 megapixels, or six of 2. More would not make the process faster where photos are of
// one size, and stays resident.
constexpr size_t kMostIdle = size_t{40} << 20;
// Photos of one camera, cropped or turned, find each other's blocks.
constexpr size_t kGrain = size_t{256} << 10;
// Smaller ones are kept by the allocator itself.
constexpr size_t kSmallest = size_t{1} << 20;
constexpr std::align_val_t kAlignment{64};

size_t RoundUp(size_t bytes) { return (bytes + kGrain - 1) / kGrain * kGrain; }

}  // namespace

KeptPixels& KeptPixels::Shared() {
  static auto* pixels = new KeptPixels(kMostIdle);
  return *pixels;
}

KeptPixels::~KeptPixels() {
  for (const auto& [size, block] : idle_) ::operator delete(block.memory, kAlignment);
}

size_t KeptPixels::idle_bytes() const {
  const std::lock_guard lock(mutex_);
  return idle_bytes_;
}

void* KeptPixels::do_allocate(size_t bytes, size_t alignment) {
  if (bytes < kSmallest) return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  const size_t size = RoundUp(bytes);
  {
    const std::lock_guard lock(mutex_);
    const auto found = idle_.find(size);
    if (found != idle_.end()) {
      void* const memory = found->second.memory;
      idle_bytes_ -= size;
      idle_.erase(found);
      return memory;
    }
  }
  return ::operator new(size, kAlignment);
}

void KeptPixels::do_deallocate(void* memory, size_t bytes, size_t alignment) {
  if (bytes < kSmallest) {
    std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
    return;
  }
  const size_t size = RoundUp(bytes);
  if (size > most_idle_bytes_ || !Keep(memory, size)) ::operator delete(memory, kAlignment);
  // Outside the lock: giving memory back takes long.
  while (void* const oldest = TakeSurplus()) ::operator delete(oldest, kAlignment);
}

bool KeptPixels::Keep(void* memory, size_t size) {
  const std::lock_guard lock(mutex_);
  try {
    idle_.emplace(size, Block{memory, returns_++});
  } catch (const std::bad_alloc&) {
    return false;
  }
  idle_bytes_ += size;
  return true;
}

void* KeptPixels::TakeSurplus() {
  const std::lock_guard lock(mutex_);
  if (idle_bytes_ <= most_idle_bytes_) return nullptr;
  const auto oldest =
      std::min_element(idle_.begin(), idle_.end(), [](const auto& one, const auto& other) {
        return one.second.returned < other.second.returned;
      });
  void* const memory = oldest->second.memory;
  idle_bytes_ -= oldest->first;
  idle_.erase(oldest);
  return memory;
}

}  // namespace lattice
