// The GPUs of this machine.
#ifndef LATTICE_CUDA_GPU_DEVICE_H_
#define LATTICE_CUDA_GPU_DEVICE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "native/base/status.h"

namespace lattice {

struct GpuDevice {
  int index = 0;  // as CUDA counts in this process
  std::string name;
  int sm_major = 0, sm_minor = 0;
  size_t memory_bytes = 0;
  // 1000 * major + 10 * minor: the newest CUDA that the driver serves, and the one built in.
  int driver_version = 0;
  int runtime_version = 0;
  std::string uuid;      // "GPU-..." as nvidia-smi prints it
  std::string bus_id;    // "0000:17:00.0": what NVML and the kernel call it too
  std::string unusable;  // empty, or the sentence that says why this GPU cannot be used
};

// The sentence for a GPU that is too old for TensorRT and for the built-in kernels, else "".
std::string UnusableReason(const std::string& name, int sm_major, int sm_minor);

// By index; never empty: no driver, a driver older than the runtime or not ready and no device are
// kGpuUnavailable with the sentences of cuda_status.h. Creates no context. TensorRT must not be
// touched where this fails: some of its versions end the process then. Thread-safe.
Result<std::vector<GpuDevice>> ListGpus();

// Those that CUDA shows to this process; 0 where it shows none.
int CountGpus();

// Makes the GPU the calling thread's current one: what the thread creates from now on lives there.
// The first call for a GPU creates its context (a few tenths of a second).
Status UseGpu(int index);

// For a call into a library whose handles are bound to a GPU: the thread's current one while it
// lives. Does nothing where CUDA refuses.
class ScopedGpu {
 public:
  explicit ScopedGpu(int index);
  ~ScopedGpu();
  ScopedGpu(const ScopedGpu&) = delete;
  ScopedGpu& operator=(const ScopedGpu&) = delete;

 private:
  int before_ = -1;  // where another one was current
};

// kGpuLost where the thread's current GPU has faulted, whoever noticed; else kOk.
Status CheckGpu();

// Of the thread's current GPU, whoever holds the rest; 0 where the driver does not say.
size_t FreeGpuBytes();

}  // namespace lattice

#endif  // LATTICE_CUDA_GPU_DEVICE_H_
