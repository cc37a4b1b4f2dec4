#include "native/image/orientation.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace lattice {
namespace {

// A source tile of this side and its turned copy fit the first-level cache.
constexpr ptrdiff_t kTile = 32;

// The place of source pixel (0, 0), and how far one step right or down moves, in pixels of the
// result.
struct Steps {
  ptrdiff_t origin, right, down;
};

Steps StepsOf(int orientation, ptrdiff_t w, ptrdiff_t h) {
  switch (orientation) {
    case 2:
      return {w - 1, -1, w};
    case 3:
      return {w * h - 1, -1, -w};
    case 4:
      return {w * (h - 1), 1, -w};
    case 5:
      return {0, h, 1};
    case 6:
      return {h - 1, h, -1};
    case 7:
      return {w * h - 1, -h, -1};
    default:  // 8
      return {h * (w - 1), -h, 1};
  }
}

}  // namespace

Image Oriented(Image image, int exif_orientation) {
  if (exif_orientation < 2 || exif_orientation > 8) return image;
  if (image.layout != PixelLayout::kRgb) {
    image.orientation = exif_orientation;
    if (exif_orientation > 4) std::swap(image.width, image.height);
    return image;
  }
  const ptrdiff_t w = image.width;
  const ptrdiff_t h = image.height;
  const Steps steps = StepsOf(exif_orientation, w, h);
  const bool upright = exif_orientation < 5;
  Image turned{upright ? image.width : image.height, upright ? image.height : image.width,
               ByteBuffer(image.data.size(), image.data.get_allocator())};
  for (ptrdiff_t top = 0; top < h; top += kTile) {
    for (ptrdiff_t left = 0; left < w; left += kTile) {
      for (ptrdiff_t y = top; y < std::min(top + kTile, h); ++y) {
        for (ptrdiff_t x = left; x < std::min(left + kTile, w); ++x) {
          const ptrdiff_t target = steps.origin + x * steps.right + y * steps.down;
          std::memcpy(&turned.data[static_cast<size_t>(target * 3)],
                      &image.data[static_cast<size_t>((y * w + x) * 3)], 3);
        }
      }
    }
  }
  return turned;
}

}  // namespace lattice
