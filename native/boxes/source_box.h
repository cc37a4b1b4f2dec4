// A box of the network's input in the picture that was put into it; for the CPU path and the CUDA
// kernels.
#ifndef LATTICE_BOXES_SOURCE_BOX_H_
#define LATTICE_BOXES_SOURCE_BOX_H_

#include "native/base/host_device.h"
#include "native/boxes/box_math.h"
#include "native/letterbox/letterbox.h"

namespace lattice {

// A box whose width or height in the picture is below this does not exist. In source pixels:
// results have three decimals of a pixel and exports six of a side, so that a thinner box would be
// written with two equal sides in a large picture.
inline constexpr float kLeastSide = 1.0f / 16;

// Kept inside the picture: of a box in the padding no width or no height is left.
LATTICE_HOST_DEVICE inline Box InSource(const Box& box, const LetterboxTransform& t) {
  const auto left = static_cast<float>(t.pad_left);
  const auto top = static_cast<float>(t.pad_top);
  const auto width = static_cast<float>(t.source_width);
  const auto height = static_cast<float>(t.source_height);
  return {ToSource(box.x1, left, t.scale_x, width), ToSource(box.y1, top, t.scale_y, height),
          ToSource(box.x2, left, t.scale_x, width), ToSource(box.y2, top, t.scale_y, height)};
}

// Whether it has finite corners in the right order and an area in the picture.
LATTICE_HOST_DEVICE inline bool IsInSource(const Box& box, const LetterboxTransform& t) {
  if (!IsSound(box)) return false;
  const Box inside = InSource(box, t);
  return inside.x2 - inside.x1 >= kLeastSide && inside.y2 - inside.y1 >= kLeastSide;
}

}  // namespace lattice

#endif  // LATTICE_BOXES_SOURCE_BOX_H_
