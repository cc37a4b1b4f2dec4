// What the GPUs do, for JavaScript.
#ifndef LATTICE_ADDON_JS_GPU_READINGS_H_
#define LATTICE_ADDON_JS_GPU_READINGS_H_

#include <napi.h>

#include "native/gpu_monitor/gpu_monitor.h"

namespace lattice {

// NativeGpuReadings of src/native/gpu-reading.ts. JS thread.
Napi::Object ToGpuReadings(Napi::Env env, const GpuReadings& readings);

// Of the GPUs that cores can use. The first call starts the process's monitor; no call waits for a
// driver. Thread-safe.
GpuReadings LatestGpuReadings();

}  // namespace lattice

#endif  // LATTICE_ADDON_JS_GPU_READINGS_H_
