// Host memory that the GPU copies from directly, for containers.
#ifndef LATTICE_GPU_CUDA_PINNED_MEMORY_H_
#define LATTICE_GPU_CUDA_PINNED_MEMORY_H_

#include <cstddef>
#include <memory_resource>

namespace lattice {

// Pins memory through the GPU that is current where it is constructed. Each call is one of the
// driver's and takes longer than decoding an image into the memory, so callers pool blocks.
// Thread-safe. Throws std::bad_alloc.
class PinnedMemory final : public std::pmr::memory_resource {
 public:
  PinnedMemory();

 private:
  void* do_allocate(size_t bytes, size_t alignment) override;
  void do_deallocate(void* memory, size_t bytes, size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  int gpu_ = 0;
};

}  // namespace lattice

#endif  // LATTICE_GPU_CUDA_PINNED_MEMORY_H_
