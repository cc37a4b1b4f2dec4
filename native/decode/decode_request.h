// An encoded image before it is decoded, and its pixels afterwards.
#ifndef LATTICE_DECODE_DECODE_REQUEST_H_
#define LATTICE_DECODE_DECODE_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>

#include "native/image/decode.h"
#include "native/image/gpu_image.h"
#include "native/image/image_format.h"
#include "native/image/jpeg_header.h"

namespace lattice {

// What a file says about itself in its first bytes. Nothing is checked.
struct EncodedImage {
  std::span<const uint8_t> bytes;
  ImageFormat format = ImageFormat::kUnsupported;
  JpegHeader jpeg;  // of a JPEG with a frame header, `scans` left at 0; else all zero

  // Three components, of which the two of colour have half the sides.
  bool is_420() const;
};

// Reads a JPEG up to its first scan at most. `bytes` must outlive the result. Thread-safe.
EncodedImage DescribeEncoded(std::span<const uint8_t> bytes);

struct DecodeRequest {
  EncodedImage encoded;
  DecodeLimits limits;
  std::pmr::memory_resource* memory = std::pmr::get_default_resource();
  PixelLayout wanted = PixelLayout::kRgb;  // as Decode's
  bool gpu_images = false;                 // the engine also reads pixels in GPU memory
};

// Host memory that the decoded pixels will take unless the GPU decodes them, by the file's header:
// 0 where it has no size, or one beyond the limits. Costs as much as ReadImageSize. Thread-safe.
size_t ExpectedPixelBytes(const DecodeRequest& request);

// Oriented. The pixels are in host memory, or in GPU memory where `on_gpu` names a GPU.
struct DecodedImage {
  Image pixels;
  GpuImage on_gpu = {};

  bool is_on_gpu() const { return on_gpu.gpu >= 0; }
  int width() const { return is_on_gpu() ? on_gpu.width : pixels.width; }
  int height() const { return is_on_gpu() ? on_gpu.height : pixels.height; }
};

}  // namespace lattice

#endif  // LATTICE_DECODE_DECODE_REQUEST_H_
