#include "native/cuda/pinned_memory.h"

#include <cuda_runtime_api.h>

#include <new>

#include "native/base/abandoned_gpu.h"
#include "native/cuda/gpu_device.h"
#include "native/cuda/owners.h"

namespace lattice {

PinnedMemory::PinnedMemory() {
  if (cudaGetDevice(&gpu_) != cudaSuccess) cudaGetLastError();
}

void* PinnedMemory::do_allocate(size_t bytes, size_t alignment) {
  // On a thread without a current GPU the driver would create a context on GPU 0.
  if (!IsGpuAbandoned() && UseGpu(gpu_).ok()) {
    auto pinned = PinnedBuffer::Allocate(bytes);
    if (pinned.ok()) return pinned->Release();
  }
  if (!IsGpuAbandoned()) throw std::bad_alloc();
  return ::operator new (bytes, std::align_val_t{alignment});
}

void PinnedMemory::do_deallocate(void* memory, size_t, size_t) {
  if (IsGpuAbandoned() || !UseGpu(gpu_).ok()) return;
  PinnedDeleter()(memory);
}

}  // namespace lattice
