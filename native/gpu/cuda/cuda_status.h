// CUDA runtime errors -> status codes and sentences that say what to do.
#ifndef LATTICE_GPU_CUDA_CUDA_STATUS_H_
#define LATTICE_GPU_CUDA_CUDA_STATUS_H_

#include <cuda_runtime_api.h>

#include <string_view>

#include "native/base/status.h"

namespace lattice {

// NVIDIA's driver as this process finds it.
struct CudaDriver {
  bool present = false;  // libcuda.so.1 could be opened
  // The newest CUDA version that it supports, 1000 * major + 10 * minor; 0 if it does not say.
  int version = 0;
};

// Opens libcuda.so.1 on each call (it is never closed) and reads its version. Creates no context.
// Thread-safe.
CudaDriver FindCudaDriver();

enum class CudaFault {
  kNone,
  kNoDriver,
  kDriverTooOld,
  kNoDevice,
  kNotReady,        // a part of the driver is not running
  kUnsupportedGpu,  // this build has no code for the GPU
  kOutOfMemory,
  kSticky,  // see IsSticky
  kOther,
};

// True if every later call on this GPU fails in this process: only a new process can use it again.
bool IsSticky(cudaError_t error);

// The kind of `error` on a machine with `driver`.
CudaFault ClassifyCudaError(cudaError_t error, const CudaDriver& driver);

// kOk for cudaSuccess, else one or two sentences with kGpuUnavailable (driver, no device, no code
// for it), kOverloaded (out of memory), kGpuLost (sticky) or kInternalError. `doing` ends "while
// ...", such as "copying an image to the GPU".
Status ToStatus(cudaError_t error, std::string_view doing, const CudaDriver& driver);
// The same for the answer of a call that this process made: uses the driver of this machine.
Status ToStatus(cudaError_t error, std::string_view doing);

}  // namespace lattice

#endif  // LATTICE_GPU_CUDA_CUDA_STATUS_H_
