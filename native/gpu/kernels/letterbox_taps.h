// The places at which the pixels of a tile of the letterbox kernel are stored, in plain C++ (see
// letterbox_tile.h).
#ifndef LATTICE_GPU_KERNELS_LETTERBOX_TAPS_H_
#define LATTICE_GPU_KERNELS_LETTERBOX_TAPS_H_

#include <cstddef>

#include "native/base/host_device.h"
#include "native/gpu/kernels/device_image.h"
#include "native/image/turn.h"
#include "native/letterbox/letterbox_sample.h"
#include "native/letterbox/yuv_sample.h"

namespace lattice {

inline constexpr int kTileSide = 32;  // the threads of a warp, side by side

// Which stored columns (or rows) a column or row of the input is made of.
struct AxisTap {
  static constexpr int kPadding = -2;  // as tap.first: outside the picture
  Tap tap;
  int stored[2];
};

// A stored row as YuvRow; of RGB pixels `luma` alone.
struct TileLine {
  Tap tap;
  YuvRow rows[2];
};

// The threads of a block share it. The lines are stored rows and the positions stored columns, so
// that a warp, whose threads have one position each, reads neighbouring bytes. Lines are rows of
// the input, or its columns where the stored picture is shown with a quarter turn.
struct TileTaps {
  AxisTap positions[kTileSide];
  TileLine lines[kTileSide];
};

LATTICE_HOST_DEVICE inline AxisTap MakeAxisTap(const Tap& tap, int size, bool from_end) {
  const int first = ClampIndex(tap.first, size);
  const int second = ClampIndex(tap.first + 1, size);
  return {tap, {from_end ? size - 1 - first : first, from_end ? size - 1 - second : second}};
}

LATTICE_HOST_DEVICE inline AxisTap ColumnAxisTap(const DeviceImage& image, int x) {
  const LetterboxTransform& t = image.transform;
  const int target = x - t.pad_left;
  if (target < 0 || target >= t.resized_width) return {{AxisTap::kPadding, 0, 0}, {}};
  const Tap tap = ColumnTap(target, SourceStep(t.source_width, t.resized_width), t.source_width);
  return MakeAxisTap(tap, t.source_width, Turn::Of(image.orientation).from_right);
}

LATTICE_HOST_DEVICE inline AxisTap RowAxisTap(const DeviceImage& image, int y) {
  const LetterboxTransform& t = image.transform;
  const int target = y - t.pad_top;
  if (target < 0 || target >= t.resized_height) return {{AxisTap::kPadding, 0, 0}, {}};
  const Tap tap = RowTap(target, SourceStep(t.source_height, t.resized_height));
  return MakeAxisTap(tap, t.source_height, Turn::Of(image.orientation).from_below);
}

LATTICE_HOST_DEVICE inline YuvRow StoredRowAt(const DeviceImage& image, bool quarter, int row) {
  if (image.layout == PixelLayout::kRgb) {
    return {image.planes[0] + static_cast<ptrdiff_t>(row) * image.pitches[0], {}, {}, 0};
  }
  const int width = image.transform.source_width;
  const int height = image.transform.source_height;
  return YuvRowAt(image.planes, image.pitches, quarter ? height : width, quarter ? width : height,
                  row);
}

// Each thread fills one position or line.
LATTICE_HOST_DEVICE inline void FillTaps(const DeviceImage& image, int tile_x, int tile_y,
                                         int thread, TileTaps* taps) {
  if (image.planes[0] == nullptr || thread >= 2 * kTileSide) return;
  const bool quarter = Turn::Of(image.orientation).quarter;
  const bool is_line = thread >= kTileSide;
  const int i = thread % kTileSide;
  const AxisTap tap =
      is_line == quarter ? ColumnAxisTap(image, tile_x + i) : RowAxisTap(image, tile_y + i);
  if (!is_line) {
    taps->positions[i] = tap;
  } else {
    taps->lines[i] = {
        tap.tap,
        {StoredRowAt(image, quarter, tap.stored[0]), StoredRowAt(image, quarter, tap.stored[1])}};
  }
}

}  // namespace lattice

#endif  // LATTICE_GPU_KERNELS_LETTERBOX_TAPS_H_
