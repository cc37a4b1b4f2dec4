// A pool of host memory for decoded pixels and network inputs.
#ifndef LATTICE_ENGINE_BLOCK_POOL_H_
#define LATTICE_ENGINE_BLOCK_POOL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <mutex>
#include <utility>

namespace lattice {

struct BlockPoolOptions {
  size_t most_idle_bytes = 0;  // of all idle blocks
  // Smaller blocks come from `source` and go back to it at once.
  size_t smallest = 0;
  // Block sizes: multiples of a grain, or powers of two from it on, of which there are fewer, so
  // that a request more often finds an idle block.
  bool powers_of_two = false;
  std::pmr::memory_resource* source = std::pmr::new_delete_resource();  // outlives the pool
};

// Fresh memory of a photo's size comes from the kernel page by page, which takes as long as
// decoding into it, and pinning memory takes longer. So blocks that come back stay in the pool, up
// to `most_idle_bytes`; beyond that the ones that came back first are freed. Blocks of the pool
// are aligned to 64. Thread-safe. Throws std::bad_alloc, as memory resources do.
class BlockPool final : public std::pmr::memory_resource {
 public:
  explicit BlockPool(const BlockPoolOptions& options) : options_(options) {}
  ~BlockPool() override;

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

  size_t BlockSize(size_t bytes) const;
  void* TakeIdle(size_t size);           // null if there is none
  bool Keep(void* memory, size_t size);  // false if the process is out of memory
  // The block that came back first; a size of 0 within the limit.
  std::pair<void*, size_t> TakeSurplus();

  const BlockPoolOptions options_;
  mutable std::mutex mutex_;
  size_t idle_bytes_ = 0;
  uint64_t returns_ = 0;
  std::multimap<size_t, Block> idle_;  // by size
};

}  // namespace lattice

#endif  // LATTICE_ENGINE_BLOCK_POOL_H_
