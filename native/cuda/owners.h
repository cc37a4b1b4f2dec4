// Owners of CUDA's handles. All are move-only, and empty when made without a factory or moved from.
// They belong to the GPU that was current when they were made (UseGpu) and may be destroyed on any
// thread; whoever destroys one has waited for the work that uses it. Waits end: a GPU that does not
// answer is left (native/base/left_gpus.h), and then memory that it may use is never freed.
#ifndef LATTICE_CUDA_OWNERS_H_
#define LATTICE_CUDA_OWNERS_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>

#include "native/base/status.h"
#include "native/cuda/patient_wait.h"

namespace lattice {

// Destroys a handle; what CUDA answers is forgotten.
struct CudaDeleter {
  void operator()(cudaStream_t stream) const;
  void operator()(cudaEvent_t event) const;
  void operator()(cudaGraph_t graph) const;
  void operator()(cudaGraphExec_t graph) const;
};
template <typename Handle>
using CudaOwned = std::unique_ptr<std::remove_pointer_t<Handle>, CudaDeleter>;

struct DeviceDeleter {
  int gpu = -1;  // where the memory lies
  void operator()(void* memory) const;
};
struct PinnedDeleter {
  // Of memory of the kernel's that was pinned afterwards; 0: the runtime's own memory.
  size_t registered_bytes = 0;
  void operator()(void* memory) const;
};

// Bytes of one kind of memory, aligned to 256 at least; not cleared.
template <typename Deleter>
class CudaMemory {
 public:
  CudaMemory() = default;
  static Result<CudaMemory> Allocate(size_t bytes);
  // PinnedBuffer only: pages of the NUMA node that the calling thread runs on.
  static Result<CudaMemory> AllocateNear(size_t bytes);

  void* data() const { return memory_.get(); }
  size_t size() const { return memory_ ? bytes_ : 0; }
  template <typename T>
  T* As() const {
    return static_cast<T*>(memory_.get());
  }

 private:
  CudaMemory(void* memory, size_t bytes, Deleter deleter = {})
      : memory_(memory, deleter), bytes_(bytes) {}

  std::unique_ptr<void, Deleter> memory_;
  size_t bytes_ = 0;
};

// Memory of the GPU.
using DeviceBuffer = CudaMemory<DeviceDeleter>;
template <>
Result<DeviceBuffer> DeviceBuffer::Allocate(size_t bytes);

// Memory of the host that the GPU copies from and to without a staging copy; usable with every GPU.
using PinnedBuffer = CudaMemory<PinnedDeleter>;
template <>
Result<PinnedBuffer> PinnedBuffer::Allocate(size_t bytes);
template <>
Result<PinnedBuffer> PinnedBuffer::AllocateNear(size_t bytes);

class Event;
// Work queued in order. Never waits for the legacy default stream.
class Stream {
 public:
  enum class Priority { kHigh, kLow };  // the highest and lowest of this GPU

  static Result<Stream> Create(Priority priority);

  cudaStream_t get() const { return stream_.get(); }  // borrowed
  // Blocks until everything queued so far is done; says so when it failed. As Event's Wait.
  Status Synchronize(Clock::duration patience = kGpuPatience) const;
  // What is queued from now on starts after `event`'s last Record.
  Status WaitFor(const Event& event) const;

 private:
  CudaOwned<cudaStream_t> stream_;
};

// A mark in a stream. Measures no time.
class Event {
 public:
  using WaitMode = lattice::WaitMode;  // how Wait() waits

  static Result<Event> Create(WaitMode mode);

  cudaEvent_t get() const { return event_.get(); }  // borrowed
  Status Record(const Stream& stream) const;
  // Until the last Record is reached, at once where there was none. Fails when work before it did.
  // kGpuLost when the GPU faulted, or did not answer for `patience`: then the thread's current GPU
  // is taken for the event's and left. A sleeping wait takes the next one to be as long as this
  // one. One thread at a time.
  Status Wait(Clock::duration patience = kGpuPatience) const;
  // Whether the last Record has been reached.
  Result<bool> Done() const;

 private:
  CudaOwned<cudaEvent_t> event_;
  WaitMode mode_ = WaitMode::kBlock;
  mutable Clock::duration last_wait_{};
};

// As Event::Wait, for an event of any kind. `expected` as WaitPatiently's.
Status AwaitEvent(cudaEvent_t event, WaitMode mode, Clock::duration patience = kGpuPatience,
                  Clock::duration expected = {});

// Work recorded once, to be instantiated.
class Graph {
 public:
  // Runs `record`, whose launches and copies into `stream` are recorded instead of done. Calls that
  // other threads make meanwhile are not disturbed and do not disturb. Fails as `record` does, or
  // when something that cannot be recorded was called; `stream` is usable again either way.
  static Result<Graph> Capture(const Stream& stream, const std::function<Status()>& record);

  cudaGraph_t get() const { return graph_.get(); }  // borrowed

 private:
  CudaOwned<cudaGraph_t> graph_;
};

// A graph made ready to launch; needs the Graph no longer. One launch at a time is in flight.
class GraphExec {
 public:
  static Result<GraphExec> Instantiate(const Graph& graph);

  // Copies it to the GPU now, so that the first launch is as quick as the next.
  Status Upload(const Stream& stream) const;
  Status Launch(const Stream& stream) const;

 private:
  CudaOwned<cudaGraphExec_t> graph_;
};

}  // namespace lattice

#endif  // LATTICE_CUDA_OWNERS_H_
