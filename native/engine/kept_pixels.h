// Host memory for decoded pixels that is used again.
#ifndef LATTICE_ENGINE_KEPT_PIXELS_H_
#define LATTICE_ENGINE_KEPT_PIXELS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <mutex>

namespace lattice {

// Fresh memory of a photo's size comes from the kernel page by page, which takes as long as
// decoding into it. Blocks are therefore kept, `most_idle_bytes` of them in all, the ones that came
// back last; the rest is given back at once. Thread-safe. Throws std::bad_alloc, as memory
// resources do.
class KeptPixels final : public std::pmr::memory_resource {
 public:
  explicit KeptPixels(size_t most_idle_bytes) : most_idle_bytes_(most_idle_bytes) {}
  ~KeptPixels() override;

  // The one of the process; never destroyed, since images may outlive every engine.
  static KeptPixels& Shared();

  size_t idle_bytes() const;

 private:
  void* do_allocate(size_t bytes, size_t alignment) override;
  void do_deallocate(void* memory, size_t bytes, size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  struct Block {
    void* memory;
    uint64_t returned;  // counts up with every return
  };

  bool Keep(void* memory, size_t size);  // false where memory is short
  void* TakeSurplus();                   // the block that came back first; null within the limit

  const size_t most_idle_bytes_;
  mutable std::mutex mutex_;
  size_t idle_bytes_ = 0;
  uint64_t returns_ = 0;
  std::multimap<size_t, Block> idle_;  // by size, a multiple of the grain
};

}  // namespace lattice

#endif  // LATTICE_ENGINE_KEPT_PIXELS_H_
