// The luma of a picture, reduced by area means.
#ifndef LATTICE_IMAGE_GREY_PICTURE_H_
#define LATTICE_IMAGE_GREY_PICTURE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/image/decode.h"

namespace lattice {

// Levels of a picture, row by row.
template <typename Level>
struct GreyPicture {
  int width = 0;
  int height = 0;
  std::vector<Level> levels;
  Level at(int x, int y) const {
    return levels[static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)];
  }
};

struct Range {
  int begin;
  int end;
  int size() const { return end - begin; }
};

// Part `index` of `parts` equal ones, in whole pixels: one at least.
inline Range PartOf(int size, int index, int parts) {
  const auto at = [&](int i) { return static_cast<int>(int64_t{i} * size / parts); };
  return {at(index), std::max(at(index) + 1, at(index + 1))};
}

// The stored picture, as JFIF has its luma; `reduced` gives the sides out of its own and the longer
// one. `Level` is float or uint8_t. Reads every pixel where up to 257 rows become one. Throws
// std::bad_alloc.
template <typename Level>
GreyPicture<Level> ReducedLuma(const Image& image, int (*reduced)(int side, int long_side));

}  // namespace lattice

#endif  // LATTICE_IMAGE_GREY_PICTURE_H_
