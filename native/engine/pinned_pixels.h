// Host memory that GPUs copy from directly, for decoded pixels.
#ifndef LATTICE_ENGINE_PINNED_PIXELS_H_
#define LATTICE_ENGINE_PINNED_PIXELS_H_

#include <cstddef>
#include <map>
#include <memory_resource>
#include <mutex>
#include <vector>

#include "native/cuda/owners.h"

namespace lattice {

// Pinning memory costs more than decoding into it, so blocks are kept and used again. Sizes are
// rounded up to powers of two; idle blocks beyond `most_idle_bytes` are given back. Thread-safe.
// Throws std::bad_alloc, as memory resources do.
class PinnedPixels final : public std::pmr::memory_resource {
 public:
  explicit PinnedPixels(size_t most_idle_bytes) : most_idle_bytes_(most_idle_bytes) {}

  // The one of the process; never destroyed, since images may outlive every engine.
  static PinnedPixels& Shared();

  size_t idle_bytes() const;

 private:
  void* do_allocate(size_t bytes, size_t alignment) override;
  void do_deallocate(void* memory, size_t bytes, size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  const size_t most_idle_bytes_;
  mutable std::mutex mutex_;
  size_t idle_bytes_ = 0;
  std::map<size_t, std::vector<PinnedBuffer>> idle_;  // by size
  std::map<void*, PinnedBuffer> used_;
};

}  // namespace lattice

#endif  // LATTICE_ENGINE_PINNED_PIXELS_H_
