// Every supported format by libvips.
#ifndef LATTICE_IMAGE_VIPS_DECODE_H_
#define LATTICE_IMAGE_VIPS_DECODE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "native/image/decode.h"
#include "native/image/image_format.h"
#include "native/image/image_size.h"
#include "native/image/jpeg_extent.h"

namespace lattice {

// Starts libvips and blocks the loaders that are not ours, for this whole process. Idempotent,
// thread-safe.
Status StartVips();

struct StoredImage {
  Image image;               // as stored
  int exif_orientation = 1;  // what the file asks to be done with it
};

// Precondition: StartVips succeeded and `format` is a supported one. kImageTooLarge before pixels
// are decoded, kInvalidImage for anything damaged or cut short. `on_warning` is about JPEG: the
// decoders of other formats report what is harmless and what is not apart. Thread-safe.
Result<StoredImage> DecodeByVips(std::span<const uint8_t> bytes, ImageFormat format,
                                 const DecodeLimits& limits, std::pmr::memory_resource* memory,
                                 OnWarning on_warning = OnWarning::kRefuse);

// The size as stored, read from the header; nullopt where libvips does not take the file.
// Precondition and threads are those of DecodeByVips.
std::optional<ImageSize> ReadSizeByVips(std::span<const uint8_t> bytes, ImageFormat format);

std::string VipsVersion();

}  // namespace lattice

#endif  // LATTICE_IMAGE_VIPS_DECODE_H_
