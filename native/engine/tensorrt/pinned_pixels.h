// Host memory that GPUs copy from directly, for decoded pixels.
#ifndef LATTICE_ENGINE_TENSORRT_PINNED_PIXELS_H_
#define LATTICE_ENGINE_TENSORRT_PINNED_PIXELS_H_

#include <cstddef>
#include <map>
#include <memory_resource>
#include <mutex>

#include "native/cuda/owners.h"
#include "native/engine/tensorrt/node_blocks.h"
#include "native/image/decode.h"

namespace lattice {

// Pinning memory costs more than decoding into it, so blocks are kept and used again. Sizes are
// rounded up to powers of two; idle blocks beyond `most_idle_bytes` are given back, until a GPU
// hangs (native/base/left_gpus.h), which may wait for ever. Thread-safe.
// Throws std::bad_alloc, as memory resources do.
//
// On a machine of several NUMA nodes a thread gets memory of the node that it runs on, and each
// node keeps its blocks, an equal part of `most_idle_bytes`.
class PinnedPixels final : public std::pmr::memory_resource {
 public:
  PinnedPixels(size_t most_idle_bytes, size_t nodes)
      : nodes_(nodes), idle_(most_idle_bytes / nodes) {}

  // The one of the process; never destroyed, since images may outlive every engine.
  static PinnedPixels& Shared();

  size_t idle_bytes() const;

  // The same memory without calls into a driver: idle blocks, and where none fits, ordinary memory.
  std::pmr::memory_resource* idle_only() { return &idle_only_; }
  // An image of any origin in this memory: as it is where its pixels lie in a block already.
  Image Pinned(Image image);
  // Whether the memory is a block of this, and not ordinary.
  bool Has(const void* memory) const;

 private:
  class IdleOnly final : public std::pmr::memory_resource {
   public:
    explicit IdleOnly(PinnedPixels* pixels) : pixels_(pixels) {}

   private:
    void* do_allocate(size_t bytes, size_t alignment) override;
    void do_deallocate(void* memory, size_t bytes, size_t alignment) override;
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
      return this == &other;
    }

    PinnedPixels* const pixels_;
  };

  struct Used {
    PinnedBuffer buffer;
    int node = 0;
  };

  Result<PinnedBuffer> Pin(size_t bytes) const;
  int NodeHere() const;
  void* TakeIdle(size_t size);  // null where there is none
  void* do_allocate(size_t bytes, size_t alignment) override;
  void do_deallocate(void* memory, size_t bytes, size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  const size_t nodes_;
  mutable std::mutex mutex_;
  NodeBlocks<PinnedBuffer> idle_;
  std::map<const void*, Used> used_;
  IdleOnly idle_only_{this};
};

}  // namespace lattice

#endif  // LATTICE_ENGINE_TENSORRT_PINNED_PIXELS_H_
