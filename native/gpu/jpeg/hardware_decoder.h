// Decodes JPEGs on the engines of a GPU: which ones, how many at a time, in which batches.
#ifndef LATTICE_GPU_JPEG_HARDWARE_DECODER_H_
#define LATTICE_GPU_JPEG_HARDWARE_DECODER_H_

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "native/gpu/jpeg/gpu_image.h"
#include "native/gpu/jpeg/jpeg_engines.h"
#include "native/gpu/jpeg/plane_pool.h"

namespace lattice {

// Has no threads: a caller whose image waits takes a free place of the engines and decodes there
// what waits, up to one image per engine, its own or others'. It never waits for a fuller batch.
// Thread-safe.
class HardwareDecoder {
 public:
  // `most_plane_bytes` bounds the GPU memory of decoded images.
  HardwareDecoder(std::unique_ptr<JpegEngines> engines, size_t most_plane_bytes);
  // Precondition: no call is in work. Images that were handed out keep their memory.
  ~HardwareDecoder() = default;
  HardwareDecoder(const HardwareDecoder&) = delete;
  HardwareDecoder& operator=(const HardwareDecoder&) = delete;

  // Blocks until the image is decoded. Nothing, at once, where another decoder has to take it: it
  // is no complete baseline JPEG of 8 bits in 4:2:0 within the limits, the engines do not support
  // it, their queue is full, or the planes' memory is. kGpuLost for this and every further image
  // once the GPU is lost. Any other failure: the engines could not decode this file.
  std::optional<Result<GpuImage>> TryDecode(const EncodedImage& encoded,
                                            const DecodeLimits& limits);

  // Images that may be in the queue and in work; more are left to other decoders.
  int queue_depth() const { return JpegEngines::kPlaces * engines_->count(); }

 private:
  struct Job;

  Result<GpuImage> DecodeIn(PlanePool::Block memory, const EncodedImage& encoded);
  void Run(Job* job);
  void DecodeBatch(int place, std::span<Job* const> jobs) noexcept;
  Status DecodeOnce(int place, std::span<Job* const> jobs) const;

  const std::unique_ptr<JpegEngines> engines_;
  const std::shared_ptr<PlanePool> pool_;
  std::atomic<int> queued_ = 0;
  std::atomic<bool> lost_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job*> waiting_;      // guarded by the mutex
  std::vector<int> free_places_;  // guarded by the mutex
};

}  // namespace lattice

#endif  // LATTICE_GPU_JPEG_HARDWARE_DECODER_H_
