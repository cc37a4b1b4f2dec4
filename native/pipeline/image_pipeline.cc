#include "native/pipeline/image_pipeline.h"

#include <vips/vips.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <utility>

#include "native/base/stopwatch.h"
#include "native/decode/nvjpeg/open_hardware_decoder.h"

namespace lattice {
namespace {

// Decode keeps the limits itself; pixels that the caller brought have not met them yet.
Status CheckSize(const Image& image, const DecodeLimits& limits) {
  const size_t pixels = static_cast<size_t>(image.width) * static_cast<size_t>(image.height);
  if (pixels <= limits.max_pixels && std::max(image.width, image.height) <= limits.max_side) {
    return {};
  }
  return {StatusCode::kImageTooLarge, "The image is " + std::to_string(image.width) + " x " +
                                          std::to_string(image.height) + " pixels; at most " +
                                          std::to_string(limits.max_pixels) + " and " +
                                          std::to_string(limits.max_side) + " a side are allowed."};
}

}  // namespace

ImagePipeline::ImagePipeline(RootedFiles files, PipelineOptions options,
                             std::unique_ptr<ImageDecoder> decoder)
    : files_(std::move(files), options.patience, options.read_threads),
      options_(std::move(options)),
      decoder_(std::move(decoder)) {}

Status ImagePipeline::OpenJpegEngines(int gpu) {
  try {
    auto hardware = OpenHardwareDecoder(gpu);
    if (!hardware.ok()) return hardware.status();
    decoder_ = std::make_unique<ImageDecoder>(*std::move(hardware));
    return {};
  } catch (const std::exception&) {
    return {StatusCode::kInternalError, "The JPEG engines could not be opened: out of memory."};
  }
}

Result<OpenedImage> ImagePipeline::Open(const ImageTask& task, ByteBuffer file) const {
  const std::string& suffix = options_.abort_on_path_suffix;
  if (!suffix.empty() && task.path.ends_with(suffix)) std::abort();
  try {
    OpenedImage opened;
    if (task.pixels) return opened;
    opened.file = std::move(file);
    opened.encoded = DescribeEncoded(task.sent != nullptr ? *task.sent : opened.file);
    return opened;
  } catch (const std::exception&) {
    return Status(StatusCode::kInternalError, "The image could not be opened: out of memory.");
  }
}

DecodeRequest ImagePipeline::RequestFor(const ImageTask& task, const OpenedImage& opened) const {
  return {opened.encoded, options_.limits, task.engine->pixel_memory(), task.engine->pixel_layout(),
          task.engine->takes_gpu_images()};
}

size_t ImagePipeline::PixelBytes(const ImageTask& task, const OpenedImage& opened) const {
  return task.pixels ? task.pixels->data.size() : ExpectedPixelBytes(RequestFor(task, opened));
}

Result<DecodedImage> ImagePipeline::Decode(ImageTask& task, const OpenedImage& opened) const {
  if (!task.pixels) return decoder_->Decode(RequestFor(task, opened));
  const Status fits = CheckSize(*task.pixels, options_.limits);
  if (!fits.ok()) return fits;
  return DecodedImage{*std::move(task.pixels)};
}

Result<PreparedImage> ImagePipeline::Prepare(ImageTask& task, OpenedImage opened) const {
  try {
    Stopwatch watch;
    auto image = Decode(task, opened);
    task.sent.reset();
    if (!image.ok()) return image.status();
    PreparedImage prepared;
    prepared.decode_ms = watch.Lap();
    prepared.width = image->width();
    prepared.height = image->height();
    auto input = image->is_on_gpu() ? task.engine->PrepareOnGpu(std::move(image->on_gpu))
                                    : task.engine->Prepare(std::move(image->pixels));
    if (!input.ok()) return input.status();
    prepared.input = *std::move(input);
    prepared.preprocess_ms = watch.Lap();
    return prepared;
  } catch (const std::exception&) {
    return Status(StatusCode::kInternalError, "The image could not be prepared: out of memory.");
  }
}

void ImagePipeline::ReleaseThread() { vips_thread_shutdown(); }

}  // namespace lattice
