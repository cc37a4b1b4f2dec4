#include "native/gpu/nvjpeg/nvjpeg_engines.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "native/gpu/jpeg/photo_sides.h"

namespace lattice {
namespace {

// By default the library decodes what is there of a damaged file instead of reporting it.
#ifdef NVJPEG_FLAGS_BITSTREAM_STRICT
constexpr unsigned kFlags = NVJPEG_FLAGS_BITSTREAM_STRICT;
#else
constexpr unsigned kFlags = NVJPEG_FLAGS_DEFAULT;
#endif

// Most files of a large photo are smaller.
constexpr size_t kLargeFileBytes = kLargePhoto.pixels() / 4;

nvjpegImage_t TargetOf(const EngineJpeg& image) {
  nvjpegImage_t target{};
  for (size_t i = 0; i < image.planes.size(); ++i) {
    target.channel[i] = image.planes[i];
    target.pitch[i] = static_cast<size_t>(image.pitches[i]);
  }
  return target;
}

}  // namespace

Result<std::unique_ptr<NvJpegEngines>> NvJpegEngines::Open(const NvJpegLibrary& library, int gpu,
                                                           Clock::duration longest_batch) {
  std::unique_ptr<NvJpegEngines> engines(new NvJpegEngines(library, gpu, longest_batch));
  Status opened = UseGpu(gpu);
  if (opened.ok()) opened = engines->OpenHandle();
  if (opened.ok()) opened = engines->CountEngines();
  for (size_t i = 0; i < engines->places_.size() && opened.ok(); ++i) {
    opened = engines->OpenPlace(engines->places_[i]);
  }
  if (!opened.ok()) return opened;
  return engines;
}

Status NvJpegEngines::OpenHandle() {
  nvjpegHandle_t handle = nullptr;
  const Status made =
      ToStatus(functions_.CreateEx(NVJPEG_BACKEND_HARDWARE, nullptr, nullptr, kFlags, &handle),
               "opening the JPEG engines of GPU " + std::to_string(gpu_));
  if (!made.ok()) return made;
  handle_ = {handle, NvJpegDeleter{&functions_, gpu_}};
  return {};
}

Status NvJpegEngines::CountEngines() {
  unsigned engines = 0;
  unsigned cores = 0;
  const Status asked = ToStatus(functions_.GetHardwareDecoderInfo(handle_.get(), &engines, &cores),
                                "counting the JPEG engines");
  if (!asked.ok()) return asked;
  // Each core of an engine works on an image of its own.
  count_ = static_cast<int>(engines * std::max(cores, 1u));
  if (count_ > 0) return {};
  return {StatusCode::kGpuUnavailable,
          "GPU " + std::to_string(gpu_) +
              " shows no JPEG engines. A container needs the driver capability `video` "
              "(NVIDIA_DRIVER_CAPABILITIES)."};
}

Status NvJpegEngines::OpenPlace(Place& place) {
  // Batches of the network go first.
  auto stream = Stream::Create(Stream::Priority::kLow);
  if (!stream.ok()) return stream.status();
  place.stream = *std::move(stream);
  auto done = Event::Create(Event::WaitMode::kBlock);
  if (!done.ok()) return done.status();
  place.done = *std::move(done);
  nvjpegJpegState_t state = nullptr;
  const Status made =
      ToStatus(functions_.JpegStateCreate(handle_.get(), &state), "making a decoder");
  if (!made.ok()) return made;
  place.state = {state, NvJpegDeleter{&functions_, gpu_}};
  // A hint: memory that it does not get now it makes when it decodes. Without it the library makes
  // and frees some whenever sizes change, and freeing waits for the network's batches.
  (void)functions_.DecodeBatchedPreAllocate(handle_.get(), state, count_, kUsualPhoto.width,
                                            kUsualPhoto.height, NVJPEG_CSS_420, NVJPEG_OUTPUT_YUV);
  return MakeRoom(place, static_cast<size_t>(count_) * kLargeFileBytes);
}

Status NvJpegEngines::MakeRoom(Place& place, size_t file_bytes) {
  auto files = PinnedBuffer::Allocate(file_bytes);
  if (!files.ok()) return files.status();
  place.files = *std::move(files);
  return {};
}

NvJpegEngines::HeaderReader NvJpegEngines::TakeReader() {
  const std::lock_guard lock(mutex_);
  if (!idle_readers_.empty()) {
    HeaderReader reader = std::move(idle_readers_.back());
    idle_readers_.pop_back();
    return reader;
  }
  nvjpegJpegStream_t made = nullptr;
  if (functions_.JpegStreamCreate(handle_.get(), &made) != NVJPEG_STATUS_SUCCESS) return {};
  return {made, NvJpegDeleter{&functions_, gpu_}};
}

void NvJpegEngines::Return(HeaderReader reader) {
  const std::lock_guard lock(mutex_);
  idle_readers_.push_back(std::move(reader));
}

bool NvJpegEngines::Supports(const EncodedImage& encoded) {
  if (!UseGpu(gpu_).ok()) return false;
  HeaderReader reader = TakeReader();
  if (!reader) return false;
  const bool reads = Reads(reader.get(), encoded);
  Return(std::move(reader));
  return reads;
}

bool NvJpegEngines::Reads(nvjpegJpegStream_t reader, const EncodedImage& encoded) const {
  nvjpegHandle_t const handle = handle_.get();
  unsigned width = 0;
  unsigned height = 0;
  nvjpegChromaSubsampling_t sampling = NVJPEG_CSS_UNKNOWN;
  int unsupported = 1;  // nvJPEG answers 0 for a file that it supports
  const bool read =
      functions_.JpegStreamParseHeader(handle, encoded.bytes.data(), encoded.bytes.size(),
                                       reader) == NVJPEG_STATUS_SUCCESS &&
      functions_.JpegStreamGetFrameDimensions(reader, &width, &height) == NVJPEG_STATUS_SUCCESS &&
      functions_.JpegStreamGetChromaSubsampling(reader, &sampling) == NVJPEG_STATUS_SUCCESS &&
      functions_.DecodeBatchedSupported(handle, reader, &unsupported) == NVJPEG_STATUS_SUCCESS;
  // The planes are made for the sides that our own reader found.
  return read && unsupported == 0 && width == static_cast<unsigned>(encoded.jpeg.width) &&
         height == static_cast<unsigned>(encoded.jpeg.height) && sampling == NVJPEG_CSS_420;
}

std::shared_ptr<uint8_t> NvJpegEngines::Allocate(size_t bytes) {
  if (!UseGpu(gpu_).ok()) return nullptr;
  auto buffer = DeviceBuffer::Allocate(bytes);
  if (!buffer.ok()) return nullptr;
  const auto owner = std::make_shared<DeviceBuffer>(*std::move(buffer));
  return {owner, owner->As<uint8_t>()};
}

Status NvJpegEngines::DecodeBatch(int place, std::span<const EngineJpeg> images) {
  const WatchedCall watched("decoding images", longest_batch_);
  Place& in = places_[static_cast<size_t>(place)];
  Status ran = UseGpu(gpu_);
  if (ran.ok()) ran = QueueBatch(in, images);
  if (ran.ok()) ran = in.done.Record(in.stream);
  if (ran.ok()) ran = in.done.Wait();
  if (ran.ok() || ran.code() == StatusCode::kGpuLost) return ran;
  in.prepared_for = 0;
  // Work that was queued before the failure must not write later; and a fault of the GPU shows
  // here.
  Status rest = in.stream.Synchronize();
  return rest.code() == StatusCode::kGpuLost ? rest : ran;
}

Status NvJpegEngines::QueueBatch(Place& place, std::span<const EngineJpeg> images) {
  size_t bytes = 0;
  for (const EngineJpeg& image : images) bytes += image.bytes.size();
  if (bytes > place.files.size()) {
    const Status made = MakeRoom(place, bytes + bytes / 2);
    if (!made.ok()) return made;
  }
  if (place.prepared_for != images.size()) {
    const Status ready = ToStatus(
        functions_.DecodeBatchedInitialize(handle_.get(), place.state.get(),
                                           static_cast<int>(images.size()), 1, NVJPEG_OUTPUT_YUV),
        "preparing a batch");
    if (!ready.ok()) return ready;
    place.prepared_for = images.size();
  }
  std::vector<const unsigned char*> files;
  std::vector<size_t> lengths;
  std::vector<nvjpegImage_t> targets;
  uint8_t* end = place.files.As<uint8_t>();
  for (const EngineJpeg& image : images) {
    files.push_back(end);
    lengths.push_back(image.bytes.size());
    targets.push_back(TargetOf(image));
    std::memcpy(end, image.bytes.data(), image.bytes.size());
    end += image.bytes.size();
  }
  return ToStatus(functions_.DecodeBatched(handle_.get(), place.state.get(), files.data(),
                                           lengths.data(), targets.data(), place.stream.get()),
                  "decoding a batch");
}

}  // namespace lattice
