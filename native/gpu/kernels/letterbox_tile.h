// The work of one block of the letterbox kernel, in plain C++, so that tests run the same code
// without a GPU. A block computes kTileSide x kTileSide pixels of the network input.
//
// `Block` runs the steps: block.Step(f) calls f(thread) for all threads of the block, in any order,
// and returns when all have returned. Within a step, no thread reads what another one writes.
#ifndef LATTICE_GPU_KERNELS_LETTERBOX_TILE_H_
#define LATTICE_GPU_KERNELS_LETTERBOX_TILE_H_

#include <cstdint>

#include "native/base/host_device.h"
#include "native/gpu/kernels/device_image.h"
#include "native/gpu/kernels/letterbox_taps.h"
#include "native/image/turn.h"
#include "native/letterbox/letterbox_sample.h"
#include "native/letterbox/yuv_sample.h"

namespace lattice {

inline constexpr int kRunPixels = 8;  // per thread: eight halves are one 16-byte store
inline constexpr int kTileThreads = kTileSide * kTileSide / kRunPixels;
static_assert(kTileThreads >= 2 * kTileSide, "a thread prepares at most one position or line");

// Eight pixels of the input from (x, y) on: down a column, or along a row.
struct PixelRun {
  int x, y;
  bool down;
  uint8_t levels[3][kRunPixels];  // R, G, B
};

// The pixel at a line and a position. pixel_at(row, x) is a stored pixel. Pixels of weight zero are
// not read and another one stands for them: where a picture is not scaled, one of four is read.
// kDown: lines are rows of the input.
template <bool kDown, typename PixelAt>
LATTICE_HOST_DEVICE RgbLevels SampleAt(const PixelAt& pixel_at, const TileLine& line,
                                       const AxisTap& position) {
  const bool one_line = line.tap.weight1 == 0;
  const bool one_position = position.tap.weight1 == 0;
  const RgbLevels here = pixel_at(line.rows[0], position.stored[0]);
  const RgbLevels beside = one_position ? here : pixel_at(line.rows[0], position.stored[1]);
  const RgbLevels next = one_line ? here : pixel_at(line.rows[1], position.stored[0]);
  const RgbLevels last = one_line       ? beside
                         : one_position ? next
                                        : pixel_at(line.rows[1], position.stored[1]);
  const RgbLevels& right = kDown ? beside : next;
  const RgbLevels& below = kDown ? next : beside;
  const Tap& across = kDown ? position.tap : line.tap;
  const Tap& down = kDown ? line.tap : position.tap;
  const auto blend = [&](int upper_left, int upper_right, int lower_left, int lower_right) {
    return BlendRows(BlendColumns(upper_left, upper_right, across),
                     BlendColumns(lower_left, lower_right, across), down.weight0, down.weight1);
  };
  return {blend(here.red, right.red, below.red, last.red),
          blend(here.green, right.green, below.green, last.green),
          blend(here.blue, right.blue, below.blue, last.blue)};
}

template <bool kDown, typename PixelAt>
LATTICE_HOST_DEVICE void SampleRun(const PixelAt& pixel_at, const TileTaps& taps, int thread,
                                   PixelRun* run) {
  const AxisTap position = taps.positions[thread % kTileSide];
  if (position.tap.first == AxisTap::kPadding) return;
  const TileLine* lines = taps.lines + thread / kTileSide * kRunPixels;
  LATTICE_UNROLL
  for (int i = 0; i < kRunPixels; ++i) {
    if (lines[i].tap.first == AxisTap::kPadding) continue;
    const RgbLevels pixel = SampleAt<kDown>(pixel_at, lines[i], position);
    run->levels[0][i] = static_cast<uint8_t>(pixel.red);
    run->levels[1][i] = static_cast<uint8_t>(pixel.green);
    run->levels[2][i] = static_cast<uint8_t>(pixel.blue);
  }
}

// The run of one thread.
LATTICE_HOST_DEVICE inline PixelRun RunOf(const DeviceImage& image, const TileTaps& taps,
                                          int tile_x, int tile_y, int thread) {
  const bool down = !Turn::Of(image.orientation).quarter;
  const int lane = thread % kTileSide;
  const int first = thread / kTileSide * kRunPixels;
  PixelRun run{tile_x + (down ? lane : first), tile_y + (down ? first : lane), down, {}};
  LATTICE_UNROLL
  for (int i = 0; i < kRunPixels; ++i) {
    for (auto& plane : run.levels) plane[i] = kPadGrey;
  }
  if (image.planes[0] == nullptr) return run;
  const LetterboxTransform& t = image.transform;
  const int chroma_width = ChromaSize(down ? t.source_width : t.source_height);
  const auto yuv = [&](const YuvRow& row, int x) {
    // The width from here, so that what follows from it is computed once for all lines.
    return YuvRow{row.luma, row.cb, row.cr, chroma_width}.At(x);
  };
  const auto rgb = [&](const YuvRow& row, int x) {
    const uint8_t* pixel = row.luma + 3 * x;
    return RgbLevels{pixel[0], pixel[1], pixel[2]};
  };
  if (image.layout == PixelLayout::kRgb) {
    SampleRun<true>(rgb, taps, thread, &run);
  } else if (down) {
    SampleRun<true>(yuv, taps, thread, &run);
  } else {
    SampleRun<false>(yuv, taps, thread, &run);
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
  block.Step([&](int thread) { FillTaps(image, tile_x, tile_y, thread, taps); });
  block.Step([&](int thread) {
    const PixelRun run = RunOf(image, *taps, tile_x, tile_y, thread);
    if (run.x < input_width && run.y < input_height) sink(run);
  });
}

}  // namespace lattice

#endif  // LATTICE_GPU_KERNELS_LETTERBOX_TILE_H_
