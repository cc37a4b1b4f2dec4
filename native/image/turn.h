// The place at which a pixel of the shown picture is stored, by the EXIF orientation of its file.
#ifndef LATTICE_IMAGE_TURN_H_
#define LATTICE_IMAGE_TURN_H_

#include "native/base/host_device.h"

namespace lattice {

struct StoredPoint {
  int x, y;
};

struct Turn {
  bool quarter;     // shown columns are stored rows
  bool from_right;  // shown columns count from the right
  bool from_below;  // shown rows count from below

  // `orientation` 1 to 8.
  LATTICE_HOST_DEVICE static Turn Of(int orientation) {
    return {orientation > 4, (orientation & 2) != 0, ((orientation - 1) & 2) != 0};
  }

  // (x, y) of a shown picture of `width` x `height`.
  LATTICE_HOST_DEVICE StoredPoint At(int x, int y, int width, int height) const {
    const int across = from_right ? width - 1 - x : x;
    const int down = from_below ? height - 1 - y : y;
    return quarter ? StoredPoint{down, across} : StoredPoint{across, down};
  }
};

}  // namespace lattice

#endif  // LATTICE_IMAGE_TURN_H_
