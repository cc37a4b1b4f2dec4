// Owners of CUDA's handles. All are move-only, and empty when default-constructed or moved from.
// They belong to the GPU that was current when they were created (UseGpu) and may be destroyed on
// any thread for which that GPU is current, after the work that uses them has ended. Waits have no
// limit of their own: callers watch them (native/base/watched_call.h).
#ifndef LATTICE_GPU_CUDA_OWNERS_H_
#define LATTICE_GPU_CUDA_OWNERS_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>

#include "native/base/status.h"

namespace lattice {

// Destroys a handle and ignores what CUDA answers.
struct CudaDeleter {
  void operator()(cudaStream_t stream) const;
  void operator()(cudaEvent_t event) const;
  void operator()(cudaGraph_t graph) const;
  void operator()(cudaGraphExec_t graph) const;
};
template <typename Handle>
using CudaOwned = std::unique_ptr<std::remove_pointer_t<Handle>, CudaDeleter>;

struct DeviceDeleter {
  void operator()(void* memory) const;
};
struct PinnedDeleter {
  void operator()(void* memory) const;
};

// Bytes of one kind of memory, aligned to at least 256, with unspecified contents.
template <typename Deleter>
class CudaMemory {
 public:
  CudaMemory() = default;
  static Result<CudaMemory> Allocate(size_t bytes);

  void* data() const { return memory_.get(); }
  size_t size() const { return memory_ ? bytes_ : 0; }
  template <typename T>
  T* As() const {
    return static_cast<T*>(memory_.get());
  }
  // The caller owns it from here on.
  void* Release() { return memory_.release(); }

 private:
  CudaMemory(void* memory, size_t bytes) : memory_(memory), bytes_(bytes) {}

  std::unique_ptr<void, Deleter> memory_;
  size_t bytes_ = 0;
};

// Memory of the GPU, from the driver's pool where it has one: then neither taking nor freeing it
// waits for work of any stream, or holds it up.
using DeviceBuffer = CudaMemory<DeviceDeleter>;
template <>
Result<DeviceBuffer> DeviceBuffer::Allocate(size_t bytes);

// Memory of the host that the GPU copies from and to without a staging copy. Taking or freeing it
// may wait until the GPU has ended the work that is queued.
using PinnedBuffer = CudaMemory<PinnedDeleter>;
template <>
Result<PinnedBuffer> PinnedBuffer::Allocate(size_t bytes);

// Work queued in order. Never waits for the legacy default stream.
class Stream {
 public:
  enum class Priority { kHigh, kLow };  // the highest and lowest of this GPU

  static Result<Stream> Create(Priority priority);

  cudaStream_t get() const { return stream_.get(); }  // borrowed
  // Blocks until everything queued so far is done; its failure is the status. kGpuLost as
  // Event::Wait.
  Status Synchronize() const;

 private:
  CudaOwned<cudaStream_t> stream_;
};

// A mark in a stream. Measures no time.
class Event {
 public:
  // How Wait() waits: kSpin occupies a core, kBlock sleeps.
  enum class WaitMode { kSpin, kBlock };

  static Result<Event> Create(WaitMode mode);

  cudaEvent_t get() const { return event_.get(); }  // borrowed
  Status Record(const Stream& stream) const;
  // Blocks until the last Record is reached; returns at once if there was none. Fails when work
  // before it failed. kGpuLost when the GPU faulted.
  Status Wait() const;

 private:
  CudaOwned<cudaEvent_t> event_;
};

// Recorded work, ready to launch. At most one launch is in flight at a time.
class Graph {
 public:
  // Runs `record`, whose launches and copies into `stream` are recorded instead of executed. Calls
  // of other threads neither disturb the recording nor are disturbed by it. Queues the graph's copy
  // to the GPU on `stream`, so that the first launch takes no longer than later ones. Fails as
  // `record` does, or when it made a call that cannot be recorded; `stream` is usable again in both
  // cases.
  static Result<Graph> Capture(const Stream& stream, const std::function<Status()>& record);

  Status Launch(const Stream& stream) const;

 private:
  CudaOwned<cudaGraphExec_t> ready_;
};

}  // namespace lattice

#endif  // LATTICE_GPU_CUDA_OWNERS_H_
