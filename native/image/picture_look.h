// A picture reduced to few numbers, from which faults of its camera are found.
#ifndef LATTICE_IMAGE_PICTURE_LOOK_H_
#define LATTICE_IMAGE_PICTURE_LOOK_H_

#include <array>
#include <cstdint>

#include "native/image/decode.h"

namespace lattice {

inline constexpr int kLookSide = 32;
// The long side that a picture is reduced to before its sharpness is measured; smaller ones stay.
inline constexpr int kReducedSide = 256;

struct PictureLook {
  // Mean luma of each cell of the picture as it is shown, row by row.
  std::array<uint8_t, static_cast<size_t>(kLookSide) * kLookSide> grey{};
  // Mean squared Laplacian (4 neighbours, without the edge) over the variance of the luma, both of
  // the picture reduced by area means; 0 for one colour. Light and contrast do not change it.
  float sharpness = 0;
};

// Luma as in JFIF. Reads every pixel of pictures of up to 65,792 rows. Throws std::bad_alloc.
PictureLook LookOf(const Image& image);

}  // namespace lattice

#endif  // LATTICE_IMAGE_PICTURE_LOOK_H_
