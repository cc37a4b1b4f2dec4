// The stages between an image path and its boxes. The scheduler decides when and on which thread
// each runs.
#ifndef LATTICE_PIPELINE_IMAGE_PIPELINE_H_
#define LATTICE_PIPELINE_IMAGE_PIPELINE_H_

#include <memory>
#include <string>
#include <vector>

#include "native/files/patient_files.h"
#include "native/pipeline/decoders.h"
#include "native/pipeline/image_task.h"

namespace lattice {

// An image whose file was read, or that came as pixels, before it is decoded.
struct OpenedImage {
  std::vector<uint8_t> file;  // empty where the task has the pixels
  EncodedImage encoded;       // of `file`
};

// An image that is ready for the network.
struct PreparedImage {
  std::shared_ptr<EngineInput> input;
  int width = 0;  // of the oriented source image
  int height = 0;
  int reduction = 1;  // source pixels a side of each pixel that the engine got
  double decode_ms = 0;
  double preprocess_ms = 0;
};

struct PipelineOptions {
  DecodeLimits limits;
  VolumePatience patience;
  size_t read_threads = 64;  // as PatientFiles' most_threads
  int decode_threads = 64;   // callers of Prepare at the same time; more wait for each other
  // A JPEG may be decoded at a reduced scale that leaves this many pixels, along a side, for each
  // pixel of the network's input. It moves boxes and scores. 0: never.
  double fast_decode = 0;
  bool gpu_decode = false;                 // StartDecoders adds the routes of every usable GPU
  std::vector<std::string> decode_routes;  // names of those that may be used; empty: all
  // Test only: Open calls abort() for a path that ends so. Empty in every service.
  std::string abort_on_path_suffix;
};

// All methods but StartDecoders are thread-safe and none throws.
class ImagePipeline {
 public:
  ImagePipeline(RootedFiles files, PipelineOptions options);
  // Decodes by these from the first image on, instead of StartDecoders.
  ImagePipeline(RootedFiles files, PipelineOptions options, Decoders decoders);

  // Without it the cores decode alone. Opens the routes of the options and, where there is a
  // choice, measures what they cost; no measurement begins later than `most_ms` from then. Once,
  // before the first Prepare. kGpuUnavailable where none of the routes asked for is there.
  Status StartDecoders(double most_ms);
  std::vector<RouteStats> decode_routes() const { return decoders_.router->stats(); }
  // Why GPUs lack a decode route, a sentence each.
  const std::vector<std::string>& missing_routes() const { return decoders_.missing; }

  // As PatientFiles.
  void ReadFile(FileRequest request) const { files_.Read(std::move(request)); }
  std::vector<size_t> hanging_roots() const { return files_.HangingRoots(); }
  void CloseFiles() const { files_.Close(); }

  // `file` is what was read from the task's path; not looked at where the task brought pixels.
  Result<OpenedImage> Open(const ImageTask& task, std::vector<uint8_t> file) const;
  // As ExpectedPixelBytes; of pixels that the task brought, their own.
  size_t PixelBytes(const ImageTask& task, const OpenedImage& opened) const;
  // Decode, and the engine's own Prepare. Takes `task.pixels`. Codes of Decode and Engine::Prepare.
  Result<PreparedImage> Prepare(ImageTask& task, OpenedImage opened) const;

  // To be called by every thread that called Prepare, before it ends: decoders keep memory per
  // thread.
  static void ReleaseThread();

  // What the engine found in the pixels of `prepared` -> pixels of the source image.
  static void ToSourcePixels(const PreparedImage& prepared, Detections* found);

 private:
  DecodeRequest RequestFor(const ImageTask& task, const OpenedImage& opened) const;
  Result<DecodedImage> Decode(ImageTask& task, const OpenedImage& opened) const;

  PatientFiles files_;
  PipelineOptions options_;
  Decoders decoders_;
};

}  // namespace lattice

#endif  // LATTICE_PIPELINE_IMAGE_PIPELINE_H_
