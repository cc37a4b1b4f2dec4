// The arithmetic of one resized pixel, shared by the CPU rows and the CUDA kernel.
// Fixed point as OpenCV's 8-bit INTER_LINEAR: 11-bit weights, across first, then down with 4 bits
// dropped.
#ifndef LATTICE_LETTERBOX_LETTERBOX_SAMPLE_H_
#define LATTICE_LETTERBOX_LETTERBOX_SAMPLE_H_

#include <cmath>
#include <cstdint>

#include "native/base/host_device.h"

namespace lattice {

inline constexpr int kWeightBits = 11;
inline constexpr float kWeightOne = 1 << kWeightBits;
inline constexpr uint8_t kPadGrey = 114;

// Two neighbouring source columns (or rows) and their weights, which add up to about 2,048.
struct Tap {
  int first;  // may be -1 down the picture: clamp both to [0, size - 1] when reading
  int weight0, weight1;
};

// Nearest integer, halves to even, as the CPU rounds in its default mode.
LATTICE_HOST_DEVICE inline int RoundHalfToEven(float value) {
  return static_cast<int>(nearbyintf(value));
}

LATTICE_HOST_DEVICE inline Tap MakeTap(int first, float fraction) {
  return {first, RoundHalfToEven((1.0f - fraction) * kWeightOne),
          RoundHalfToEven(fraction * kWeightOne)};
}

// The `scale` of the functions below.
LATTICE_HOST_DEVICE inline double SourceStep(int source_size, int resized_size) {
  return static_cast<double>(source_size) / resized_size;
}

// Half-pixel centres.
LATTICE_HOST_DEVICE inline float SourcePosition(int target, double scale) {
  return static_cast<float>((target + 0.5) * scale - 0.5);
}

// Beyond the first and the last centre only the edge pixel counts.
LATTICE_HOST_DEVICE inline Tap ColumnTap(int target, double scale, int source_size) {
  const float position = SourcePosition(target, scale);
  const int first = static_cast<int>(floorf(position));
  if (first < 0) return MakeTap(0, 0.0f);
  if (first >= source_size - 1) return MakeTap(source_size - 1, 0.0f);
  return MakeTap(first, position - static_cast<float>(first));
}

// Rows keep their fraction at the edges: both rows are then the same, which rounds a little
// differently.
LATTICE_HOST_DEVICE inline Tap RowTap(int target, double scale) {
  const float position = SourcePosition(target, scale);
  const int first = static_cast<int>(floorf(position));
  return MakeTap(first, position - static_cast<float>(first));
}

LATTICE_HOST_DEVICE inline int ClampIndex(int index, int size) {
  return index < 0 ? 0 : index >= size ? size - 1 : index;
}

// Across: 0 to 32,640 (a pixel in 7-bit fixed point), so that it fits 16 bits.
LATTICE_HOST_DEVICE inline int BlendColumns(int left, int right, Tap tap) {
  return (left * tap.weight0 + right * tap.weight1) >> 4;
}

// Down: two results of BlendColumns -> 0 to 255.
LATTICE_HOST_DEVICE inline int BlendRows(int upper, int lower, int weight0, int weight1) {
  const int value = (((weight0 * upper) >> 16) + ((weight1 * lower) >> 16) + 2) >> 2;
  return value < 0 ? 0 : value > 255 ? 255 : value;
}

// 8-bit level -> network input. A true division: multiplying by 1 / 255 misses the reference in the
// last bit.
LATTICE_HOST_DEVICE inline float Normalised(int level) {
  return static_cast<float>(level) / 255.0f;
}

}  // namespace lattice

#endif  // LATTICE_LETTERBOX_LETTERBOX_SAMPLE_H_
