// Runs the steps of a block on the GPU. For .cu files.
#ifndef LATTICE_GPU_KERNELS_GPU_BLOCK_H_
#define LATTICE_GPU_KERNELS_GPU_BLOCK_H_

#include <cstdint>

#include "native/base/host_device.h"

namespace lattice {

// The `Block` of letterbox_tile.h, candidate_filter.h and suppression.h, for one-dimensional
// blocks. The bodies are empty on the host, where no kernel runs.
struct GpuBlock {
  template <typename Function>
  LATTICE_HOST_DEVICE void Step(const Function& function) const {
#ifdef __CUDA_ARCH__
    function(static_cast<int>(threadIdx.x));
    __syncthreads();
#else
    (void)function;
#endif
  }

  LATTICE_HOST_DEVICE int Increment(int* counter) const {
#ifdef __CUDA_ARCH__
    return atomicAdd(counter, 1);
#else
    return *counter;
#endif
  }

  LATTICE_HOST_DEVICE void SetBits(uint32_t* word, uint32_t bits) const {
#ifdef __CUDA_ARCH__
    atomicOr(word, bits);
#else
    (void)word;
    (void)bits;
#endif
  }
};

}  // namespace lattice

#endif  // LATTICE_GPU_KERNELS_GPU_BLOCK_H_
