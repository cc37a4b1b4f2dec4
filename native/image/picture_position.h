// Where a picture was taken, by the GPS data of its EXIF.
#ifndef LATTICE_IMAGE_PICTURE_POSITION_H_
#define LATTICE_IMAGE_PICTURE_POSITION_H_

#include <cstdint>
#include <optional>
#include <span>

#include "native/image/encoded_image.h"

namespace lattice {

// Degrees, north and east positive; never outside of -90 to 90 and -180 to 180.
struct PicturePosition {
  double latitude = 0;
  double longitude = 0;
};

// That of a JPEG, PNG, WebP or TIFF. Nothing where a part of it is missing, damaged or out of
// range, and for 0, 0, which cameras write while they have no position. Reads the EXIF only, and
// takes less than a microsecond. Thread-safe.
std::optional<PicturePosition> ReadPosition(const EncodedImage& encoded);

// The same of the TIFF block that EXIF is.
std::optional<PicturePosition> PositionOfExif(std::span<const uint8_t> block);

}  // namespace lattice

#endif  // LATTICE_IMAGE_PICTURE_POSITION_H_
