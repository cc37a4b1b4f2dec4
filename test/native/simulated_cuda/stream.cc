#include "test/native/simulated_cuda/stream.h"

#include <utility>

#include "test/native/simulated_cuda/machine.h"

namespace lattice::simulated {

ThreadState& ThisThread() {
  thread_local ThreadState state;
  return state;
}

cudaError_t Remembered(cudaError_t error) {
  if (error != cudaSuccess) ThisThread().last = error;
  return error;
}

cudaError_t BreakRecording() {
  const cudaStream_t recording = ThisThread().recording;
  if (recording == nullptr) return cudaSuccess;
  recording->broken = true;
  return cudaErrorStreamCaptureUnsupported;
}

bool EventState::Reached() {
  const std::lock_guard lock(mutex);
  return reached >= recorded;
}

void EventState::Await(uint64_t which) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return reached >= which; });
}

// The thread keeps the stream alive: work may outlast the handle, and a hanging GPU everything.
void StreamState::Start() {
  std::thread([self = shared_from_this()] { self->Run(); }).detach();
}

void StreamState::Push(Work work, bool always) {
  const std::lock_guard lock(mutex_);
  items_.push_back({std::move(work), always, Machine::Get().QueueWork(gpu_)});
  changed_.notify_all();
}

void StreamState::AwaitIdle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return items_.empty() && !working_; });
}

bool StreamState::Idle() {
  const std::lock_guard lock(mutex_);
  return items_.empty() && !working_;
}

void StreamState::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

void StreamState::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopped_ || !items_.empty(); });
    if (items_.empty()) return;
    const Item item = std::move(items_.front());
    items_.pop_front();
    working_ = true;
    lock.unlock();
    const bool healthy = Machine::Get().BeginWork(gpu_);
    const cudaError_t answer = healthy || item.always ? item.work() : cudaSuccess;
    Machine::Get().EndWork(gpu_, item.number, answer);
    lock.lock();
    working_ = false;
    changed_.notify_all();
  }
}

cudaError_t Queue(cudaStream_t stream, Work work) {
  const cudaError_t fault = Machine::Get().Answer(stream->gpu);
  if (fault != cudaSuccess) return fault;
  if (stream->recorded) {
    stream->recorded->work.push_back(std::move(work));
  } else {
    stream->state->Push(std::move(work), false);
  }
  return cudaSuccess;
}

int GpuOf(cudaStream_t stream) { return stream->gpu; }

bool IsRecording(cudaStream_t stream) { return stream->recorded != nullptr; }

}  // namespace lattice::simulated
