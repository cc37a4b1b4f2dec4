// An encoded image that waits to be decoded, and what comes of it.
#ifndef LATTICE_DECODE_ROUTE_DECODE_REQUEST_H_
#define LATTICE_DECODE_ROUTE_DECODE_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>

#include "native/image/decode.h"
#include "native/image/gpu_image.h"
#include "native/image/image_format.h"
#include "native/image/jpeg_header.h"

namespace lattice {

enum class ChromaSampling { kNone, k444, k422, k420, k440, k411, kOther };  // kNone: grey

// Sizes, format and sampling that a file claims, read from its first bytes. Nothing is checked.
struct EncodedImage {
  std::span<const uint8_t> bytes;
  ImageFormat format = ImageFormat::kUnsupported;
  JpegHeader jpeg;  // of a JPEG with a frame header, `scans` left at 0; else all zero

  double megapixels() const { return 1e-6 * jpeg.width * jpeg.height; }
  double kilobytes() const { return 1e-3 * static_cast<double>(bytes.size()); }
  bool baseline_jpeg() const { return format == ImageFormat::kJpeg && jpeg.process <= 1; }
  ChromaSampling chroma_sampling() const;
};

// Reads no further than the first scan of a JPEG. `bytes` must outlive the result. Thread-safe.
EncodedImage DescribeEncoded(std::span<const uint8_t> bytes);

struct DecodeRequest {
  EncodedImage encoded;
  DecodeLimits limits;
  std::pmr::memory_resource* memory = std::pmr::get_default_resource();
  PixelLayout wanted = PixelLayout::kRgb;  // as Decode's
  int input_width = 0;                     // of the network that the pixels are for
  int input_height = 0;
  bool sync = false;        // somebody waits for it
  bool gpu_images = false;  // whoever gets the pixels reads them in a GPU's memory too
};

// Host memory that the decoded pixels will take where no GPU decodes them, as far as the header
// says: 0 where it names no size, or one beyond the limits. Costs as ReadImageSize. Thread-safe.
size_t ExpectedPixelBytes(const DecodeRequest& request);

// Oriented. Pixel (x, y) covers the source pixels from (x, y) * reduction on, `reduction` of them a
// side.
struct DecodedImage {
  Image pixels;
  int source_width = 0;
  int source_height = 0;
  int reduction = 1;
  GpuImage on_gpu = {};  // where it names a GPU, the pixels are there and `pixels` is empty
};

}  // namespace lattice

#endif  // LATTICE_DECODE_ROUTE_DECODE_REQUEST_H_
