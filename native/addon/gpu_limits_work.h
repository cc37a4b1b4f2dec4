// gpuLimits() of the addon.
#ifndef LATTICE_ADDON_GPU_LIMITS_WORK_H_
#define LATTICE_ADDON_GPU_LIMITS_WORK_H_

#include <napi.h>

namespace lattice {

// Arguments: rounds, seconds. A promise of NativeGpuLimits; a thread of Node's pool measures. JS
// thread.
Napi::Value StartGpuLimits(const Napi::CallbackInfo& info);

}  // namespace lattice

#endif  // LATTICE_ADDON_GPU_LIMITS_WORK_H_
