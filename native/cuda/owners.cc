#include "native/cuda/owners.h"

#include <sys/mman.h>
#include <unistd.h>

#include <sstream>
#include <string>
#include <utility>

#include "native/base/left_gpus.h"
#include "native/cuda/cuda_status.h"

namespace lattice {
namespace {

// Also clears the runtime's memory of the failure, so that no later check blames somebody else.
Status Checked(cudaError_t error, const std::string& doing) {
  if (error == cudaSuccess) return {};
  cudaGetLastError();
  return ToStatus(error, doing);
}

// -1 where there is none, so that it is freed as if nothing were known.
int CurrentGpu() {
  int gpu = -1;
  return cudaGetDevice(&gpu) == cudaSuccess ? gpu : -1;
}

// The current GPU has not answered for so long.
Status Left(Clock::duration patience, const std::string& doing) {
  LeaveGpu(CurrentGpu());
  const auto seconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(patience).count() / 1e3;
  std::ostringstream sentence;
  sentence << "The GPU did not answer for " << seconds << " s and is lost to this process (while "
           << doing
           << "). Restart the service; if it happens again, look for Xid errors of the driver in "
              "the kernel's log.";
  return {StatusCode::kGpuLost, sentence.str()};
}

// `ask` gives cudaErrorNotReady until there is an answer.
template <typename Ask>
Status Await(WaitMode mode, Clock::duration patience, const Ask& ask, const std::string& doing,
             Clock::duration expected = {}) {
  cudaError_t answer = cudaErrorNotReady;
  bool early = false;
  const auto is_over = [&] {
    answer = ask();
    early |= answer == cudaErrorNotReady;
    return answer != cudaErrorNotReady;
  };
  const bool over = WaitPatiently(mode, patience, is_over, SteadyTime(), expected);
  if (early) cudaGetLastError();  // to the runtime "not ready" is a failure
  return over ? Checked(answer, doing) : Left(patience, doing);
}

// What CUDA answers to a destruction matters to nobody, nor may it be blamed on the thread's next
// launch, which asks for the last failure.
cudaError_t Forgotten(cudaError_t error) {
  if (error != cudaSuccess) cudaGetLastError();
  return error;
}

}  // namespace

// Streams, events and graphs go when their work has ended, and no call waits for that. Memory does.
void CudaDeleter::operator()(cudaStream_t stream) const { Forgotten(cudaStreamDestroy(stream)); }
void CudaDeleter::operator()(cudaEvent_t event) const { Forgotten(cudaEventDestroy(event)); }
void CudaDeleter::operator()(cudaGraph_t graph) const { Forgotten(cudaGraphDestroy(graph)); }
void CudaDeleter::operator()(cudaGraphExec_t graph) const {
  Forgotten(cudaGraphExecDestroy(graph));
}
void DeviceDeleter::operator()(void* memory) const {
  if (!IsGpuLeft(gpu)) Forgotten(cudaFree(memory));
}

void PinnedDeleter::operator()(void* memory) const {
  if (IsAnyGpuLeft()) return;
  if (registered_bytes == 0) {
    Forgotten(cudaFreeHost(memory));
    return;
  }
  const cudaError_t freed = Forgotten(cudaHostUnregister(memory));
  // Addresses that CUDA still takes for pinned must not become somebody else's.
  if (freed == cudaSuccess || freed == cudaErrorHostMemoryNotRegistered) {
    munmap(memory, registered_bytes);
  }
}

template <>
Result<DeviceBuffer> DeviceBuffer::Allocate(size_t bytes) {
  void* memory = nullptr;
  const Status status = Checked(cudaMalloc(&memory, bytes),
                                "allocating " + std::to_string(bytes) + " bytes of GPU memory");
  if (!status.ok()) return status;
  return DeviceBuffer(memory, bytes, DeviceDeleter{CurrentGpu()});
}

template <>
Result<PinnedBuffer> PinnedBuffer::Allocate(size_t bytes) {
  void* memory = nullptr;
  const Status status = Checked(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable),
                                "allocating " + std::to_string(bytes) + " bytes of pinned memory");
  if (!status.ok()) return status;
  return PinnedBuffer(memory, bytes);
}

template <>
Result<PinnedBuffer> PinnedBuffer::AllocateNear(size_t bytes) {
  const std::string doing = "pinning " + std::to_string(bytes) + " bytes";
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return ToStatus(cudaErrorMemoryAllocation, doing);
  PinnedBuffer buffer(memory, bytes, PinnedDeleter{bytes});
  // The kernel takes a page from the node of the thread that touches it first.
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (size_t at = 0; at < bytes; at += page) static_cast<volatile char*>(memory)[at] = 0;
  const Status status = Checked(cudaHostRegister(memory, bytes, cudaHostRegisterPortable), doing);
  if (!status.ok()) return status;
  return buffer;
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

Status Stream::Synchronize(Clock::duration patience) const {
  return Await(
      WaitMode::kBlock, patience, [&] { return cudaStreamQuery(get()); }, "waiting for a stream");
}

Status Stream::WaitFor(const Event& event) const {
  return Checked(cudaStreamWaitEvent(get(), event.get(), 0), "queueing a wait for an event");
}

Result<Event> Event::Create(WaitMode mode) {
  cudaEvent_t event = nullptr;
  const Status status =
      Checked(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "creating an event");
  if (!status.ok()) return status;
  Event result;
  result.event_.reset(event);
  result.mode_ = mode;
  return result;
}

Status Event::Record(const Stream& stream) const {
  return Checked(cudaEventRecord(get(), stream.get()), "recording an event");
}

Status Event::Wait(Clock::duration patience) const {
  const auto begun = Clock::now();
  const Status reached = AwaitEvent(get(), mode_, patience, last_wait_);
  last_wait_ = Clock::now() - begun;
  return reached;
}

Status AwaitEvent(cudaEvent_t event, WaitMode mode, Clock::duration patience,
                  Clock::duration expected) {
  return Await(
      mode, patience, [&] { return cudaEventQuery(event); }, "waiting for an event", expected);
}

Result<bool> Event::Done() const {
  const cudaError_t error = cudaEventQuery(get());
  if (error == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  const Status status = Checked(error, "asking for an event");
  if (!status.ok()) return status;
  return true;
}

Result<Graph> Graph::Capture(const Stream& stream, const std::function<Status()>& record) {
  const Status begun =
      Checked(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal),
              "starting to record a graph");
  if (!begun.ok()) return begun;
  const Status recorded = record();
  cudaGraph_t graph = nullptr;
  const Status ended = Checked(cudaStreamEndCapture(stream.get(), &graph), "recording a graph");
  Graph result;
  result.graph_.reset(graph);
  if (!recorded.ok()) return recorded;
  if (!ended.ok()) return ended;
  return result;
}

Result<GraphExec> GraphExec::Instantiate(const Graph& graph) {
  cudaGraphExec_t exec = nullptr;
  const Status status =
      Checked(cudaGraphInstantiate(&exec, graph.get(), 0), "instantiating a graph");
  if (!status.ok()) return status;
  GraphExec result;
  result.graph_.reset(exec);
  return result;
}

Status GraphExec::Upload(const Stream& stream) const {
  return Checked(cudaGraphUpload(graph_.get(), stream.get()), "copying a graph to the GPU");
}

Status GraphExec::Launch(const Stream& stream) const {
  return Checked(cudaGraphLaunch(graph_.get(), stream.get()), "launching a graph");
}

}  // namespace lattice
