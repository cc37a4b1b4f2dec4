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

struct Copy {
  void* to;
  const void* from;
  size_t row_bytes;
  cudaMemcpyKind kind;
  // From one row to the next.
  size_t rows = 1;
  size_t to_pitch = 0;
  size_t from_pitch = 0;

  size_t to_bytes() const { return to_pitch * (rows - 1) + row_bytes; }
  size_t from_bytes() const { return from_pitch * (rows - 1) + row_bytes; }

  // Whether both ends are what `kind` says, memory of `gpu` or pinned, now and when the copy runs.
  bool Fits(int gpu) const {
    const auto on_host = [](const void* memory, size_t bytes) {
      const auto found = Machine::Get().Find(memory, bytes);
      return (found && found->gpu == kHost) || !Machine::Get().Find(memory, 1);
    };
    switch (kind) {
      case cudaMemcpyHostToDevice:
        return IsOnGpu(to, to_bytes(), gpu) && on_host(from, from_bytes());
      case cudaMemcpyDeviceToHost:
        return IsOnGpu(from, from_bytes(), gpu) && on_host(to, to_bytes());
      case cudaMemcpyDeviceToDevice:
        return IsOnGpu(to, to_bytes(), gpu) && IsOnGpu(from, from_bytes(), gpu);
      default:
        return false;
    }
  }

  void Run(int gpu) const {
    for (size_t row = 0; row < rows; ++row) {
      std::memcpy(static_cast<char*>(to) + row * to_pitch,
                  static_cast<const char*>(from) + row * from_pitch, row_bytes);
    }
    if (kind == cudaMemcpyHostToDevice) Machine::Get().CountCopied(gpu, rows * row_bytes);
  }
};

cudaError_t QueueCopy(const Copy& copy, cudaStream_t stream) {
  const int gpu = stream->gpu;
  // A graph reads its sources at each launch: what is not pinned may be elsewhere by then.
  if (stream->recorded && !(Machine::Get().Find(copy.to, copy.to_bytes()) &&
                            Machine::Get().Find(copy.from, copy.from_bytes()))) {
    return BreakRecording();
  }
  if (!copy.Fits(gpu)) return cudaErrorInvalidValue;
  return Queue(stream, [=] {
    if (!copy.Fits(gpu)) return cudaErrorIllegalAddress;
    copy.Run(gpu);
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
  return Remembered(QueueCopy({to, from, bytes, kind}, stream));
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t row_bytes, size_t rows, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  if (row_bytes > to_pitch || row_bytes > from_pitch) return Remembered(cudaErrorInvalidPitchValue);
  if (row_bytes == 0 || rows == 0) return cudaSuccess;
  return Remembered(QueueCopy({to, from, row_bytes, kind, rows, to_pitch, from_pitch}, stream));
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  cudaError_t error = BreakRecording();
  const int gpu = ThisThread().gpu;
  if (error == cudaSuccess) error = Machine::Get().Answer(gpu);
  const Copy copy{to, from, bytes, kind};
  if (error == cudaSuccess && !copy.Fits(gpu)) error = cudaErrorInvalidValue;
  if (error == cudaSuccess) copy.Run(gpu);
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
