// The work of each block of the letterbox kernel, by its place in the grid. The kernel calls it
// with a GpuBlock, tests with another one (see letterbox_tile.h for `Block`).
#ifndef LATTICE_CUDA_KERNELS_LETTERBOX_BLOCK_H_
#define LATTICE_CUDA_KERNELS_LETTERBOX_BLOCK_H_

#include <cuda_fp16.h>

#include <cstddef>

#include "native/cuda/kernels/letterbox_tile.h"

namespace lattice {

// Stores a run as halves: down a column the threads of a warp write one row after the other, along
// a row each thread writes eight halves at once.
struct HalfPlanes {
  __half* out;
  int width, height;

  LATTICE_HOST_DEVICE __half* At(int plane, int x, int y) const {
    const size_t row =
        static_cast<size_t>(plane) * static_cast<size_t>(height) + static_cast<size_t>(y);
    return out + row * static_cast<size_t>(width) + static_cast<size_t>(x);
  }

  LATTICE_HOST_DEVICE void operator()(const PixelRun& run) const {
    LATTICE_UNROLL
    for (int plane = 0; plane < 3; ++plane) {
      if (run.down) {
        StoreDown(plane, run);
      } else {
        StoreAlong(plane, run);
      }
    }
  }

  LATTICE_HOST_DEVICE void StoreDown(int plane, const PixelRun& run) const {
    LATTICE_UNROLL
    for (int i = 0; i < kRunPixels; ++i) {
      if (run.y + i >= height) return;
      *At(plane, run.x, run.y + i) = __float2half_rn(Normalised(run.levels[plane][i]));
    }
  }

  LATTICE_HOST_DEVICE void StoreAlong(int plane, const PixelRun& run) const {
    union {
      uint4 words;
      __half2 pairs[kRunPixels / 2];
    } packed = {};
    LATTICE_UNROLL
    for (int i = 0; i < kRunPixels; i += 2) {
      packed.pairs[i / 2] =
          __floats2half2_rn(Normalised(run.levels[plane][i]), Normalised(run.levels[plane][i + 1]));
    }
    *reinterpret_cast<uint4*>(At(plane, run.x, run.y)) = packed.words;
  }
};

// Tile (x, y) of an image's input.
template <typename Block>
LATTICE_HOST_DEVICE void LetterboxBlock(const Block& block, unsigned x, unsigned y, unsigned image,
                                        const DeviceImage* images, int input_width,
                                        int input_height, TileTaps* taps, __half* out) {
  const DeviceImage picture = images[image];
  const size_t input_size =
      size_t{3} * static_cast<size_t>(input_width) * static_cast<size_t>(input_height);
  const HalfPlanes planes{out + image * input_size, input_width, input_height};
  LetterboxTile(block, picture, input_width, input_height, static_cast<int>(x) * kTileSide,
                static_cast<int>(y) * kTileSide, taps, planes);
}

}  // namespace lattice

#endif  // LATTICE_CUDA_KERNELS_LETTERBOX_BLOCK_H_
