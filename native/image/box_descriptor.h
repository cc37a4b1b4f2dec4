// A box of a picture reduced to so few bytes that each box can keep its own.
#ifndef LATTICE_IMAGE_BOX_DESCRIPTOR_H_
#define LATTICE_IMAGE_BOX_DESCRIPTOR_H_

#include <array>
#include <cstdint>

#include "native/image/grey_picture.h"

namespace lattice {

// As `descriptorDistance` (src/cameras/stays.ts) defines it.
using BoxDescriptor = std::array<uint8_t, 64>;

// The long side that a picture has at most once it is reduced.
inline constexpr int kDescribedSide = 1280;

// A picture as it is kept until its boxes are known.
struct DescribedPicture {
  // The sides of the shown picture, in whose pixels boxes are.
  int width = 0;
  int height = 0;
  // The shown picture, each side divided by the least whole number that is enough.
  GreyPicture<uint8_t> luma;
};

// Throws std::bad_alloc.
DescribedPicture DescribedPictureOf(const Image& image);

// Takes any numbers; what lies beyond the picture has its nearest pixels.
BoxDescriptor DescriptorOf(const DescribedPicture& picture, float x1, float y1, float x2, float y2);

}  // namespace lattice

#endif  // LATTICE_IMAGE_BOX_DESCRIPTOR_H_
