// Decodes images: on the GPU's JPEG engines while they have capacity, else on the calling thread.
#ifndef LATTICE_DECODE_IMAGE_DECODER_H_
#define LATTICE_DECODE_IMAGE_DECODER_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "native/decode/hardware_decoder.h"

namespace lattice {

// Images by who answered them, faulty images included.
struct DecodeStats {
  uint64_t cpu = 0;
  uint64_t hardware = 0;
  uint64_t retries = 0;  // of `cpu`: the hardware had tried and failed
};

// Thread-safe.
class ImageDecoder {
 public:
  // Null: every image is decoded on the calling thread.
  explicit ImageDecoder(std::unique_ptr<HardwareDecoder> hardware = nullptr)
      : hardware_(std::move(hardware)) {}

  // Blocks. Codes of Decode (native/image/decode.h): only a decoder of the CPU says that a file is
  // damaged, so what fails on the hardware is decoded once more here. kGpuLost where the GPU
  // faulted: then the process should end, and the image may be tried again.
  Result<DecodedImage> Decode(const DecodeRequest& request);

  DecodeStats stats() const { return {cpu_, hardware_images_, retries_}; }

 private:
  const std::unique_ptr<HardwareDecoder> hardware_;
  std::atomic<uint64_t> cpu_ = 0;
  std::atomic<uint64_t> hardware_images_ = 0;
  std::atomic<uint64_t> retries_ = 0;
};

}  // namespace lattice

#endif  // LATTICE_DECODE_IMAGE_DECODER_H_
