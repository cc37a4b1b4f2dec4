#include "native/pipeline/image_pipeline.h"

#include <vips/vips.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <utility>

#include "native/base/stopwatch.h"
#include "native/decode_route/cpu_routes.h"

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

ImagePipeline::ImagePipeline(RootedFiles files, PipelineOptions options)
    : ImagePipeline(
          std::move(files), options,
          {std::make_unique<DecodeRouter>(CpuRoutes({options.decode_threads, options.fast_decode})),
           {}}) {}

ImagePipeline::ImagePipeline(RootedFiles files, PipelineOptions options, Decoders decoders)
    : files_(std::move(files), options.patience, options.read_threads),
      options_(std::move(options)),
      decoders_(std::move(decoders)) {}

Status ImagePipeline::StartDecoders(double most_ms) {
  try {
    auto opened = OpenDecoders({options_.decode_threads, options_.fast_decode, options_.gpu_decode,
                                options_.decode_routes});
    if (!opened.ok()) return opened.status();
    decoders_ = *std::move(opened);
    if (decoders_.router->has_choice()) CalibrateDecoders(*decoders_.router, most_ms);
    ReleaseThread();
    return {};
  } catch (const std::exception&) {
    return {StatusCode::kInternalError, "The decoders could not be started: out of memory."};
  }
}

Result<OpenedImage> ImagePipeline::Open(const ImageTask& task, std::vector<uint8_t> file) const {
  const std::string& suffix = options_.abort_on_path_suffix;
  if (!suffix.empty() && task.path.ends_with(suffix)) std::abort();
  try {
    OpenedImage opened;
    if (task.pixels) return opened;
    opened.file = std::move(file);
    opened.encoded = DescribeEncoded(opened.file);
    return opened;
  } catch (const std::exception&) {
    return Status(StatusCode::kInternalError, "The image could not be opened: out of memory.");
  }
}

DecodeRequest ImagePipeline::RequestFor(const ImageTask& task, const OpenedImage& opened) const {
  const ModelInfo& model = task.engine->info();
  return {opened.encoded,
          options_.limits,
          task.engine->pixel_memory(),
          task.engine->pixel_layout(),
          model.input_width,
          model.input_height,
          task.work_class == WorkClass::kSync,
          task.engine->takes_gpu_images()};
}

size_t ImagePipeline::PixelBytes(const ImageTask& task, const OpenedImage& opened) const {
  return task.pixels ? task.pixels->data.size() : ExpectedPixelBytes(RequestFor(task, opened));
}

Result<DecodedImage> ImagePipeline::Decode(ImageTask& task, const OpenedImage& opened) const {
  if (!task.pixels) return decoders_.router->Decode(RequestFor(task, opened));
  const Status fits = CheckSize(*task.pixels, options_.limits);
  if (!fits.ok()) return fits;
  const int width = task.pixels->width;
  const int height = task.pixels->height;
  return DecodedImage{*std::move(task.pixels), width, height, 1};
}

Result<PreparedImage> ImagePipeline::Prepare(ImageTask& task, OpenedImage opened) const {
  try {
    Stopwatch watch;
    auto image = Decode(task, opened);
    if (!image.ok()) return image.status();
    PreparedImage prepared;
    prepared.decode_ms = watch.Lap();
    prepared.width = image->source_width;
    prepared.height = image->source_height;
    prepared.reduction = image->reduction;
    auto input = image->on_gpu.gpu < 0 ? task.engine->Prepare(std::move(image->pixels))
                                       : task.engine->PrepareOnGpu(std::move(image->on_gpu));
    if (!input.ok()) return input.status();
    prepared.input = *std::move(input);
    prepared.preprocess_ms = watch.Lap();
    return prepared;
  } catch (const std::exception&) {
    return Status(StatusCode::kInternalError, "The image could not be prepared: out of memory.");
  }
}

void ImagePipeline::ToSourcePixels(const PreparedImage& prepared, Detections* found) {
  if (prepared.reduction == 1) return;
  const auto scale = static_cast<float>(prepared.reduction);
  // The last reduced pixel of a row may reach beyond the picture.
  const auto right = static_cast<float>(prepared.width);
  const auto bottom = static_cast<float>(prepared.height);
  for (Detection& box : found->boxes) {
    box.x1 = std::min(box.x1 * scale, right);
    box.y1 = std::min(box.y1 * scale, bottom);
    box.x2 = std::min(box.x2 * scale, right);
    box.y2 = std::min(box.y2 * scale, bottom);
  }
}

void ImagePipeline::ReleaseThread() { vips_thread_shutdown(); }

}  // namespace lattice
