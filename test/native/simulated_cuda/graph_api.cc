// The runtime's functions for recording and launching graphs.
#include <cuda_runtime_api.h>

#include <utility>

#include "test/native/simulated_cuda/machine.h"
#include "test/native/simulated_cuda/stream.h"

using lattice::simulated::Call;
using lattice::simulated::Machine;
using lattice::simulated::Queue;
using lattice::simulated::Remembered;
using lattice::simulated::ThisThread;
using lattice::simulated::Work;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (mode != cudaStreamCaptureModeThreadLocal || stream->recorded) {
    return Remembered(cudaErrorIllegalState);
  }
  const cudaError_t error = Machine::Get().Answer(stream->gpu);
  if (error != cudaSuccess) return Remembered(error);
  stream->recorded.reset(new CUgraph_st{stream->gpu, {}});
  stream->broken = false;
  ThisThread().recording = stream;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  if (!stream->recorded) return Remembered(cudaErrorIllegalState);
  if (ThisThread().recording != stream) return Remembered(cudaErrorStreamCaptureWrongThread);
  ThisThread().recording = nullptr;
  std::unique_ptr<CUgraph_st> recorded = std::move(stream->recorded);
  if (stream->broken) return Remembered(cudaErrorStreamCaptureInvalidated);
  *graph = recorded.release();
  return Remembered(Machine::Get().Answer(stream->gpu));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph, unsigned long long) {
  const cudaError_t error = Machine::Get().Answer(Call::kGraphInstantiate, graph->gpu);
  if (error != cudaSuccess) return Remembered(error);
  *ready = new CUgraphExec_st{graph->gpu, graph->work};
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t graph, cudaStream_t stream) {
  if (graph->gpu != stream->gpu) return Remembered(cudaErrorInvalidResourceHandle);
  return Remembered(Machine::Get().Answer(graph->gpu));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  cudaError_t error = Machine::Get().Answer(Call::kGraphLaunch, graph->gpu);
  if (error == cudaSuccess && graph->gpu != stream->gpu) error = cudaErrorInvalidResourceHandle;
  for (size_t i = 0; error == cudaSuccess && i < graph->work.size(); ++i) {
    error = Queue(stream, graph->work[i]);
  }
  return Remembered(error);
}

}  // extern "C"
