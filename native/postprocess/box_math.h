// The arithmetic of one box, shared by the CPU path and the CUDA kernels.
#ifndef LATTICE_POSTPROCESS_BOX_MATH_H_
#define LATTICE_POSTPROCESS_BOX_MATH_H_

#include "native/base/host_device.h"

namespace lattice {

struct Box {
  float x1, y1, x2, y2;
};

// Centre and size, as the head gives them -> corners.
LATTICE_HOST_DEVICE inline Box CornersOf(float cx, float cy, float w, float h) {
  const float half_w = w * 0.5f;
  const float half_h = h * 0.5f;
  return {cx - half_w, cy - half_h, cx + half_w, cy + half_h};
}

// False for NaN and infinity, which have no distance to themselves.
LATTICE_HOST_DEVICE inline bool IsFinite(float value) { return value - value == 0.0f; }

// Finite corners in the right order; a box of no width or height counts.
LATTICE_HOST_DEVICE inline bool IsSound(const Box& box) {
  return IsFinite(box.x1) && IsFinite(box.y1) && IsFinite(box.x2) && IsFinite(box.y2) &&
         box.x1 <= box.x2 && box.y1 <= box.y2;
}

LATTICE_HOST_DEVICE inline float Larger(float a, float b) { return a > b ? a : b; }
LATTICE_HOST_DEVICE inline float Smaller(float a, float b) { return a < b ? a : b; }

LATTICE_HOST_DEVICE inline float AreaOf(const Box& box) {
  return (box.x2 - box.x1) * (box.y2 - box.y1);
}

// Shared area / joint area, 0 to 1. 0 when both boxes are empty.
LATTICE_HOST_DEVICE inline float IntersectionOverUnion(const Box& a, const Box& b) {
  const float width = Smaller(a.x2, b.x2) - Larger(a.x1, b.x1);
  const float height = Smaller(a.y2, b.y2) - Larger(a.y1, b.y1);
  const float shared = Larger(width, 0.0f) * Larger(height, 0.0f);
  const float joint = AreaOf(a) + AreaOf(b) - shared;
  return joint > 0.0f ? shared / joint : 0.0f;
}

// Network input coordinate -> source pixel, kept inside the picture.
LATTICE_HOST_DEVICE inline float ToSource(float input, float pad, float scale, float source_size) {
  return Smaller(Larger((input - pad) / scale, 0.0f), source_size);
}

}  // namespace lattice

#endif  // LATTICE_POSTPROCESS_BOX_MATH_H_
