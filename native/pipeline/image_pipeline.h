// The stages between an image path and its boxes. The scheduler decides when and on which thread
// each runs.
#ifndef LATTICE_PIPELINE_IMAGE_PIPELINE_H_
#define LATTICE_PIPELINE_IMAGE_PIPELINE_H_

#include <memory>
#include <span>
#include <string>

#include "native/image/rooted_files.h"
#include "native/pipeline/image_task.h"
#include "native/pipeline/input_buffers.h"

namespace lattice {

// An image that is ready for the network.
struct PreparedImage {
  InputBuffer input;
  LetterboxTransform transform;
  double decode_ms = 0;
  double preprocess_ms = 0;
  const float* output = nullptr;  // set by Infer, valid until the slot's next Infer
};

struct PipelineOptions {
  DecodeLimits limits;
  size_t idle_inputs = 8;
  // Test only: Prepare calls abort() for a path that ends so. Empty in every service.
  std::string abort_on_path_suffix;
};

// All methods are thread-safe and none throws.
class ImagePipeline {
 public:
  ImagePipeline(RootedFiles files, PipelineOptions options);

  // File bytes by the rules of RootedFiles.
  Result<std::vector<uint8_t>> ReadFile(const std::string& path) const;

  // Open, read, decode, letterbox. Takes `task.pixels`. Codes of RootedFiles::Read and Decode.
  Result<PreparedImage> Prepare(ImageTask& task) const;

  // One slice through the network: 1 <= images.size() <= engine.max_batch(), all prepared for
  // `engine`. No two calls at a time for one slot of a lane. kDetectionFailed.
  static Status Infer(Engine& engine, Lane lane, int slot, std::span<PreparedImage* const> images);

  // Raw output -> boxes. Before the slot's next Infer.
  static Detections Postprocess(const ModelInfo& model, const PreparedImage& image,
                                const DetectionOptions& options);

  // To be called by every thread that called Prepare, before it ends: decoders keep memory per
  // thread.
  static void ReleaseThread();

 private:
  RootedFiles files_;
  PipelineOptions options_;
  std::shared_ptr<InputBuffers> inputs_;
};

}  // namespace lattice

#endif  // LATTICE_PIPELINE_IMAGE_PIPELINE_H_
