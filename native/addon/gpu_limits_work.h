// gpuLimits() of the addon.
#ifndef LATTICE_ADDON_GPU_LIMITS_WORK_H_
#define LATTICE_ADDON_GPU_LIMITS_WORK_H_

#include <napi.h>

namespace lattice {

// A promise of sentences: what the model in the file named by the first argument could not do on a
// GPU. Computed on a thread of libuv; needs no GPU.
Napi::Value StartGpuLimits(const Napi::CallbackInfo& info);

}  // namespace lattice

#endif  // LATTICE_ADDON_GPU_LIMITS_WORK_H_
