#include "native/decode_route/nvjpeg/nvjpeg_decoder.h"

#include <string>
#include <utility>
#include <vector>

#include "native/cuda/gpu_device.h"
#include "native/cuda/owners.h"

namespace lattice {
namespace {

// The library would rather decode what is there of a damaged file than say so.
#ifdef NVJPEG_FLAGS_BITSTREAM_STRICT
constexpr unsigned kFlags = NVJPEG_FLAGS_BITSTREAM_STRICT;
#else
constexpr unsigned kFlags = NVJPEG_FLAGS_DEFAULT;
#endif

// Most photos are no larger. Without it the library makes and frees memory whenever sizes change,
// and freeing waits for the network's slices.
constexpr int kUsualWidth = 1920;
constexpr int kUsualHeight = 1080;

}  // namespace

Result<std::shared_ptr<NvJpegDecoder>> NvJpegDecoder::Open(const NvJpegLibrary& library, int gpu,
                                                           Kind kind) {
  std::shared_ptr<NvJpegDecoder> decoder(new NvJpegDecoder(library, gpu, kind));
  const NvJpegFunctions& functions = library.functions();
  const nvjpegBackend_t backend =
      kind == Kind::kHardware ? NVJPEG_BACKEND_HARDWARE : NVJPEG_BACKEND_GPU_HYBRID;
  nvjpegHandle_t handle = nullptr;
  const Status made = ToStatus(functions.CreateEx(backend, nullptr, nullptr, kFlags, &handle),
                               "opening a decoder on GPU " + std::to_string(gpu));
  if (!made.ok()) return made;
  decoder->handle_ = {handle, NvJpegDeleter{&functions, gpu}};
  if (kind == Kind::kHardware) {
    const Status counted = decoder->CountEngines();
    if (!counted.ok()) return counted;
  }
  nvjpegJpegStream_t header = nullptr;
  const Status ready =
      ToStatus(functions.JpegStreamCreate(handle, &header), "making a reader of headers");
  if (!ready.ok()) return ready;
  decoder->header_ = {header, NvJpegDeleter{&functions, gpu}};
  return decoder;
}

Status NvJpegDecoder::CountEngines() {
  unsigned engines = 0;
  unsigned cores = 0;
  const Status asked = ToStatus(functions_.GetHardwareDecoderInfo(handle_.get(), &engines, &cores),
                                "counting the JPEG engines");
  if (!asked.ok()) return asked;
  // Each core of an engine works on an image of its own.
  engines_ = static_cast<int>(engines * std::max(cores, 1u));
  if (engines_ > 0) return {};
  return {StatusCode::kGpuUnavailable,
          "GPU " + std::to_string(gpu_) +
              " shows no JPEG engines. A container needs the driver capability `video` "
              "(NVIDIA_DRIVER_CAPABILITIES)."};
}

bool NvJpegDecoder::Supports(const EncodedImage& encoded) {
  const std::lock_guard lock(mutex_);
  const ScopedGpu current(gpu_);
  unsigned width = 0;
  unsigned height = 0;
  nvjpegJpegEncoding_t encoding = NVJPEG_ENCODING_UNKNOWN;
  nvjpegChromaSubsampling_t sampling = NVJPEG_CSS_UNKNOWN;
  const bool read =
      functions_.JpegStreamParseHeader(handle_.get(), encoded.bytes.data(), encoded.bytes.size(),
                                       header_.get()) == NVJPEG_STATUS_SUCCESS &&
      functions_.JpegStreamGetFrameDimensions(header_.get(), &width, &height) ==
          NVJPEG_STATUS_SUCCESS &&
      functions_.JpegStreamGetJpegEncoding(header_.get(), &encoding) == NVJPEG_STATUS_SUCCESS &&
      functions_.JpegStreamGetChromaSubsampling(header_.get(), &sampling) == NVJPEG_STATUS_SUCCESS;
  // The planes were made for the sides that our own reader found.
  if (!read || width != static_cast<unsigned>(encoded.jpeg.width) ||
      height != static_cast<unsigned>(encoded.jpeg.height) ||
      encoding != NVJPEG_ENCODING_BASELINE_DCT || sampling != NVJPEG_CSS_420) {
    return false;
  }
  if (kind_ == Kind::kCuda) return true;
  int refused = 1;  // nvJPEG answers 0 for a file that it supports
  return functions_.DecodeBatchedSupported(handle_.get(), header_.get(), &refused) ==
             NVJPEG_STATUS_SUCCESS &&
         refused == 0;
}

// A state, its stream and the event behind its last batch. Members end in the reverse order.
class NvJpegDecoderLane final : public NvJpegLane {
 public:
  explicit NvJpegDecoderLane(std::shared_ptr<NvJpegDecoder> decoder)
      : decoder_(std::move(decoder)) {}

  Status Open() {
    // Slices of the network go first.
    auto stream = Stream::Create(Stream::Priority::kLow);
    if (!stream.ok()) return stream.status();
    stream_ = *std::move(stream);
    auto done = Event::Create(Event::WaitMode::kBlock);
    if (!done.ok()) return done.status();
    done_ = *std::move(done);
    const NvJpegFunctions& functions = decoder_->functions_;
    nvjpegJpegState_t state = nullptr;
    const Status made =
        ToStatus(functions.JpegStateCreate(decoder_->handle_.get(), &state), "making a decoder");
    if (!made.ok()) return made;
    state_ = {state, NvJpegDeleter{&functions, decoder_->gpu_}};
    if (decoder_->kind_ == NvJpegDecoder::Kind::kHardware) {
      // A hint: what it does not get now it makes when it decodes.
      (void)functions.DecodeBatchedPreAllocate(decoder_->handle_.get(), state, decoder_->engines_,
                                               kUsualWidth, kUsualHeight, NVJPEG_CSS_420,
                                               NVJPEG_OUTPUT_YUV);
    }
    return {};
  }

  Result<std::span<uint8_t>> Stage(size_t bytes) override {
    const Status current = UseGpu(decoder_->gpu_);
    if (!current.ok()) return current;
    if (bytes > staging_.size()) {
      // Nothing is under way, so the old memory is free.
      auto staging = PinnedBuffer::Allocate(bytes + bytes / 2);
      if (!staging.ok()) return staging.status();
      staging_ = *std::move(staging);
    }
    return std::span(staging_.As<uint8_t>(), bytes);
  }

  Status Decode(std::span<const NvJpegPicture> pictures) override {
    const Status current = UseGpu(decoder_->gpu_);
    if (!current.ok()) return current;
    Status ran = decoder_->kind_ == NvJpegDecoder::Kind::kHardware ? QueueBatch(pictures)
                                                                   : QueueEach(pictures);
    if (ran.ok()) ran = done_.Record(stream_);
    if (ran.ok()) ran = done_.Wait();
    if (ran.ok() || ran.code() == StatusCode::kGpuLost) return ran;
    ready_for_ = 0;
    // What was queued before the failure must not write later; and a fault of the GPU shows here.
    Status rest = stream_.Synchronize();
    return rest.code() == StatusCode::kGpuLost ? rest : ran;
  }

 private:
  static nvjpegImage_t TargetOf(const NvJpegPicture& picture) {
    nvjpegImage_t target{};
    for (size_t i = 0; i < picture.planes.size(); ++i) {
      target.channel[i] = picture.planes[i];
      target.pitch[i] = static_cast<size_t>(picture.pitches[i]);
    }
    return target;
  }

  Status QueueBatch(std::span<const NvJpegPicture> pictures) {
    const NvJpegFunctions& functions = decoder_->functions_;
    nvjpegHandle_t const handle = decoder_->handle_.get();
    if (ready_for_ != pictures.size()) {
      const Status ready = ToStatus(
          functions.DecodeBatchedInitialize(handle, state_.get(), static_cast<int>(pictures.size()),
                                            1, NVJPEG_OUTPUT_YUV),
          "preparing a batch");
      if (!ready.ok()) return ready;
      ready_for_ = pictures.size();
    }
    std::vector<const unsigned char*> files;
    std::vector<size_t> lengths;
    std::vector<nvjpegImage_t> targets;
    for (const NvJpegPicture& picture : pictures) {
      files.push_back(picture.bytes.data());
      lengths.push_back(picture.bytes.size());
      targets.push_back(TargetOf(picture));
    }
    return ToStatus(functions.DecodeBatched(handle, state_.get(), files.data(), lengths.data(),
                                            targets.data(), stream_.get()),
                    "decoding a batch");
  }

  Status QueueEach(std::span<const NvJpegPicture> pictures) {
    for (const NvJpegPicture& picture : pictures) {
      nvjpegImage_t target = TargetOf(picture);
      const Status queued =
          ToStatus(decoder_->functions_.Decode(decoder_->handle_.get(), state_.get(),
                                               picture.bytes.data(), picture.bytes.size(),
                                               NVJPEG_OUTPUT_YUV, &target, stream_.get()),
                   "decoding an image");
      if (!queued.ok()) return queued;
    }
    return {};
  }

  const std::shared_ptr<NvJpegDecoder> decoder_;
  PinnedBuffer staging_;
  Stream stream_;
  Event done_;
  NvJpegOwned<nvjpegJpegState_t> state_;
  size_t ready_for_ = 0;  // images of the batch that the state was prepared for
};

Result<std::unique_ptr<NvJpegLane>> NvJpegDecoder::MakeLane() {
  auto lane = std::make_unique<NvJpegDecoderLane>(shared_from_this());
  const Status opened = lane->Open();
  if (!opened.ok()) return opened;
  return std::unique_ptr<NvJpegLane>(std::move(lane));
}

}  // namespace lattice
