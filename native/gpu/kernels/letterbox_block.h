// The work of each block of the letterbox kernel, by its place in the grid. The kernel calls it
// with a GpuBlock, tests with another one (see letterbox_tile.h for `Block`).
#ifndef LATTICE_GPU_KERNELS_LETTERBOX_BLOCK_H_
#define LATTICE_GPU_KERNELS_LETTERBOX_BLOCK_H_

#include <cuda_fp16.h>

#include <cstddef>

#include "native/gpu/kernels/letterbox_tile.h"

namespace lattice {

struct LetterboxShared {
  static constexpr int kLevels = 256;
  TileTaps taps;
  __half levels[kLevels];  // what the network gets for each level: a division is slow
};

// Stores a run as halves: down a column the threads of a warp write one row after the other, along
// a row each thread writes eight halves at once.
struct HalfPlanes {
  const __half* levels;
  __half* out;
  int width, height;

  LATTICE_HOST_DEVICE void operator()(const PixelRun& run) const {
    const size_t plane_size = static_cast<size_t>(height) * static_cast<size_t>(width);
    __half* first = out + static_cast<size_t>(run.y) * static_cast<size_t>(width) + run.x;
    LATTICE_UNROLL
    for (int plane = 0; plane < 3; ++plane) {
      __half* target = first + static_cast<size_t>(plane) * plane_size;
      if (run.down) {
        StoreDown(run.levels[plane], height - run.y, target);
      } else {
        StoreAlong(run.levels[plane], target);
      }
    }
  }

  LATTICE_HOST_DEVICE void StoreDown(const uint8_t* run, int rows, __half* target) const {
    LATTICE_UNROLL
    for (int i = 0; i < kRunPixels; ++i) {
      if (i < rows) target[i * width] = levels[run[i]];
    }
  }

  LATTICE_HOST_DEVICE void StoreAlong(const uint8_t* run, __half* target) const {
    union {
      uint4 words;
      __half halves[kRunPixels];
    } packed = {};
    LATTICE_UNROLL
    for (int i = 0; i < kRunPixels; ++i) packed.halves[i] = levels[run[i]];
    *reinterpret_cast<uint4*>(target) = packed.words;
  }
};

// Tile (x, y) of an image's input.
template <typename Block>
LATTICE_HOST_DEVICE void LetterboxBlock(const Block& block, unsigned x, unsigned y, unsigned image,
                                        const DeviceImage* images, int input_width,
                                        int input_height, LetterboxShared* shared, __half* out) {
  block.Step([&](int thread) {
    for (int level = thread; level < LetterboxShared::kLevels; level += kTileThreads) {
      shared->levels[level] = __float2half_rn(Normalised(level));
    }
  });
  const DeviceImage picture = images[image];
  const size_t input_size =
      size_t{3} * static_cast<size_t>(input_width) * static_cast<size_t>(input_height);
  const HalfPlanes planes{shared->levels, out + image * input_size, input_width, input_height};
  LetterboxTile(block, picture, input_width, input_height, static_cast<int>(x) * kTileSide,
                static_cast<int>(y) * kTileSide, &shared->taps, planes);
}

}  // namespace lattice

#endif  // LATTICE_GPU_KERNELS_LETTERBOX_BLOCK_H_
