#include <cstdint>

#include "native/gpu/kernels/gpu_block.h"
#include "native/gpu/kernels/letterbox_block.h"
#include "native/gpu/kernels/letterbox_kernel.h"

namespace lattice {
namespace {

__global__ void __launch_bounds__(kTileThreads)
    LetterboxKernel(const DeviceImage* __restrict__ images, int input_width, int input_height,
                    __half* __restrict__ out) {
  __shared__ LetterboxShared shared;
  LetterboxBlock(GpuBlock(), blockIdx.x, blockIdx.y, blockIdx.z, images, input_width, input_height,
                 &shared, out);
}

unsigned BlocksFor(int size) { return static_cast<unsigned>((size + kTileSide - 1) / kTileSide); }

}  // namespace

cudaError_t LoadLetterboxKernel() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, LetterboxKernel);
}

cudaError_t LaunchLetterbox(const DeviceImage* images, int batch, int input_width, int input_height,
                            __half* out, cudaStream_t stream) {
  const bool fits = batch > 0 && batch <= 65'535 && input_width > 0 && input_height > 0 &&
                    input_width % kRunPixels == 0 &&
                    reinterpret_cast<uintptr_t>(out) % sizeof(uint4) == 0;
  if (!fits) return cudaErrorInvalidValue;
  const dim3 grid(BlocksFor(input_width), BlocksFor(input_height), static_cast<unsigned>(batch));
  (void)cudaGetLastError();  // an earlier call's failure is none of this launch
  LetterboxKernel<<<grid, kTileThreads, 0, stream>>>(images, input_width, input_height, out);
  return cudaGetLastError();
}

}  // namespace lattice
