// nvJPEG's functions that decode: as work of a stream, into the memory of its GPU.
#include <cuda_runtime_api.h>

#include <bit>
#include <cstring>
#include <vector>

#include "test/native/simulated_cuda/simulated_gpus.h"
#include "test/native/simulated_nvjpeg/handles.h"

#define SIMULATED_EXPORT extern "C" __attribute__((visibility("default")))

using lattice::simulated::Answer;
using lattice::simulated::Call;
using lattice::simulated::IsOnGpu;
using lattice::simulated::PictureHeader;
using lattice::simulated::PlaneSides;

namespace {

using File = std::span<const uint8_t>;

constexpr int kPinned = -1;
constexpr uint8_t kRubbish = 0x5A;

nvjpegStatus_t ToStatus(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return NVJPEG_STATUS_SUCCESS;
    case cudaErrorMemoryAllocation:
      return NVJPEG_STATUS_ALLOCATOR_FAILURE;
    case cudaErrorInvalidValue:
      return NVJPEG_STATUS_BAD_JPEG;
    case cudaErrorNotSupported:
      return NVJPEG_STATUS_JPEG_NOT_SUPPORTED;
    default:
      return NVJPEG_STATUS_EXECUTION_FAILED;
  }
}

int CurrentGpu() {
  int gpu = 0;
  cudaGetDevice(&gpu);
  return gpu;
}

// One picture on its way.
struct Decode {
  File file;
  std::vector<uint8_t> copy;  // of a file in memory that is not pinned
  int gpu = 0;
  PictureHeader header;
  nvjpegImage_t target{};

  // Sides of the written planes: engines write their last blocks in full.
  std::array<PlaneSides, 3> written() const { return WholeBlocksOf(header); }

  bool Fits() const {
    const std::array<PlaneSides, 3> planes = written();
    for (size_t i = 0; i < planes.size(); ++i) {
      const auto& [width, height] = planes[i];
      if (width == 0) continue;
      const size_t pitch = target.pitch[i];
      if (pitch < width || !IsOnGpu(target.channel[i], pitch * (height - 1) + width, gpu)) {
        return false;
      }
    }
    return true;
  }

  cudaError_t Run() const {
    const bool readable = !copy.empty() || IsOnGpu(file.data(), file.size(), kPinned);
    if (!readable || !Fits()) return cudaErrorIllegalAddress;
    const std::array<PlaneSides, 3> planes = written();
    for (size_t i = 0; i < planes.size(); ++i) {
      for (size_t y = 0; y < planes[i].height; ++y) {
        std::memset(target.channel[i] + y * target.pitch[i], kRubbish, planes[i].width);
      }
    }
    DecodePicture(copy.empty() ? file : File(copy), header, target);
    return cudaSuccess;
  }
};

// The library's own memory, which grows.
nvjpegStatus_t Hold(nvjpegJpegState_t state, size_t bytes) {
  if (bytes <= state->bytes) return NVJPEG_STATUS_SUCCESS;
  if (cudaFree(state->memory) != cudaSuccess) return NVJPEG_STATUS_EXECUTION_FAILED;
  state->memory = nullptr;
  state->bytes = 0;
  const size_t size = std::bit_ceil(bytes);
  const nvjpegStatus_t held = ToStatus(cudaMalloc(&state->memory, size));
  if (held == NVJPEG_STATUS_SUCCESS) state->bytes = size;
  return held;
}

nvjpegStatus_t QueueDecode(nvjpegJpegState_t state, File file, const nvjpegImage_t& target,
                           cudaStream_t stream) {
  const nvjpegHandle& handle = *state->handle;
  if (!handle.is_current() || handle.gpu != lattice::simulated::GpuOf(stream)) {
    return NVJPEG_STATUS_EXECUTION_FAILED;
  }
  Decode decode{file, {}, handle.gpu, {}, target};
  const nvjpegStatus_t read = ReadPictureHeader(file, &decode.header);
  if (read != NVJPEG_STATUS_SUCCESS) return read;
  if (!EnginesTake(decode.header)) return NVJPEG_STATUS_JPEG_NOT_SUPPORTED;
  if (!decode.Fits()) return NVJPEG_STATUS_INVALID_PARAMETER;
  nvjpegStatus_t ready = ToStatus(Answer(Call::kJpegDecode));
  if (ready == NVJPEG_STATUS_SUCCESS) ready = Hold(state, file.size());
  if (ready != NVJPEG_STATUS_SUCCESS) return ready;
  if (!IsOnGpu(file.data(), file.size(), kPinned)) decode.copy.assign(file.begin(), file.end());
  const cudaError_t queued =
      lattice::simulated::Queue(stream, [decode = std::move(decode)] { return decode.Run(); });
  return queued == cudaSuccess ? NVJPEG_STATUS_SUCCESS : NVJPEG_STATUS_EXECUTION_FAILED;
}

}  // namespace

bool nvjpegHandle::is_current() const { return gpu == CurrentGpu(); }

SIMULATED_EXPORT nvjpegStatus_t nvjpegCreateEx(nvjpegBackend_t backend, nvjpegDevAllocator_t*,
                                               nvjpegPinnedAllocator_t*, unsigned,
                                               nvjpegHandle_t* handle) {
  const int gpu = CurrentGpu();
  if (backend != NVJPEG_BACKEND_HARDWARE) return NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED;
  if (lattice::simulated::JpegEngines(gpu) == 0) return NVJPEG_STATUS_ARCH_MISMATCH;
  const nvjpegStatus_t made = ToStatus(Answer(Call::kJpegHandle));
  if (made == NVJPEG_STATUS_SUCCESS) *handle = new nvjpegHandle{gpu};
  return made;
}

SIMULATED_EXPORT nvjpegStatus_t nvjpegDestroy(nvjpegHandle_t handle) {
  if (!handle->is_current()) return NVJPEG_STATUS_EXECUTION_FAILED;
  delete handle;
  return NVJPEG_STATUS_SUCCESS;
}

SIMULATED_EXPORT nvjpegStatus_t nvjpegJpegStateCreate(nvjpegHandle_t handle,
                                                      nvjpegJpegState_t* state) {
  if (!handle->is_current()) return NVJPEG_STATUS_EXECUTION_FAILED;
  const nvjpegStatus_t made = ToStatus(Answer(Call::kJpegState));
  if (made == NVJPEG_STATUS_SUCCESS) *state = new nvjpegJpegState{handle};
  return made;
}

SIMULATED_EXPORT nvjpegStatus_t nvjpegJpegStateDestroy(nvjpegJpegState_t state) {
  if (!state->handle->is_current()) return NVJPEG_STATUS_EXECUTION_FAILED;
  const cudaError_t freed = cudaFree(state->memory);
  delete state;
  return freed == cudaSuccess ? NVJPEG_STATUS_SUCCESS : NVJPEG_STATUS_EXECUTION_FAILED;
}

// As much as the files of such pictures take at most.
SIMULATED_EXPORT nvjpegStatus_t nvjpegDecodeBatchedPreAllocate(nvjpegHandle_t handle,
                                                               nvjpegJpegState_t state, int batch,
                                                               int width, int height,
                                                               nvjpegChromaSubsampling_t,
                                                               nvjpegOutputFormat_t) {
  if (!handle->is_current()) return NVJPEG_STATUS_EXECUTION_FAILED;
  if (batch < 1 || width < 1 || height < 1) return NVJPEG_STATUS_INVALID_PARAMETER;
  return Hold(
      state, static_cast<size_t>(batch) * static_cast<size_t>(width) * static_cast<size_t>(height));
}

SIMULATED_EXPORT nvjpegStatus_t nvjpegDecodeBatchedInitialize(nvjpegHandle_t,
                                                              nvjpegJpegState_t state, int batch,
                                                              int, nvjpegOutputFormat_t format) {
  if (batch < 1 || format != NVJPEG_OUTPUT_YUV) return NVJPEG_STATUS_INVALID_PARAMETER;
  state->batch = batch;
  return NVJPEG_STATUS_SUCCESS;
}

// The files before a file that fails are queued all the same, and the state has to be prepared
// anew.
SIMULATED_EXPORT nvjpegStatus_t nvjpegDecodeBatched(nvjpegHandle_t, nvjpegJpegState_t state,
                                                    const unsigned char* const* files,
                                                    const size_t* lengths, nvjpegImage_t* targets,
                                                    cudaStream_t stream) {
  if (state->batch == 0) return NVJPEG_STATUS_INVALID_PARAMETER;
  for (int i = 0; i < state->batch; ++i) {
    const nvjpegStatus_t queued = QueueDecode(state, {files[i], lengths[i]}, targets[i], stream);
    if (queued == NVJPEG_STATUS_SUCCESS) continue;
    state->batch = 0;
    return queued;
  }
  return NVJPEG_STATUS_SUCCESS;
}
