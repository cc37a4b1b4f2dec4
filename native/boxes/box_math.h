// The arithmetic of one box, shared by the CPU path and the CUDA kernels.
#ifndef LATTICE_BOXES_BOX_MATH_H_
#define LATTICE_BOXES_BOX_MATH_H_

#include <cmath>
#include <limits>

#include "native/base/host_device.h"

namespace lattice {

struct Box {
  float x1, y1, x2, y2;
};

// Centre and size, which the head gives, -> corners.
LATTICE_HOST_DEVICE inline Box CornersOf(float cx, float cy, float w, float h) {
  const float half_w = w * 0.5f;
  const float half_h = h * 0.5f;
  return {cx - half_w, cy - half_h, cx + half_w, cy + half_h};
}

// False for NaN and infinity: x - x is then NaN and not 0.
LATTICE_HOST_DEVICE inline bool IsFinite(float value) { return value - value == 0.0f; }

// Whether the corners are finite and in the right order; a box without width or height passes.
LATTICE_HOST_DEVICE inline bool IsSound(const Box& box) {
  return IsFinite(box.x1) && IsFinite(box.y1) && IsFinite(box.x2) && IsFinite(box.y2) &&
         box.x1 <= box.x2 && box.y1 <= box.y2;
}

LATTICE_HOST_DEVICE inline float Larger(float a, float b) { return a > b ? a : b; }
LATTICE_HOST_DEVICE inline float Smaller(float a, float b) { return a < b ? a : b; }

LATTICE_HOST_DEVICE inline float AreaOf(const Box& box) {
  return (box.x2 - box.x1) * (box.y2 - box.y1);
}

// The area that both boxes cover; 0 when they are apart.
LATTICE_HOST_DEVICE inline float SharedArea(const Box& a, const Box& b) {
  const float width = Smaller(a.x2, b.x2) - Larger(a.x1, b.x1);
  const float height = Smaller(a.y2, b.y2) - Larger(a.y1, b.y1);
  return Larger(width, 0.0f) * Larger(height, 0.0f);
}

// Shared area / joint area, 0 to 1. 0 when both boxes are empty.
LATTICE_HOST_DEVICE inline float IntersectionOverUnion(const Box& a, const Box& b) {
  const float shared = SharedArea(a, b);
  const float joint = AreaOf(a) + AreaOf(b) - shared;
  return joint > 0.0f ? shared / joint : 0.0f;
}

// Network input coordinate -> source pixel, kept inside the picture.
LATTICE_HOST_DEVICE inline float ToSource(float input, float pad, float scale, float source_size) {
  return Smaller(Larger((input - pad) / scale, 0.0f), source_size);
}

// The distances that a head may give to a side of a box, 0 to 15 cells.
inline constexpr int kDflBins = 16;

LATTICE_HOST_DEVICE inline float Sigmoid(float logit) { return 1.0f / (1.0f + std::exp(-logit)); }

// Below every logit whose Sigmoid is above `confidence`, although both are rounded: most scores
// need no Sigmoid. Infinity if none is, also for NaN.
inline float LogitFloor(float confidence) {
  // More than the Sigmoid's rounding; near 1 that is a wide range of logits.
  const double below = static_cast<double>(confidence) - 1e-6;
  if (below <= 0) return -std::numeric_limits<float>::infinity();
  if (!(below < 1)) return std::numeric_limits<float>::infinity();
  return static_cast<float>(std::log(below / (1 - below)) - 1e-3);
}

// The mean of the distances, each weighed by the softmax of its logit.
LATTICE_HOST_DEVICE inline float ExpectedDistance(const float (&logits)[kDflBins]) {
  float largest = logits[0];
  LATTICE_UNROLL
  for (int bin = 1; bin < kDflBins; ++bin) largest = Larger(largest, logits[bin]);
  float sum = 0;
  float weighed = 0;
  LATTICE_UNROLL
  for (int bin = 0; bin < kDflBins; ++bin) {
    const float weight = std::exp(logits[bin] - largest);
    sum += weight;
    weighed += weight * static_cast<float>(bin);
  }
  return weighed / sum;
}

// The box whose left, top, right and bottom sides lie so many cells from the centre of a cell.
// Computed as the exports do, over centre and size, so that the floats are theirs.
LATTICE_HOST_DEVICE inline Box BoxAround(int column, int row, const float (&distances)[4],
                                         float stride) {
  const float x = static_cast<float>(column) + 0.5f;
  const float y = static_cast<float>(row) + 0.5f;
  const float x1 = x - distances[0];
  const float y1 = y - distances[1];
  const float x2 = x + distances[2];
  const float y2 = y + distances[3];
  return CornersOf((x1 + x2) * 0.5f * stride, (y1 + y2) * 0.5f * stride, (x2 - x1) * stride,
                   (y2 - y1) * stride);
}

}  // namespace lattice

#endif  // LATTICE_BOXES_BOX_MATH_H_
