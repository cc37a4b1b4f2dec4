// An encoded image before it is decoded: what its first bytes say.
#ifndef LATTICE_IMAGE_ENCODED_IMAGE_H_
#define LATTICE_IMAGE_ENCODED_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "native/image/decode.h"
#include "native/image/image_format.h"
#include "native/image/jpeg_header.h"

namespace lattice {

// The bytes of a file and their format. Nothing is checked.
struct EncodedImage {
  std::span<const uint8_t> bytes;
  ImageFormat format = ImageFormat::kUnsupported;
  JpegHeader jpeg;  // of a JPEG with a frame header, `scans` left at 0; else all zero

  // Three components, of which the two of colour have half the sides.
  bool is_420() const;
};

// Reads a JPEG up to its first scan at most. `bytes` must outlive the result. Thread-safe.
EncodedImage DescribeEncoded(std::span<const uint8_t> bytes);

// Host memory that Decode will take for the pixels, by the file's header: 0 where it has no size,
// or one beyond the limits. `wanted` as Decode's. Costs as much as ReadImageSize. Thread-safe.
size_t ExpectedPixelBytes(const EncodedImage& encoded, const DecodeLimits& limits,
                          PixelLayout wanted);

}  // namespace lattice

#endif  // LATTICE_IMAGE_ENCODED_IMAGE_H_
