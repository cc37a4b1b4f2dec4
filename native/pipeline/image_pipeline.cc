#include "native/pipeline/image_pipeline.h"

#include <vips/vips.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <utility>

#include "native/base/stopwatch.h"
#include "native/preprocess/letterbox.h"

namespace lattice {
namespace {

size_t InputFloats(const ModelInfo& model) {
  return size_t{3} * static_cast<size_t>(model.input_width) *
         static_cast<size_t>(model.input_height);
}

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
    : files_(std::move(files)),
      options_(std::move(options)),
      inputs_(InputBuffers::Create(options_.idle_inputs)) {}

Result<std::vector<uint8_t>> ImagePipeline::ReadFile(const std::string& path) const {
  try {
    return files_.Read(path);
  } catch (const std::exception&) {
    return Status(StatusCode::kInternalError, "The file could not be read: out of memory.");
  }
}

Result<PreparedImage> ImagePipeline::Prepare(ImageTask& task) const {
  const std::string& suffix = options_.abort_on_path_suffix;
  if (!suffix.empty() && task.path.ends_with(suffix)) std::abort();
  try {
    Stopwatch watch;
    Image image = std::move(task.pixels);
    if (image.width > 0) {
      const Status fits = CheckSize(image, options_.limits);
      if (!fits.ok()) return fits;
    } else {
      const auto bytes = files_.Read(task.path);
      if (!bytes.ok()) return bytes.status();
      auto decoded = Decode(*bytes, options_.limits);
      if (!decoded.ok()) return decoded.status();
      image = *std::move(decoded);
    }
    PreparedImage prepared;
    prepared.decode_ms = watch.Lap();
    const ModelInfo& model = task.engine->info();
    prepared.input = inputs_->Take(InputFloats(model));
    prepared.transform =
        ComputeLetterbox(image.width, image.height, model.input_width, model.input_height);
    Letterbox(image, prepared.transform, model.input_width, model.input_height,
              prepared.input.data());
    prepared.preprocess_ms = watch.Lap();
    return prepared;
  } catch (const std::exception&) {
    return Status(StatusCode::kInternalError, "The image could not be prepared: out of memory.");
  }
}

Status ImagePipeline::Infer(Engine& engine, Lane lane, int slot,
                            std::span<PreparedImage* const> images) {
  std::vector<EngineItem> items;
  items.reserve(images.size());
  for (const PreparedImage* image : images) items.push_back({image->input.data(), nullptr});
  Status status = engine.Run(lane, slot, items);
  for (size_t i = 0; i < images.size(); ++i) images[i]->output = items[i].output;
  return status;
}

Detections ImagePipeline::Postprocess(const ModelInfo& model, const PreparedImage& image,
                                      const DetectionOptions& options) {
  return DecodeDetections(image.output, static_cast<int>(model.names.size()), model.anchors,
                          image.transform, options);
}

void ImagePipeline::ReleaseThread() { vips_thread_shutdown(); }

}  // namespace lattice
