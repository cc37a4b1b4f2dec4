#include <cstddef>
#include <cstdint>

#include "native/cuda/gpu_block.h"
#include "native/cuda/letterbox_kernel.h"
#include "native/cuda/letterbox_tile.h"

namespace lattice {
namespace {

// Stores a run's planes, eight halves at a time.
struct HalfPlanes {
  __half* out;
  int width, height;

  __device__ void operator()(int x, int y, const PixelRun& run) const {
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

__global__ void __launch_bounds__(kTileThreads)
    LetterboxKernel(const DeviceImage* __restrict__ images, int input_width, int input_height,
                    __half* __restrict__ out) {
  __shared__ TileTaps taps;
  const DeviceImage image = images[blockIdx.z];
  const size_t input_size =
      size_t{3} * static_cast<size_t>(input_width) * static_cast<size_t>(input_height);
  const HalfPlanes planes{out + blockIdx.z * input_size, input_width, input_height};
  LetterboxTile(GpuBlock(), image, input_width, input_height,
                static_cast<int>(blockIdx.x) * kTileColumns,
                static_cast<int>(blockIdx.y) * kTileRows, &taps, planes);
}

unsigned BlocksFor(int size, int tile) { return static_cast<unsigned>((size + tile - 1) / tile); }

}  // namespace

cudaError_t LoadLetterboxKernel() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, LetterboxKernel);
}

cudaError_t LaunchLetterbox(const DeviceImage* images, int batch, int input_width, int input_height,
                            __half* out, cudaStream_t stream) {
  const bool fits = batch > 0 && batch <= 65'535 && input_width > 0 && input_height > 0 &&
                    input_width % kRunColumns == 0 &&
                    reinterpret_cast<uintptr_t>(out) % sizeof(uint4) == 0;
  if (!fits) return cudaErrorInvalidValue;
  const dim3 grid(BlocksFor(input_width, kTileColumns), BlocksFor(input_height, kTileRows),
                  static_cast<unsigned>(batch));
  LetterboxKernel<<<grid, kTileThreads, 0, stream>>>(images, input_width, input_height, out);
  return cudaGetLastError();
}

}  // namespace lattice
