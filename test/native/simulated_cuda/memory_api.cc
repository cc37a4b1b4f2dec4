// The runtime's functions for memory and copies.
#include <cuda_runtime_api.h>

#include <cstring>

#include "test/native/simulated_cuda/machine.h"
#include "test/native/simulated_cuda/stream.h"

using lattice::simulated::BreakRecording;
using lattice::simulated::Call;
using lattice::simulated::IsOnGpu;
using lattice::simulated::kHost;
using lattice::simulated::Machine;
using lattice::simulated::Queue;
using lattice::simulated::Remembered;
using lattice::simulated::ThisThread;

namespace {

// Whether both ends are what `kind` says, memory of `gpu` or pinned, now and when the copy runs.
bool Fits(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, int gpu) {
  const auto pinned = [&](const void* memory) {
    const auto found = Machine::Get().Find(memory, bytes);
    return found && found->gpu == kHost;
  };
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return IsOnGpu(to, bytes, gpu) && (pinned(from) || !Machine::Get().Find(from, 1));
    case cudaMemcpyDeviceToHost:
      return IsOnGpu(from, bytes, gpu) && (pinned(to) || !Machine::Get().Find(to, 1));
    case cudaMemcpyDeviceToDevice:
      return IsOnGpu(to, bytes, gpu) && IsOnGpu(from, bytes, gpu);
    default:
      return false;
  }
}

cudaError_t QueueCopy(void* to, const void* from, size_t bytes, cudaStream_t stream,
                      const std::function<bool()>& fits) {
  if (!fits()) return cudaErrorInvalidValue;
  return Queue(stream, [=] {
    if (!fits()) return cudaErrorIllegalAddress;
    std::memcpy(to, from, bytes);
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  cudaError_t error = BreakRecording();
  const int gpu = ThisThread().gpu;
  if (error == cudaSuccess) error = Machine::Get().Answer(Call::kMalloc, gpu);
  if (error == cudaSuccess) error = Machine::Get().Allocate(gpu, bytes, memory);
  return Remembered(error);
}

// In the order of the calling thread's own stream, which no work is queued on.
cudaError_t cudaMallocAsync(void** memory, size_t bytes, cudaStream_t stream) {
  cudaError_t error = BreakRecording();
  const int gpu = ThisThread().gpu;
  if (error == cudaSuccess && stream != cudaStreamPerThread) error = cudaErrorInvalidValue;
  if (error == cudaSuccess) error = Machine::Get().Answer(Call::kMalloc, gpu);
  if (error == cudaSuccess) error = Machine::Get().Allocate(gpu, bytes, memory, true);
  if (error == cudaSuccess) ThisThread().asked_for.push_back(*memory);
  return Remembered(error);
}

// Waits for what the GPU has to do, as the real one does, unless the memory is of its pool.
cudaError_t cudaFree(void* memory) {
  if (memory == nullptr) return cudaSuccess;
  cudaError_t error = BreakRecording();
  const auto found = Machine::Get().Find(memory, 1);
  if (error == cudaSuccess && !found) error = cudaErrorInvalidValue;
  if (error == cudaSuccess) error = Machine::Get().Answer(Call::kFree, found->gpu);
  if (error == cudaSuccess) {
    if (!found->is_pooled) Machine::Get().AwaitWork(found->gpu);
    error = Machine::Get().Free(found->gpu, memory);
  }
  return Remembered(error);
}

cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned) {
  cudaError_t error = BreakRecording();
  if (error == cudaSuccess) error = Machine::Get().Answer(Call::kHostAlloc, ThisThread().gpu);
  if (error == cudaSuccess) error = Machine::Get().Allocate(kHost, bytes, memory);
  return Remembered(error);
}

cudaError_t cudaFreeHost(void* memory) {
  if (memory == nullptr) return cudaSuccess;
  cudaError_t error = BreakRecording();
  if (error == cudaSuccess) error = Machine::Get().Answer(Call::kFreeHost, ThisThread().gpu);
  if (error == cudaSuccess) error = Machine::Get().Free(kHost, memory);
  return Remembered(error);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  const auto found = Machine::Get().Find(memory, 1);
  *attributes = {};
  attributes->type = !found                ? cudaMemoryTypeUnregistered
                     : found->gpu == kHost ? cudaMemoryTypeHost
                                           : cudaMemoryTypeDevice;
  attributes->device = found && found->gpu != kHost ? found->gpu : ThisThread().gpu;
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  const int gpu = ThisThread().gpu;
  const cudaError_t error = Machine::Get().Answer(gpu);
  *total = Machine::Get().KindOf(gpu).memory_bytes;
  *free = *total - Machine::Get().Used(gpu);
  return Remembered(error);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const int gpu = stream->gpu;
  // A graph reads its sources at each launch: what is not pinned may be elsewhere by then.
  if (stream->recorded && !(Machine::Get().Find(to, bytes) && Machine::Get().Find(from, bytes))) {
    return Remembered(BreakRecording());
  }
  return Remembered(
      QueueCopy(to, from, bytes, stream, [=] { return Fits(to, from, bytes, kind, gpu); }));
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  cudaError_t error = BreakRecording();
  const int gpu = ThisThread().gpu;
  if (error == cudaSuccess) error = Machine::Get().Answer(gpu);
  if (error == cudaSuccess && !Fits(to, from, bytes, kind, gpu)) error = cudaErrorInvalidValue;
  if (error == cudaSuccess) std::memcpy(to, from, bytes);
  return Remembered(error);
}

cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  const int gpu = stream->gpu;
  if (!IsOnGpu(memory, bytes, gpu)) return Remembered(cudaErrorInvalidValue);
  return Remembered(Queue(stream, [=] {
    if (!IsOnGpu(memory, bytes, gpu)) return cudaErrorIllegalAddress;
    std::memset(memory, value, bytes);
    return cudaSuccess;
  }));
}

}  // extern "C"
