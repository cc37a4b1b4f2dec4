// The runtime's functions for streams and events.
#include <cuda_runtime_api.h>

#include <chrono>

#include "test/native/simulated_cuda/machine.h"
#include "test/native/simulated_cuda/stream.h"

using lattice::simulated::BreakRecording;
using lattice::simulated::Call;
using lattice::simulated::EventState;
using lattice::simulated::Machine;
using lattice::simulated::Remembered;
using lattice::simulated::StreamState;
using lattice::simulated::ThisThread;

namespace {

cudaError_t MakeEvent(cudaEvent_t* event, bool timed) {
  const int gpu = ThisThread().gpu;
  const cudaError_t error = Machine::Get().Answer(gpu);
  if (error != cudaSuccess) return error;
  *event = new CUevent_st{gpu, timed, std::make_shared<EventState>()};
  return cudaSuccess;
}

uint64_t LastRecorded(EventState& event) {
  const std::lock_guard lock(event.mutex);
  return event.recorded;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  const int gpu = ThisThread().gpu;
  const cudaError_t error = Machine::Get().Answer(Call::kStreamCreate, gpu);
  if (error != cudaSuccess) return Remembered(error);
  *stream = new CUstream_st{gpu, std::make_shared<StreamState>(gpu), nullptr, false};
  (*stream)->state->Start();
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream == nullptr) return cudaSuccess;
  stream->state->Stop();
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  cudaError_t error = BreakRecording();
  if (error != cudaSuccess) return Remembered(error);
  if (stream == cudaStreamPerThread) {
    for (void* memory : ThisThread().asked_for) Machine::Get().Reach(memory);
    ThisThread().asked_for.clear();
    return Remembered(Machine::Get().Answer(ThisThread().gpu));
  }
  stream->state->AwaitIdle();
  return Remembered(Machine::Get().Answer(stream->gpu));
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const bool idle = stream->state->Idle();
  cudaError_t error = stream == ThisThread().recording ? BreakRecording() : cudaSuccess;
  if (error == cudaSuccess) error = Machine::Get().Answer(stream->gpu);
  if (error != cudaSuccess) return Remembered(error);
  return idle ? cudaSuccess : Remembered(cudaErrorNotReady);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  cudaError_t error = stream->recorded ? BreakRecording() : cudaSuccess;
  if (error == cudaSuccess) error = Machine::Get().Answer(stream->gpu);
  if (error != cudaSuccess) return Remembered(error);
  const auto state = event->state;
  const uint64_t which = LastRecorded(*state);
  stream->state->Push(
      [state, which] {
        state->Await(which);
        return cudaSuccess;
      },
      false);
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return Remembered(MakeEvent(event, true)); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return Remembered(MakeEvent(event, (flags & cudaEventDisableTiming) == 0));
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  cudaError_t error = Machine::Get().Answer(stream->gpu);
  if (error == cudaSuccess && event->gpu != stream->gpu) error = cudaErrorInvalidResourceHandle;
  if (error == cudaSuccess && stream->recorded) error = cudaErrorStreamCaptureUnsupported;
  if (error != cudaSuccess) return Remembered(error);
  const auto state = event->state;
  uint64_t which = 0;
  {
    const std::lock_guard lock(state->mutex);
    which = ++state->recorded;
  }
  // Reached on a faulted GPU too, so that who waits is told of the fault.
  stream->state->Push(
      [state, which] {
        const std::lock_guard lock(state->mutex);
        state->reached = which;
        state->at = std::chrono::steady_clock::now();
        state->changed.notify_all();
        return cudaSuccess;
      },
      true);
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  // In this order: a mark is reached after the fault of what was before it.
  const bool reached = event->state->Reached();
  const cudaError_t error = Machine::Get().Answer(event->gpu);
  if (error != cudaSuccess) return Remembered(error);
  return reached ? cudaSuccess : Remembered(cudaErrorNotReady);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  cudaError_t error = BreakRecording();
  if (error != cudaSuccess) return Remembered(error);
  event->state->Await(LastRecorded(*event->state));
  return Remembered(Machine::Get().Answer(event->gpu));
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  if (!start->timed || !end->timed) return Remembered(cudaErrorInvalidResourceHandle);
  if (!start->state->Reached() || !end->state->Reached()) return Remembered(cudaErrorNotReady);
  *ms = std::chrono::duration<float, std::milli>(end->state->at - start->state->at).count();
  return Remembered(Machine::Get().Answer(end->gpu));
}

}  // extern "C"
