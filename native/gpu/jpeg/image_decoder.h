// Decodes images for a GPU: on its JPEG engines while they have capacity, else on the calling
// thread.
#ifndef LATTICE_GPU_JPEG_IMAGE_DECODER_H_
#define LATTICE_GPU_JPEG_IMAGE_DECODER_H_

#include <memory>
#include <memory_resource>

#include "native/engine/engine.h"
#include "native/gpu/jpeg/hardware_decoder.h"

namespace lattice {

// Oriented. The pixels are in host memory, or in GPU memory where `on_gpu` names a GPU.
struct DecodedImage {
  Image pixels;
  GpuImage on_gpu = {};
  DecodedBy by = DecodedBy::kCpu;

  bool is_on_gpu() const { return on_gpu.gpu >= 0; }
  int width() const { return is_on_gpu() ? on_gpu.width : pixels.width; }
  int height() const { return is_on_gpu() ? on_gpu.height : pixels.height; }
};

// Thread-safe.
class ImageDecoder {
 public:
  // Null: every image is decoded on the calling thread.
  explicit ImageDecoder(std::unique_ptr<HardwareDecoder> hardware = nullptr)
      : hardware_(std::move(hardware)) {}

  // Blocks. Codes of Decode (native/image/decode.h): only a decoder of the CPU says that a file is
  // damaged, so what fails on the hardware is decoded once more here, into `memory` and as planes
  // where the file holds such. kGpuLost where the GPU faulted: then the process should end, and the
  // image may be tried again.
  Result<DecodedImage> Decode(const EncodedImage& encoded, const DecodeLimits& limits,
                              std::pmr::memory_resource* memory) const;

 private:
  const std::unique_ptr<HardwareDecoder> hardware_;
};

}  // namespace lattice

#endif  // LATTICE_GPU_JPEG_IMAGE_DECODER_H_
