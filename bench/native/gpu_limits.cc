#include "bench/native/gpu_limits.h"

#include <array>
#include <exception>

#include "bench/native/gpu_stopwatch.h"
#include "bench/native/matrix_rate.h"
#include "native/base/stopwatch.h"
#include "native/engine/gpu_engine.h"
#include "native/gpu/cuda/cuda_status.h"
#include "native/gpu/cuda/gpu_device.h"
#include "native/gpu/tensorrt/tensorrt_library.h"

namespace lattice {
namespace {

// Larger than any cache of the card.
constexpr size_t kDeviceBytes = size_t{512} << 20;
constexpr size_t kHostBytes = size_t{128} << 20;
constexpr int kCopies = 8;  // of a round
// The likeliest best first: time may run out.
constexpr std::array<int, 3> kMatrixSizes = {4096, 8192, 2048};

// GB/s of one direction.
Result<double> CopyRate(const Stream& stream, void* to, const void* from, size_t bytes,
                        cudaMemcpyKind kind, int rounds) {
  const auto copy = [&] {
    for (int i = 0; i < kCopies; ++i) {
      const cudaError_t queued = cudaMemcpyAsync(to, from, bytes, kind, stream.get());
      if (queued != cudaSuccess) return ToStatus(queued, "copying for a measurement");
    }
    return Status();
  };
  const auto ms = GpuStopwatch(stream).MedianMs(copy, rounds);
  if (!ms.ok()) return ms.status();
  return kCopies * static_cast<double>(bytes) / (*ms * 1e6);
}

Status MeasureCopies(const Stream& stream, int rounds, GpuLimits* limits) {
  const auto here = DeviceBuffer::Allocate(kDeviceBytes);
  if (!here.ok()) return here.status();
  const auto there = DeviceBuffer::Allocate(kDeviceBytes);
  if (!there.ok()) return there.status();
  const auto host = PinnedBuffer::Allocate(kHostBytes);
  if (!host.ok()) return host.status();
  const auto within =
      CopyRate(stream, there->data(), here->data(), kDeviceBytes, cudaMemcpyDeviceToDevice, rounds);
  if (!within.ok()) return within.status();
  limits->copy_gb_s = 2 * *within;
  const auto upload =
      CopyRate(stream, here->data(), host->data(), kHostBytes, cudaMemcpyHostToDevice, rounds);
  if (!upload.ok()) return upload.status();
  limits->upload_gb_s = *upload;
  const auto download =
      CopyRate(stream, host->data(), here->data(), kHostBytes, cudaMemcpyDeviceToHost, rounds);
  if (download.ok()) limits->download_gb_s = *download;
  return download.status();
}

// A size that fails costs its own figure only, a lost GPU everything.
Status MeasureProducts(const TensorRtLibrary& library, const Stream& stream, int rounds,
                       Clock::time_point until, GpuLimits* limits) {
  for (const int size : kMatrixSizes) {
    const auto rate = Clock::now() < until
                          ? MeasureMatrixRate(library, stream, size, rounds, until)
                          : Status(StatusCode::kCancelled, "There was no time to build a product.");
    if (!rate.ok()) {
      if (rate.status().code() == StatusCode::kGpuLost) return rate.status();
      limits->matrix_missing = rate.status().message();
    } else if (*rate > limits->matrix_tflop_s) {
      limits->matrix_tflop_s = *rate;
      limits->matrix_size = size;
    }
  }
  if (limits->matrix_size != 0) limits->matrix_missing.clear();
  return {};
}

}  // namespace

Result<GpuLimits> MeasureGpuLimits(int rounds, std::chrono::milliseconds time) {
  const Clock::time_point until = Clock::now() + time;
  try {
    const auto gpus = IdentifyUsableGpus();
    if (!gpus.ok()) return gpus.status();
    const GpuIdentity& gpu = gpus->front();
    const auto library = TensorRtLibrary::Open();
    if (!library.ok()) return library.status();
    const Status current = UseGpu(gpu.index);
    if (!current.ok()) return current;
    const auto stream = Stream::Create(Stream::Priority::kHigh);
    if (!stream.ok()) return stream.status();
    GpuLimits limits;
    limits.name = gpu.name;
    limits.tensorrt = (*library)->version();
    Status status = MeasureCopies(*stream, rounds, &limits);
    if (status.ok()) status = MeasureProducts(**library, *stream, rounds, until, &limits);
    if (!status.ok()) return status;
    return limits;
  } catch (const std::exception&) {
    return Status(StatusCode::kInternalError, "The limits could not be measured: out of memory.");
  }
}

}  // namespace lattice
