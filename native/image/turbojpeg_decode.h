// JPEG by libjpeg-turbo: the same pixels as the libvips way, in about half the time.
#ifndef LATTICE_IMAGE_TURBOJPEG_DECODE_H_
#define LATTICE_IMAGE_TURBOJPEG_DECODE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "native/image/decode.h"
#include "native/image/jpeg_extent.h"
#include "native/image/jpeg_header.h"

namespace lattice {

// Stored orientation. `wanted` kYuv420: as planes where the file holds such planes or grey (then
// both chroma planes are 128); else RGB. Nothing for CMYK, 12 bit, arithmetic coding, an error of
// the decoder, a warning that is not accepted, a build without libjpeg-turbo. Thread-safe.
std::optional<Image> DecodeByTurboJpeg(std::span<const uint8_t> bytes, const JpegHeader& header,
                                       std::pmr::memory_resource* memory,
                                       PixelLayout wanted = PixelLayout::kRgb,
                                       OnWarning on_warning = OnWarning::kRefuse);

// Empty in a build without libjpeg-turbo.
std::string TurboJpegName();

}  // namespace lattice

#endif  // LATTICE_IMAGE_TURBOJPEG_DECODE_H_
