// Runs a block's steps on the host, the threads of each step in an order that differs from step to
// step: a step whose result depended on the order would show.
#ifndef LATTICE_TEST_GPU_KERNELS_HOST_BLOCK_H_
#define LATTICE_TEST_GPU_KERNELS_HOST_BLOCK_H_

#include <cstdint>
#include <cstring>
#include <random>

namespace lattice {

// The `Block` of native/gpu/kernels. `threads` is a power of two.
class HostBlock {
 public:
  HostBlock(int threads, uint32_t seed) : threads_(static_cast<uint32_t>(threads)), random_(seed) {}

  template <typename Function>
  void Step(const Function& function) const {
    // An odd factor makes a permutation of the numbers below a power of two.
    const uint32_t factor = static_cast<uint32_t>(random_()) | 1u;
    const auto offset = static_cast<uint32_t>(random_());
    for (uint32_t i = 0; i < threads_; ++i) {
      function(static_cast<int>((i * factor + offset) & (threads_ - 1)));
    }
  }
  int Increment(int* counter) const { return (*counter)++; }
  void SetBits(uint32_t* word, uint32_t bits) const { *word |= bits; }

 private:
  uint32_t threads_;
  mutable std::minstd_rand random_;
};

// Shared memory is not cleared on the GPU either.
template <typename Shared>
void FillWithRubbish(Shared* shared) {
  std::memset(shared, 0xA5, sizeof *shared);
}

}  // namespace lattice

#endif  // LATTICE_TEST_GPU_KERNELS_HOST_BLOCK_H_
