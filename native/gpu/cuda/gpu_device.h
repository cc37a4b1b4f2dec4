// The GPUs of this machine and the one that a thread uses.
#ifndef LATTICE_GPU_CUDA_GPU_DEVICE_H_
#define LATTICE_GPU_CUDA_GPU_DEVICE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "native/base/status.h"

namespace lattice {

struct GpuDevice {
  int index = 0;  // CUDA's ordinal in this process
  std::string name;
  int sm_major = 0, sm_minor = 0;
  size_t memory_bytes = 0;
  std::string uuid;      // "GPU-..." as nvidia-smi prints it
  std::string bus_id;    // "0000:17:00.0", as nvidia-smi and the kernel take it
  std::string unusable;  // empty, or a sentence: why this GPU cannot be used
};

// The sentence for a GPU that is too old for TensorRT and for the built-in kernels, else "".
std::string UnusableReason(const std::string& name, int sm_major, int sm_minor);

// All GPUs that CUDA shows to this process, by index; never empty. kGpuUnavailable, with a sentence
// of cuda_status.h, without a driver, with one that is too old or not ready, and without a GPU.
// Creates no context. If this fails, TensorRT must not be called: some of its versions end the
// process. Thread-safe.
Result<std::vector<GpuDevice>> ListGpus();

// The NUMA node that a PCI device such as "0000:17:00.0" is attached to; -1 if the kernel does not
// say.
int NumaNodeOf(const std::string& bus_id);

// Makes the GPU the calling thread's current one: what the thread creates from now on belongs to
// it. The first call for a GPU creates its context (a few tenths of a second).
Status UseGpu(int index);

// kGpuLost if the thread's current GPU has faulted, in whatever call it showed; else kOk.
Status CheckGpu();

// Free memory of the thread's current GPU, which other processes may use too; 0 if the driver does
// not say.
size_t FreeGpuBytes();

}  // namespace lattice

#endif  // LATTICE_GPU_CUDA_GPU_DEVICE_H_
