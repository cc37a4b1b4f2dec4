// NVIDIA GPUs simulated on the host: a CUDA runtime that is linked instead of NVIDIA's, so that
// everything above it runs without a GPU. Streams are threads, graphs are lists of recorded calls,
// kernels run their blocks as plain C++. Memory of a GPU is host memory, filled with garbage when
// it is allocated and when it is freed.
//
// It is as strict as a GPU: work that touches memory of another GPU, or freed memory, faults the
// GPU for good. So does memory that a stream was asked for and has not reached. A call that may not
// be recorded breaks the recording; so does a copy of memory that is not pinned. A stream takes
// kernels of its own GPU only, within the limits of a launch.
#ifndef LATTICE_TEST_SIMULATED_CUDA_SIMULATED_GPUS_H_
#define LATTICE_TEST_SIMULATED_CUDA_SIMULATED_GPUS_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace lattice::simulated {

struct GpuKind {
  std::string name = "Simulated GPU";
  int sm_major = 9;
  int sm_minor = 0;
  size_t memory_bytes = size_t{16} << 30;
  unsigned jpeg_engines = 7;  // as many as an H100 has
};

// The GPUs of this process from now on, healthy and empty; before, LATTICE_SIMULATED_GPUS of them
// (1 where that is not set, none with an empty CUDA_VISIBLE_DEVICES), of which
// LATTICE_SIMULATED_FAULT="GPU:PASSING" names one for FaultWork, and LATTICE_SIMULATED_HANG
// likewise one for HangCall with launches of graphs. What older ones were given to hold must not be
// used any more.
void PlugIn(const std::vector<GpuKind>& gpus);

// Calls of a program that a test can make fail, by the runtime's function.
enum class Call {
  kDeviceCount,
  kMalloc,  // cudaMallocAsync too
  kFree,
  kHostAlloc,
  kFreeHost,
  kStreamCreate,
  kGraphInstantiate,
  kGraphLaunch,
  kKernel,
  // TensorRT's: they say why in its log, whatever the error.
  kParse,
  kBuild,
  kDeserialize,
  kCreateContext,
  kEnqueue,
  // nvJPEG's: cudaErrorInvalidValue is a bad JPEG, cudaErrorNotSupported one that is not supported.
  kJpegHandle,
  kJpegState,
  kJpegDecode,
};

// The call after the next `passing` ones answers `error`; the one after it succeeds again.
void FailCall(Call call, cudaError_t error, int passing = 0);

// The work that a stream of `gpu` runs after the next `passing` pieces faults with `error`, which
// the GPU then answers for good.
void FaultWork(int gpu, cudaError_t error, int passing = 0);

// From now on streams of `gpu` take up no more work, without an error, until Release.
void Hang(int gpu);
// The call on `gpu` after the next `passing` ones, and every later one, does not return until
// Release.
void HangCall(Call call, int gpu, int passing = 0);
void Release(int gpu);

// How often this was called in this process, whatever it answered.
size_t CallsOf(Call call);
// Pieces of work that streams of `gpu` have done.
size_t WorkDone(int gpu);
// Bytes that were copied from the host to `gpu`.
size_t CopiedBytes(int gpu);
// Bytes of `gpu` that are allocated, and of pinned memory.
size_t UsedBytes(int gpu);
size_t PinnedBytes();

// For the other simulated libraries: work of a stream, which runs on its thread or is recorded.
// It answers cudaSuccess or the error that faults the GPU.
using Work = std::function<cudaError_t()>;
cudaError_t Queue(cudaStream_t stream, Work work);
int GpuOf(cudaStream_t stream);
bool IsRecording(cudaStream_t stream);
// Whether all of these bytes lie in one allocation of this GPU's memory.
bool IsOnGpu(const void* memory, size_t bytes, int gpu);
// The answer to a call on the current GPU of this thread: see FailCall.
cudaError_t Answer(Call call);
// 0 of a GPU that is not there (any more).
unsigned JpegEngines(int gpu);

// The PCI bus of GPU 0; the others follow.
inline constexpr int kFirstPciBus = 0xE0;

}  // namespace lattice::simulated

#endif  // LATTICE_TEST_SIMULATED_CUDA_SIMULATED_GPUS_H_
