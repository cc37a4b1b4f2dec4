// The work of one block of the letterbox kernel, in plain C++, so that tests run the same code
// without a GPU. A block computes kTileSide x kTileSide pixels of the network input.
//
// `Block` runs the steps: block.Step(f) calls f(thread) for all threads of the block, in any order,
// and returns when all have returned. Within a step, no thread reads what another one writes.
#ifndef LATTICE_CUDA_KERNELS_LETTERBOX_TILE_H_
#define LATTICE_CUDA_KERNELS_LETTERBOX_TILE_H_

#include <cstddef>
#include <cstdint>

#include "native/base/host_device.h"
#include "native/cuda/kernels/device_image.h"
#include "native/cuda/kernels/image_row.h"
#include "native/preprocess/letterbox_sample.h"
#include "native/preprocess/yuv_sample.h"

namespace lattice {

inline constexpr int kTileSide = 32;  // the threads of a warp, side by side
inline constexpr int kRunPixels = 8;  // per thread: eight halves are one 16-byte store
inline constexpr int kTileThreads = kTileSide * kTileSide / kRunPixels;
static_assert(kTileThreads >= 2 * kTileSide, "each thread computes at most one tap");

// The taps of the tile's columns and rows; `first` is kPadding outside the picture.
struct TileTaps {
  static constexpr int kPadding = -2;
  Tap columns[kTileSide];
  Tap rows[kTileSide];
};

// Eight pixels of the input from (x, y) on: down a column, or along a row.
struct PixelRun {
  int x, y;
  bool down;
  uint8_t levels[3][kRunPixels];  // R, G, B
};

LATTICE_HOST_DEVICE inline void FillTap(const LetterboxTransform& t, int tile_x, int tile_y,
                                        int thread, TileTaps* taps) {
  const int i = thread % kTileSide;
  if (thread < kTileSide) {
    const int target = tile_x + i - t.pad_left;
    const bool inside = target >= 0 && target < t.resized_width;
    taps->columns[i] =
        inside ? ColumnTap(target, SourceStep(t.source_width, t.resized_width), t.source_width)
               : Tap{TileTaps::kPadding, 0, 0};
  } else if (thread < 2 * kTileSide) {
    const int target = tile_y + i - t.pad_top;
    const bool inside = target >= 0 && target < t.resized_height;
    taps->rows[i] = inside ? RowTap(target, SourceStep(t.source_height, t.resized_height))
                           : Tap{TileTaps::kPadding, 0, 0};
  }
}

// The pixel between two columns and two rows. Pixels of weight zero are not read and another one
// stands for them: where a picture is not scaled, one of four is read.
template <typename Row>
LATTICE_HOST_DEVICE RgbLevels SampleAt(const Row& upper, const Row& lower, Tap across, Tap down,
                                       int source_width) {
  const int right = ClampIndex(across.first + 1, source_width);
  const RgbLevels a = upper.At(across.first);
  const RgbLevels b = across.weight1 == 0 ? a : upper.At(right);
  const RgbLevels c = down.weight1 == 0 ? a : lower.At(across.first);
  const RgbLevels d = down.weight1 == 0 ? b : across.weight1 == 0 ? c : lower.At(right);
  const auto blend = [&](int upper_left, int upper_right, int lower_left, int lower_right) {
    return BlendRows(BlendColumns(upper_left, upper_right, across),
                     BlendColumns(lower_left, lower_right, across), down.weight0, down.weight1);
  };
  return {blend(a.red, b.red, c.red, d.red), blend(a.green, b.green, c.green, d.green),
          blend(a.blue, b.blue, c.blue, d.blue)};
}

// `row_at(y)` is a row of the shown picture.
template <typename RowAt>
LATTICE_HOST_DEVICE void SampleRun(const RowAt& row_at, const LetterboxTransform& t,
                                   const TileTaps& taps, int column, int row, PixelRun* run) {
  LATTICE_UNROLL
  for (int i = 0; i < kRunPixels; ++i) {
    const Tap across = taps.columns[run->down ? column : column + i];
    const Tap down = taps.rows[run->down ? row + i : row];
    if (across.first == TileTaps::kPadding || down.first == TileTaps::kPadding) continue;
    const RgbLevels pixel =
        SampleAt(row_at(ClampIndex(down.first, t.source_height)),
                 row_at(ClampIndex(down.first + 1, t.source_height)), across, down, t.source_width);
    run->levels[0][i] = static_cast<uint8_t>(pixel.red);
    run->levels[1][i] = static_cast<uint8_t>(pixel.green);
    run->levels[2][i] = static_cast<uint8_t>(pixel.blue);
  }
}

// The run of one thread. The threads of a warp read neighbouring bytes: they are side by side in a
// row of the input, or, in a picture whose stored rows are shown as columns, in a column.
LATTICE_HOST_DEVICE inline PixelRun RunOf(const DeviceImage& image, const TileTaps& taps,
                                          int tile_x, int tile_y, int thread) {
  const bool down = !Turn::Of(image.orientation).quarter;
  const int lane = thread % kTileSide;
  const int first = thread / kTileSide * kRunPixels;
  const int column = down ? lane : first;
  const int row = down ? first : lane;
  PixelRun run{tile_x + column, tile_y + row, down, {}};
  LATTICE_UNROLL
  for (int i = 0; i < kRunPixels; ++i) {
    for (auto& plane : run.levels) plane[i] = kPadGrey;
  }
  const LetterboxTransform& t = image.transform;
  if (image.planes[0] == nullptr) return run;
  if (image.layout == PixelLayout::kRgb) {
    const auto row_at = [&](int y) {
      return RgbRow{image.planes[0] + static_cast<ptrdiff_t>(y) * image.pitches[0]};
    };
    SampleRun(row_at, t, taps, column, row, &run);
  } else if (image.orientation != 1) {
    SampleRun([&](int y) { return TurnedYuvRow{image, y}; }, t, taps, column, row, &run);
  } else {
    const auto row_at = [&](int y) {
      return YuvRowAt(image.planes, image.pitches, t.source_width, t.source_height, y);
    };
    SampleRun(row_at, t, taps, column, row, &run);
  }
  return run;
}

// Computes the tile whose first pixel is (tile_x, tile_y). Calls sink(run) for each run whose first
// pixel is inside the input; its last ones may lie below the input, not beside it, as the width is
// a multiple of eight.
template <typename Block, typename Sink>
LATTICE_HOST_DEVICE void LetterboxTile(const Block& block, const DeviceImage& image,
                                       int input_width, int input_height, int tile_x, int tile_y,
                                       TileTaps* taps, const Sink& sink) {
  block.Step([&](int thread) { FillTap(image.transform, tile_x, tile_y, thread, taps); });
  block.Step([&](int thread) {
    const PixelRun run = RunOf(image, *taps, tile_x, tile_y, thread);
    if (run.x < input_width && run.y < input_height) sink(run);
  });
}

}  // namespace lattice

#endif  // LATTICE_CUDA_KERNELS_LETTERBOX_TILE_H_
