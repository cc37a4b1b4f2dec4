// How large a picture says it is, before anything of it is decoded.
#ifndef LATTICE_IMAGE_IMAGE_SIZE_H_
#define LATTICE_IMAGE_IMAGE_SIZE_H_

#include <cstdint>
#include <optional>
#include <span>

#include "native/image/image_format.h"

namespace lattice {

struct ImageSize {
  int width = 0;  // as stored
  int height = 0;
};

// Reads the size from the header alone and checks nothing. Returns nullopt where the header gives
// none. JPEG and PNG take less than a microsecond, the others some tens: libvips reads theirs, so
// call InitDecoders before. Thread-safe.
std::optional<ImageSize> ReadImageSize(std::span<const uint8_t> bytes, ImageFormat format);

}  // namespace lattice

#endif  // LATTICE_IMAGE_IMAGE_SIZE_H_
