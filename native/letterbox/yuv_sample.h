// One pixel of a JPEG's 4:2:0 planes -> RGB, as libjpeg converts it: chroma interpolated between
// its neighbours (the "fancy" triangle filter), then JFIF's full-range matrix in 16-bit fixed
// point. Shared by the CPU rows and the CUDA kernel.
#ifndef LATTICE_LETTERBOX_YUV_SAMPLE_H_
#define LATTICE_LETTERBOX_YUV_SAMPLE_H_

#include <cstddef>
#include <cstdint>

#include "native/base/host_device.h"
#include "native/image/pixel_layout.h"

namespace lattice {

struct RgbLevels {
  int red, green, blue;  // 0 to 255
};

LATTICE_HOST_DEVICE inline int ClampLevel(int value) {
  return value < 0 ? 0 : value > 255 ? 255 : value;
}

// JFIF: R = Y + 1.402 Cr, G = Y - 0.344136 Cb - 0.714136 Cr, B = Y + 1.772 Cb, chroma around 128.
// The factors are 65,536 times these, from their five published digits.
LATTICE_HOST_DEVICE inline RgbLevels RgbOf(int luma, int cb, int cr) {
  constexpr int kHalf = 1 << 15;
  const int u = cb - 128;
  const int v = cr - 128;
  return {ClampLevel(luma + ((91881 * v + kHalf) >> 16)),
          ClampLevel(luma + ((-22554 * u - 46802 * v + kHalf) >> 16)),
          ClampLevel(luma + ((116130 * u + kHalf) >> 16))};
}

// The chroma sample that holds a pixel and its neighbour on the pixel's side; equal at the edge.
struct ChromaPair {
  int near, far;
};

LATTICE_HOST_DEVICE inline ChromaPair ChromaPairOf(int position, int chroma_size) {
  const int near = position / 2;
  const int far = position % 2 == 0 ? near - 1 : near + 1;
  return {near, far < 0 || far >= chroma_size ? near : far};
}

// Two rows of one chroma plane: the one that holds the pixel row, and its neighbour.
struct ChromaRows {
  const uint8_t* near;
  const uint8_t* far;
};

// libjpeg repeats chroma instead in pictures of up to four columns.
LATTICE_HOST_DEVICE inline bool ChromaIsInterpolated(int chroma_width) { return chroma_width > 2; }

// Three parts near, one part far, in both directions. `odd` is the pixel column's last bit: sums
// are rounded up and down alternately.
LATTICE_HOST_DEVICE inline int ChromaAt(const ChromaRows& rows, ChromaPair columns, int odd) {
  const int near = 3 * rows.near[columns.near] + rows.far[columns.near];
  const int far = 3 * rows.near[columns.far] + rows.far[columns.far];
  return (3 * near + far + 8 - odd) >> 4;
}

// A row of pixels in three planes.
struct YuvRow {
  const uint8_t* luma;
  ChromaRows cb, cr;
  int chroma_width;

  LATTICE_HOST_DEVICE RgbLevels At(int x) const {
    if (!ChromaIsInterpolated(chroma_width)) return RgbOf(luma[x], cb.near[x / 2], cr.near[x / 2]);
    const ChromaPair columns = ChromaPairOf(x, chroma_width);
    return RgbOf(luma[x], ChromaAt(cb, columns, x % 2), ChromaAt(cr, columns, x % 2));
  }
};

// `planes` are Y, Cb, Cr; `pitches` the bytes from one row to the next.
LATTICE_HOST_DEVICE inline YuvRow YuvRowAt(const uint8_t* const planes[3], const int pitches[3],
                                           int width, int height, int y) {
  const ChromaPair rows = ChromaPairOf(y, ChromaSize(height));
  const auto row = [&](int plane, int index) {
    return planes[plane] + static_cast<ptrdiff_t>(index) * pitches[plane];
  };
  return {row(0, y),
          {row(1, rows.near), row(1, rows.far)},
          {row(2, rows.near), row(2, rows.far)},
          ChromaSize(width)};
}

}  // namespace lattice

#endif  // LATTICE_LETTERBOX_YUV_SAMPLE_H_
