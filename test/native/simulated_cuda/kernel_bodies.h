// The project's kernels as work of a simulated stream.
#ifndef LATTICE_TEST_SIMULATED_CUDA_KERNEL_BODIES_H_
#define LATTICE_TEST_SIMULATED_CUDA_KERNEL_BODIES_H_

#include <cuda_runtime_api.h>

#include <string>

#include "test/native/simulated_cuda/simulated_gpus.h"

namespace lattice::simulated {

struct Grid {
  dim3 blocks;
  dim3 threads;
  int gpu;
};

// Copies the arguments, as a launch does. Blocks and the threads of their steps run in an order
// that differs from time to time. Empty for a name that is no kernel's, or threads that do not fit.
Work BodyOf(const std::string& name, const Grid& grid, void** arguments);

}  // namespace lattice::simulated

#endif  // LATTICE_TEST_SIMULATED_CUDA_KERNEL_BODIES_H_
