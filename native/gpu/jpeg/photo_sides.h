// The photos that memory is made for, so that serving them takes and frees none.
#ifndef LATTICE_GPU_JPEG_PHOTO_SIDES_H_
#define LATTICE_GPU_JPEG_PHOTO_SIDES_H_

#include <cstddef>

namespace lattice {

struct PhotoSides {
  int width = 0;
  int height = 0;

  constexpr size_t pixels() const {
    return static_cast<size_t>(width) * static_cast<size_t>(height);
  }
  // The bytes of its 4:2:0 planes; the sides are even.
  constexpr size_t bytes() const { return pixels() * 3 / 2; }
};

// Most photos are no larger: memory for full batches of them is taken before the first one.
inline constexpr PhotoSides kUsualPhoto{1920, 1080};

// The size of photos of phones. Once memory for full batches of them was taken, it is kept.
inline constexpr PhotoSides kLargePhoto{4000, 3000};

}  // namespace lattice

#endif  // LATTICE_GPU_JPEG_PHOTO_SIDES_H_
