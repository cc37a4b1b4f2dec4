// Pixels -> network input on the GPU, a whole batch in one launch.
#ifndef LATTICE_GPU_KERNELS_LETTERBOX_KERNEL_H_
#define LATTICE_GPU_KERNELS_LETTERBOX_KERNEL_H_

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include "native/gpu/kernels/device_image.h"

namespace lattice {

// Loads the kernel onto the current GPU. Call it before recording a graph: otherwise the first
// launch loads it. cudaErrorNoKernelImageForDevice if this build has no code for the GPU.
cudaError_t LoadLetterboxKernel();

// Writes `batch` inputs of 3 x input_height x input_width halves to `out`: R, G, B planes, level /
// 255, padded with grey 114. Before rounding to half, levels are those of the CPU's Letterbox.
// `images` (`batch` of them) and `out` (aligned to 16) are in GPU memory; `images` is read when the
// kernel runs, so that one recorded graph serves all image sizes. input_width must be a multiple of
// 8. Allocates nothing and may be recorded. cudaErrorInvalidValue for sizes that break these rules.
cudaError_t LaunchLetterbox(const DeviceImage* images, int batch, int input_width, int input_height,
                            __half* out, cudaStream_t stream);

}  // namespace lattice

#endif  // LATTICE_GPU_KERNELS_LETTERBOX_KERNEL_H_
