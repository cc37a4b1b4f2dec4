// The work of one block of the letterbox kernel, in plain C++, so that tests run the same code
// without a GPU. A block computes kTileColumns x kTileRows pixels of the network input.
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

inline constexpr int kRunColumns = 8;  // per thread: eight halves are one 16-byte store
inline constexpr int kTileColumns = 128;
inline constexpr int kTileRows = 8;
inline constexpr int kTileThreads = kTileColumns / kRunColumns * kTileRows;
static_assert(kTileThreads == kTileColumns, "each thread computes one column's tap");

// The taps of the columns, shared by all rows of a tile. Column c is at (c % 8) * 16 + c / 8, so
// that neighbouring threads read neighbouring words.
struct TileTaps {
  int first[kTileColumns];    // -1: padding
  int weights[kTileColumns];  // low half: left neighbour, high half: right one

  static constexpr int kRuns = kTileColumns / kRunColumns;
  LATTICE_HOST_DEVICE static int Slot(int run, int i) { return i * kRuns + run; }
};

// Eight neighbouring pixels of one row.
struct PixelRun {
  uint8_t levels[3][kRunColumns];  // R, G, B
};

LATTICE_HOST_DEVICE inline void FillTap(const LetterboxTransform& t, int tile_column, int column,
                                        TileTaps* taps) {
  const int slot = TileTaps::Slot(column / kRunColumns, column % kRunColumns);
  const int target = tile_column + column - t.pad_left;
  if (target < 0 || target >= t.resized_width) {
    taps->first[slot] = -1;
    return;
  }
  const Tap tap = ColumnTap(target, SourceStep(t.source_width, t.resized_width), t.source_width);
  taps->first[slot] = tap.first;
  taps->weights[slot] = tap.weight1 << 16 | tap.weight0;
}

template <typename Row>
LATTICE_HOST_DEVICE void SampleRun(const Row& upper, const Row& lower, Tap down,
                                   const TileTaps& taps, int run, int source_width, PixelRun* out) {
  LATTICE_UNROLL
  for (int i = 0; i < kRunColumns; ++i) {
    const int slot = TileTaps::Slot(run, i);
    const int first = taps.first[slot];
    if (first < 0) continue;
    const Tap across{first, taps.weights[slot] & 0xFFFF, taps.weights[slot] >> 16};
    const int right = ClampIndex(first + 1, source_width);
    const RgbLevels a = upper.At(first);
    const RgbLevels b = upper.At(right);
    const RgbLevels c = lower.At(first);
    const RgbLevels d = lower.At(right);
    const auto blend = [&](int upper_left, int upper_right, int lower_left, int lower_right) {
      return static_cast<uint8_t>(BlendRows(BlendColumns(upper_left, upper_right, across),
                                            BlendColumns(lower_left, lower_right, across),
                                            down.weight0, down.weight1));
    };
    out->levels[0][i] = blend(a.red, b.red, c.red, d.red);
    out->levels[1][i] = blend(a.green, b.green, c.green, d.green);
    out->levels[2][i] = blend(a.blue, b.blue, c.blue, d.blue);
  }
}

// The pixels of row `y` of the network input in the columns of `run`.
LATTICE_HOST_DEVICE inline PixelRun RunAt(const DeviceImage& image, const TileTaps& taps, int run,
                                          int y) {
  PixelRun out;
  LATTICE_UNROLL
  for (int i = 0; i < kRunColumns; ++i) {
    for (auto& plane : out.levels) plane[i] = kPadGrey;
  }
  const LetterboxTransform& t = image.transform;
  const int target = y - t.pad_top;
  if (image.planes[0] == nullptr || target < 0 || target >= t.resized_height) return out;
  const Tap down = RowTap(target, SourceStep(t.source_height, t.resized_height));
  const int upper = ClampIndex(down.first, t.source_height);
  const int lower = ClampIndex(down.first + 1, t.source_height);
  if (image.layout == PixelLayout::kRgb) {
    const auto row = [&](int index) {
      return RgbRow{image.planes[0] + static_cast<ptrdiff_t>(index) * image.pitches[0]};
    };
    SampleRun(row(upper), row(lower), down, taps, run, t.source_width, &out);
  } else if (image.orientation != 1) {
    const auto row = [&](int index) { return TurnedYuvRow{image, index}; };
    SampleRun(row(upper), row(lower), down, taps, run, t.source_width, &out);
  } else {
    const auto row = [&](int index) {
      return YuvRowAt(image.planes, image.pitches, t.source_width, t.source_height, index);
    };
    SampleRun(row(upper), row(lower), down, taps, run, t.source_width, &out);
  }
  return out;
}

// Computes the tile whose first pixel is (tile_x, tile_y). Calls sink(x, y, run) for each run of
// eight pixels inside the input, whose width is a multiple of eight.
template <typename Block, typename Sink>
LATTICE_HOST_DEVICE void LetterboxTile(const Block& block, const DeviceImage& image,
                                       int input_width, int input_height, int tile_x, int tile_y,
                                       TileTaps* taps, const Sink& sink) {
  block.Step([&](int thread) { FillTap(image.transform, tile_x, thread, taps); });
  block.Step([&](int thread) {
    const int run = thread % TileTaps::kRuns;
    const int x = tile_x + run * kRunColumns;
    const int y = tile_y + thread / TileTaps::kRuns;
    if (x < input_width && y < input_height) sink(x, y, RunAt(image, *taps, run, y));
  });
}

}  // namespace lattice

#endif  // LATTICE_CUDA_KERNELS_LETTERBOX_TILE_H_
