#include "native/gpu/cuda/pinned_memory.h"

#include <cuda_runtime_api.h>

#include <new>

#include "native/gpu/cuda/gpu_device.h"
#include "native/gpu/cuda/owners.h"

namespace lattice {

PinnedMemory::PinnedMemory() {
  if (cudaGetDevice(&gpu_) != cudaSuccess) cudaGetLastError();
}

void* PinnedMemory::do_allocate(size_t bytes, size_t) {
  // On a thread without a current GPU the driver would create a context on GPU 0.
  if (!UseGpu(gpu_).ok()) throw std::bad_alloc();
  auto pinned = PinnedBuffer::Allocate(bytes);
  if (!pinned.ok()) throw std::bad_alloc();
  return pinned->Release();
}

void PinnedMemory::do_deallocate(void* memory, size_t, size_t) {
  if (UseGpu(gpu_).ok()) PinnedDeleter()(memory);
}

}  // namespace lattice
