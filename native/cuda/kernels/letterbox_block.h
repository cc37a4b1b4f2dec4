// The work of each block of the letterbox kernel, by its place in the grid. The kernel calls it
// with a GpuBlock, tests with another one (see letterbox_tile.h for `Block`).
#ifndef LATTICE_CUDA_KERNELS_LETTERBOX_BLOCK_H_
#define LATTICE_CUDA_KERNELS_LETTERBOX_BLOCK_H_

#include <cuda_fp16.h>

#include <cstddef>

#include "native/cuda/kernels/letterbox_tile.h"

namespace lattice {

// Stores a run's planes, eight halves at a time.
struct HalfPlanes {
  __half* out;
  int width, height;

  LATTICE_HOST_DEVICE void operator()(int x, int y, const PixelRun& run) const {
    LATTICE_UNROLL
    for (int plane = 0; plane < 3; ++plane) {
      union {
        uint4 words;
        __half2 pairs[kRunColumns / 2];
      } packed = {};
      LATTICE_UNROLL
      for (int i = 0; i < kRunColumns; i += 2) {
        packed.pairs[i / 2] = __floats2half2_rn(Normalised(run.levels[plane][i]),
                                                Normalised(run.levels[plane][i + 1]));
      }
      const size_t row =
          static_cast<size_t>(plane) * static_cast<size_t>(height) + static_cast<size_t>(y);
      __half* target = out + row * static_cast<size_t>(width) + static_cast<size_t>(x);
      *reinterpret_cast<uint4*>(target) = packed.words;
    }
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
  LetterboxTile(block, picture, input_width, input_height, static_cast<int>(x) * kTileColumns,
                static_cast<int>(y) * kTileRows, taps, planes);
}

}  // namespace lattice

#endif  // LATTICE_CUDA_KERNELS_LETTERBOX_BLOCK_H_
