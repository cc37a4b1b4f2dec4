// JPEG by libjpeg-turbo: the same pixels as the libvips way, in about half the time.
#ifndef LATTICE_IMAGE_TURBOJPEG_DECODE_H_
#define LATTICE_IMAGE_TURBOJPEG_DECODE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "native/image/decode.h"
#include "native/image/jpeg_header.h"

namespace lattice {

struct TurboJpegOptions {
  // 2, 4 or 8 has the inverse DCT give that many times fewer pixels a side, rounded up: the mean of
  // the pixels beneath each, nearly.
  int reduction = 1;
  // kYuv420: as planes where the file holds such planes, or grey (then both chroma planes are 128),
  // and nothing is reduced; else RGB.
  PixelLayout wanted = PixelLayout::kRgb;
};

// Stored orientation. Nothing when this way cannot promise the pixels: CMYK, 12 bit, arithmetic
// coding, any warning or error of the decoder, or a build without libjpeg-turbo. Thread-safe.
std::optional<Image> DecodeByTurboJpeg(std::span<const uint8_t> bytes, const JpegHeader& header,
                                       std::pmr::memory_resource* memory,
                                       const TurboJpegOptions& options = {});

// Empty in a build without libjpeg-turbo.
std::string TurboJpegName();

}  // namespace lattice

#endif  // LATTICE_IMAGE_TURBOJPEG_DECODE_H_
