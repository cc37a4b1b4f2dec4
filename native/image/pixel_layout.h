// How the pixels of a picture are laid out in memory.
#ifndef LATTICE_IMAGE_PIXEL_LAYOUT_H_
#define LATTICE_IMAGE_PIXEL_LAYOUT_H_

#include <cstddef>
#include <cstdint>

#include "native/base/host_device.h"

namespace lattice {

enum class PixelLayout : int32_t {
  kRgb,     // one plane: R, G, B bytes of each pixel, interleaved
  kYuv420,  // planes Y, Cb, Cr; full range as in JPEG; chroma sides are half, rounded up
};

// Chroma planes have half the sides, rounded up.
LATTICE_HOST_DEVICE inline int ChromaSize(int size) { return (size + 1) / 2; }

// A picture whose planes follow each other. RGB rows have no padding; luma has sides rounded up to
// even, as libjpeg-turbo writes it. What a layout does not use is 0.
struct PackedPlanes {
  size_t offsets[3] = {};  // from the picture's first byte
  int pitches[3] = {};     // bytes from one row to the next
  size_t bytes = 0;        // of the whole picture
};

inline PackedPlanes PackPlanes(PixelLayout layout, int width, int height) {
  if (layout == PixelLayout::kRgb) {
    return {{}, {3 * width}, size_t{3} * static_cast<size_t>(width) * static_cast<size_t>(height)};
  }
  const int across = ChromaSize(width);
  const size_t chroma = static_cast<size_t>(across) * static_cast<size_t>(ChromaSize(height));
  return {{0, 4 * chroma, 5 * chroma}, {2 * across, across, across}, 6 * chroma};
}

}  // namespace lattice

#endif  // LATTICE_IMAGE_PIXEL_LAYOUT_H_
