// EXIF orientation: how stored rows and columns become the picture a viewer shows.
#ifndef LATTICE_IMAGE_ORIENTATION_H_
#define LATTICE_IMAGE_ORIENTATION_H_

#include "native/image/decode.h"

namespace lattice {

// 1 returns the image itself, 2 to 8 mirror or turn it; other values count as 1. Sides swap from 5
// on. RGB is moved, planes are only marked. `image` is as stored.
Image Oriented(Image image, int exif_orientation);

}  // namespace lattice

#endif  // LATTICE_IMAGE_ORIENTATION_H_
