// The stages between an image path and its boxes. The scheduler decides when and on which thread
// each runs.
#ifndef LATTICE_PIPELINE_IMAGE_PIPELINE_H_
#define LATTICE_PIPELINE_IMAGE_PIPELINE_H_

#include <memory>
#include <string>
#include <vector>

#include "native/decode/image_decoder.h"
#include "native/files/file_reader.h"
#include "native/pipeline/image_task.h"

namespace lattice {

// An image whose file was read, or that the task brought, before it is decoded.
struct OpenedImage {
  ByteBuffer file;       // empty where the task brought the image
  EncodedImage encoded;  // of `file`, or of the bytes that the task brought
};

// An image that is ready for the network.
struct PreparedImage {
  std::unique_ptr<EngineInput> input;
  int width = 0;  // of the oriented source image
  int height = 0;
  double decode_ms = 0;
  double preprocess_ms = 0;
};

struct PipelineOptions {
  DecodeLimits limits;
  VolumePatience patience;
  size_t read_threads = 64;  // as FileReader's most_threads
  // Test only: Open calls abort() for a path that ends so. Empty in every service.
  std::string abort_on_path_suffix;
};

// All methods but OpenJpegEngines are thread-safe and none throws.
class ImagePipeline {
 public:
  ImagePipeline(RootedFiles files, PipelineOptions options,
                std::unique_ptr<ImageDecoder> decoder = std::make_unique<ImageDecoder>());

  // Has the JPEG engines of this GPU decode too, as CUDA counts in this process. Once, before the
  // first Prepare. Fails as OpenHardwareDecoder; then the CPU decodes alone.
  Status OpenJpegEngines(int gpu);
  DecodeStats decode_stats() const { return decoder_->stats(); }

  // As FileReader.
  void ReadFile(FileRequest request) const { files_.Read(std::move(request)); }
  std::vector<size_t> hanging_roots() const { return files_.HangingRoots(); }
  void CloseFiles() const { files_.Close(); }

  // `file` is what was read from the task's path; not looked at where the task brought the image.
  Result<OpenedImage> Open(const ImageTask& task, ByteBuffer file) const;
  // As ExpectedPixelBytes; of pixels that the task brought, their own.
  size_t PixelBytes(const ImageTask& task, const OpenedImage& opened) const;
  // Decode, and the engine's own Prepare. Takes `task.pixels` and `task.sent`, which ends when the
  // image is decoded. Codes of Decode and Engine::Prepare.
  Result<PreparedImage> Prepare(ImageTask& task, OpenedImage opened) const;

  // To be called by every thread that called Prepare, before it ends: decoders keep memory per
  // thread.
  static void ReleaseThread();

 private:
  DecodeRequest RequestFor(const ImageTask& task, const OpenedImage& opened) const;
  Result<DecodedImage> Decode(ImageTask& task, const OpenedImage& opened) const;

  FileReader files_;
  PipelineOptions options_;
  std::unique_ptr<ImageDecoder> decoder_;
};

}  // namespace lattice

#endif  // LATTICE_PIPELINE_IMAGE_PIPELINE_H_
