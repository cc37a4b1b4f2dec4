// Pixels -> network input on the GPU, a whole batch in one launch.
#ifndef LATTICE_CUDA_KERNELS_LETTERBOX_KERNEL_H_
#define LATTICE_CUDA_KERNELS_LETTERBOX_KERNEL_H_

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include "native/cuda/kernels/device_image.h"

namespace lattice {

// Loads the kernel onto the current GPU: before a graph is recorded, since the first launch
// otherwise loads it. cudaErrorNoKernelImageForDevice where this build has no code for the GPU.
cudaError_t LoadLetterboxKernel();

// Writes `batch` inputs of 3 x input_height x input_width halves to `out`: R, G, B planes, level /
// 255, grey 114 around. The level before the rounding to half is that of the CPU's Letterbox.
// `images`
// (`batch` of them) and `out` (aligned to 16) lie in GPU memory; `images` is read when the kernel
// runs, so that one recorded graph serves all image sizes. input_width divides by 8. Allocates
// nothing, may be recorded; cudaErrorInvalidValue for sizes that break these rules.
cudaError_t LaunchLetterbox(const DeviceImage* images, int batch, int input_width, int input_height,
                            __half* out, cudaStream_t stream);

}  // namespace lattice

#endif  // LATTICE_CUDA_KERNELS_LETTERBOX_KERNEL_H_
