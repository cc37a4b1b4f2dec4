// CUDA runtime errors -> sentences that say what to do.
#ifndef LATTICE_CUDA_CUDA_STATUS_H_
#define LATTICE_CUDA_CUDA_STATUS_H_

#include <cuda_runtime_api.h>

#include <string_view>

#include "native/base/status.h"

namespace lattice {

// NVIDIA's driver as this process sees it. Versions are 1000 * major + 10 * minor, as CUDA counts.
struct CudaDriver {
  bool present = false;  // libcuda.so.1 could be opened
  int version = 0;       // newest CUDA that it serves; 0 when it would not say
};

// Opens libcuda.so.1 on each call (it is never closed again) and asks it for its version; creates
// no context. Thread-safe.
CudaDriver FindCudaDriver();

enum class CudaFault {
  kNone,
  kNoDriver,
  kDriverTooOld,
  kNoDevice,
  kNotReady,        // a part of the driver does not run
  kUnsupportedGpu,  // this build has no code for the GPU
  kOutOfMemory,
  kSticky,  // see IsSticky
  kOther,
};

// True when every later call on this GPU will fail in this process: only a new process can use the
// GPU again.
bool IsSticky(cudaError_t error);

// What kind of fault `error` is on a machine with `driver`.
CudaFault ClassifyCudaError(cudaError_t error, const CudaDriver& driver);

// kOk for cudaSuccess, else one or two sentences with kGpuUnavailable (driver, no device, no code
// for it), kOverloaded (out of memory), kGpuLost (sticky) or kInternalError. `doing` ends "while
// ...", such as "copying an image to the GPU". The first form looks at this machine's driver.
Status ToStatus(cudaError_t error, std::string_view doing);
Status ToStatus(cudaError_t error, std::string_view doing, const CudaDriver& driver);

}  // namespace lattice

#endif  // LATTICE_CUDA_CUDA_STATUS_H_
