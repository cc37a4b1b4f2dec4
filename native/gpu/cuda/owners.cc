#include "native/gpu/cuda/owners.h"

#include <string>
#include <utility>

#include "native/gpu/cuda/cuda_status.h"

namespace lattice {
namespace {

// Also clears the runtime's last error, so that no later check takes it for its own.
Status Checked(cudaError_t error, const std::string& doing) {
  if (error == cudaSuccess) return {};
  cudaGetLastError();
  return ToStatus(error, doing);
}

// A failure is cleared, so that the thread's next launch, which checks the last error, does not
// report it.
template <typename Handle>
void Destroy(cudaError_t (*destroy)(Handle), Handle handle) {
  if (destroy(handle) != cudaSuccess) cudaGetLastError();
}

}  // namespace

void CudaDeleter::operator()(cudaStream_t stream) const { Destroy(cudaStreamDestroy, stream); }
void CudaDeleter::operator()(cudaEvent_t event) const { Destroy(cudaEventDestroy, event); }
void CudaDeleter::operator()(cudaGraph_t graph) const { Destroy(cudaGraphDestroy, graph); }
void CudaDeleter::operator()(cudaGraphExec_t graph) const { Destroy(cudaGraphExecDestroy, graph); }
void DeviceDeleter::operator()(void* memory) const { Destroy(cudaFree, memory); }
void PinnedDeleter::operator()(void* memory) const { Destroy(cudaFreeHost, memory); }

template <>
Result<DeviceBuffer> DeviceBuffer::Allocate(size_t bytes) {
  void* memory = nullptr;
  // This thread's own stream is empty: the memory is there for every stream once it is
  // synchronised.
  cudaError_t error = cudaMallocAsync(&memory, bytes, cudaStreamPerThread);
  if (error == cudaErrorNotSupported) {  // some virtual GPUs have no pool
    cudaGetLastError();
    error = cudaMalloc(&memory, bytes);
  } else if (error == cudaSuccess) {
    error = cudaStreamSynchronize(cudaStreamPerThread);
  }
  DeviceBuffer buffer(memory, bytes);
  const Status status =
      Checked(error, "allocating " + std::to_string(bytes) + " bytes of GPU memory");
  if (!status.ok()) return status;
  return buffer;
}

template <>
Result<PinnedBuffer> PinnedBuffer::Allocate(size_t bytes) {
  void* memory = nullptr;
  const std::string size = std::to_string(bytes) + " bytes of pinned memory";
  const cudaError_t error = cudaHostAlloc(&memory, bytes, cudaHostAllocDefault);
  const Status status = Checked(error, "allocating " + size);
  if (error == cudaErrorMemoryAllocation) {  // which is not the GPU's
    return Status(StatusCode::kOverloaded,
                  "The machine gives no " + size +
                      ", which the GPU copies from. Free host memory, load fewer models, or lower "
                      "the largest batch.");
  }
  if (!status.ok()) return status;
  return PinnedBuffer(memory, bytes);
}

Result<Stream> Stream::Create(Priority priority) {
  int lowest = 0;
  int highest = 0;
  cudaError_t error = cudaDeviceGetStreamPriorityRange(&lowest, &highest);
  cudaStream_t stream = nullptr;
  if (error == cudaSuccess) {
    error = cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking,
                                         priority == Priority::kHigh ? highest : lowest);
  }
  const Status status = Checked(error, "creating a stream");
  if (!status.ok()) return status;
  Stream result;
  result.stream_.reset(stream);
  return result;
}

Status Stream::Synchronize() const {
  return Checked(cudaStreamSynchronize(get()), "waiting for a stream");
}

Result<Event> Event::Create(WaitMode mode) {
  cudaEvent_t event = nullptr;
  const unsigned flags =
      cudaEventDisableTiming | (mode == WaitMode::kBlock ? cudaEventBlockingSync : 0u);
  const Status status = Checked(cudaEventCreateWithFlags(&event, flags), "creating an event");
  if (!status.ok()) return status;
  Event result;
  result.event_.reset(event);
  return result;
}

Status Event::Record(const Stream& stream) const {
  return Checked(cudaEventRecord(get(), stream.get()), "recording an event");
}

Status Event::Wait() const { return Checked(cudaEventSynchronize(get()), "waiting for an event"); }

Result<Graph> Graph::Capture(const Stream& stream, const std::function<Status()>& record) {
  const Status begun =
      Checked(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal),
              "starting to record a graph");
  if (!begun.ok()) return begun;
  const Status recorded = record();
  cudaGraph_t made = nullptr;
  const Status ended = Checked(cudaStreamEndCapture(stream.get(), &made), "recording a graph");
  const CudaOwned<cudaGraph_t> graph(made);
  Graph result;
  const Status ready =
      InOrder([&] { return recorded; }, [&] { return ended; },
              [&] {
                cudaGraphExec_t exec = nullptr;
                const Status instantiated =
                    Checked(cudaGraphInstantiate(&exec, graph.get(), 0), "instantiating a graph");
                result.ready_.reset(exec);
                return instantiated;
              },
              [&] {
                return Checked(cudaGraphUpload(result.ready_.get(), stream.get()),
                               "copying a graph to the GPU");
              });
  if (!ready.ok()) return ready;
  return result;
}

Status Graph::Launch(const Stream& stream) const {
  return Checked(cudaGraphLaunch(ready_.get(), stream.get()), "launching a graph");
}

}  // namespace lattice
