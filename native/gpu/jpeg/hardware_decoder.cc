#include "native/gpu/jpeg/hardware_decoder.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace lattice {
namespace {

// Engines may not take smaller images, and the CPU decodes them sooner than they reach the GPU.
constexpr int kLeastSide = 32;

// A decoder of the CPU needs the end marker; engines fill in what is missing.
bool EndsAsJpeg(std::span<const uint8_t> bytes) {
  const size_t size = bytes.size();
  return size >= 2 && bytes[size - 2] == 0xFF && bytes[size - 1] == 0xD9;
}

bool IsWithin(const JpegHeader& jpeg, const DecodeLimits& limits) {
  return std::min(jpeg.width, jpeg.height) >= kLeastSide &&
         CheckSize(jpeg.width, jpeg.height, limits).ok();
}

bool IsForEngines(const EncodedImage& encoded, const DecodeLimits& limits) {
  const JpegHeader& jpeg = encoded.jpeg;
  return encoded.format == ImageFormat::kJpeg && jpeg.process == 0 && jpeg.precision == 8 &&
         !jpeg.rgb_coded && encoded.is_420() && IsWithin(jpeg, limits) && EndsAsJpeg(encoded.bytes);
}

GpuImage ImageOf(const EngineJpeg& jpeg, const JpegHeader& header, int gpu,
                 PlanePool::Block memory) {
  GpuImage image;
  image.gpu = gpu;
  image.width = header.width;
  image.height = header.height;
  image.orientation = std::clamp(header.exif_orientation, 1, 8);
  if (image.orientation > 4) std::swap(image.width, image.height);
  for (size_t i = 0; i < 3; ++i) image.planes[i] = jpeg.planes[i];
  image.pitches = jpeg.pitches;
  image.memory = std::move(memory);
  return image;
}

Status Lost() { return {StatusCode::kGpuLost, "The GPU was lost while it decoded images."}; }

}  // namespace

// An image in the queue, on the stack of the thread that waits for it.
struct HardwareDecoder::Job {
  EngineJpeg jpeg;
  Status status;
  bool done = false;  // guarded by the mutex
};

HardwareDecoder::HardwareDecoder(std::unique_ptr<JpegEngines> engines, size_t most_plane_bytes)
    : engines_(std::move(engines)), pool_(PlanePool::Create(most_plane_bytes, [this](size_t bytes) {
        return engines_->Allocate(bytes);
      })) {
  for (int place = 0; place < JpegEngines::kPlaces; ++place) free_places_.push_back(place);
}

std::optional<Result<GpuImage>> HardwareDecoder::TryDecode(const EncodedImage& encoded,
                                                           const DecodeLimits& limits) {
  if (!IsForEngines(encoded, limits)) return std::nullopt;
  if (lost_) return Result<GpuImage>(Lost());
  const struct Place {
    std::atomic<int>& queued;
    const int before = queued++;
    ~Place() { --queued; }
  } place{queued_};
  if (place.before >= queue_depth() || !engines_->Supports(encoded)) return std::nullopt;
  const JpegHeader& jpeg = encoded.jpeg;
  PlanePool::Block memory = pool_->Take(LayOutPlanes(jpeg.width, jpeg.height).bytes);
  if (!memory) return std::nullopt;
  return DecodeIn(std::move(memory), encoded);
}

Result<GpuImage> HardwareDecoder::DecodeIn(PlanePool::Block memory, const EncodedImage& encoded) {
  const PlaneLayout layout = LayOutPlanes(encoded.jpeg.width, encoded.jpeg.height);
  Job job;
  job.jpeg = {encoded.bytes, {}, layout.pitches};
  for (size_t i = 0; i < 3; ++i) job.jpeg.planes[i] = memory.get() + layout.offsets[i];
  Run(&job);
  if (!job.status.ok()) return job.status;
  return ImageOf(job.jpeg, encoded.jpeg, engines_->gpu(), std::move(memory));
}

void HardwareDecoder::Run(Job* job) {
  std::vector<Job*> batch;
  batch.reserve(static_cast<size_t>(engines_->count()));
  std::unique_lock lock(mutex_);
  waiting_.push_back(job);
  while (!job->done) {
    if (waiting_.empty() || free_places_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const int place = free_places_.back();
    free_places_.pop_back();
    batch.clear();
    while (!waiting_.empty() && batch.size() < batch.capacity()) {
      batch.push_back(waiting_.front());
      waiting_.pop_front();
    }
    lock.unlock();
    DecodeBatch(place, batch);
    lock.lock();
    for (Job* decoded : batch) decoded->done = true;
    free_places_.push_back(place);
    changed_.notify_all();
  }
}

void HardwareDecoder::DecodeBatch(int place, std::span<Job* const> jobs) noexcept {
  const Status status = lost_ ? Lost() : DecodeOnce(place, jobs);
  if (status.code() == StatusCode::kGpuLost) lost_ = true;
  if (status.ok() || lost_ || jobs.size() == 1) {
    for (Job* job : jobs) job->status = status;
    return;
  }
  // A batch fails as a whole: one by one only the file that cannot be decoded fails.
  for (size_t i = 0; i < jobs.size(); ++i) DecodeBatch(place, jobs.subspan(i, 1));
}

Status HardwareDecoder::DecodeOnce(int place, std::span<Job* const> jobs) const {
  try {
    std::vector<EngineJpeg> images;
    for (const Job* job : jobs) images.push_back(job->jpeg);
    return engines_->DecodeBatch(place, images);
  } catch (const std::exception&) {
    return {StatusCode::kOverloaded, "There is not enough memory to decode the images."};
  }
}

}  // namespace lattice
