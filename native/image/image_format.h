// The format of a file, by its first bytes; names and extensions are never believed.
#ifndef LATTICE_IMAGE_IMAGE_FORMAT_H_
#define LATTICE_IMAGE_IMAGE_FORMAT_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace lattice {

enum class ImageFormat { kJpeg, kPng, kWebp, kTiff, kAvif, kBmp, kUnsupported };

struct SniffedFormat {
  ImageFormat format = ImageFormat::kUnsupported;
  std::string_view name;  // for messages: "JPEG", "BMP", "text", "unknown data" ...
};

// Reads at most the first kilobyte. Does not say that the rest is sound. Thread-safe.
SniffedFormat SniffFormat(std::span<const uint8_t> bytes);

}  // namespace lattice

#endif  // LATTICE_IMAGE_IMAGE_FORMAT_H_
