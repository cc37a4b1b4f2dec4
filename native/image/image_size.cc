#include "native/image/image_size.h"

#include <cstddef>

#include "native/image/bmp_decode.h"
#include "native/image/jpeg_header.h"
#include "native/image/vips_decode.h"

namespace lattice {
namespace {

// Signature, then the header chunk's length and name, then both sides with the high byte first.
constexpr size_t kPngSides = 16;

std::optional<ImageSize> PngSize(std::span<const uint8_t> bytes) {
  if (bytes.size() < kPngSides + 8) return std::nullopt;
  uint32_t sides[2] = {};
  for (size_t i = 0; i < 8; ++i) sides[i / 4] = sides[i / 4] << 8 | bytes[kPngSides + i];
  // PNG allows no more than 31 bits.
  if (((sides[0] | sides[1]) >> 31) != 0) return std::nullopt;
  return ImageSize{static_cast<int>(sides[0]), static_cast<int>(sides[1])};
}

}  // namespace

std::optional<ImageSize> ReadImageSize(std::span<const uint8_t> bytes, ImageFormat format) {
  switch (format) {
    case ImageFormat::kUnsupported:
      return std::nullopt;
    case ImageFormat::kBmp:
      return ReadBmpSize(bytes);
    case ImageFormat::kPng:
      return PngSize(bytes);
    case ImageFormat::kJpeg: {
      const auto header = ReadJpegFrame(bytes);
      if (!header) return std::nullopt;
      return ImageSize{header->width, header->height};
    }
    default:
      return ReadSizeByVips(bytes, format);
  }
}

}  // namespace lattice
