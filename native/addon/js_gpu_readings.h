// The figures of this process's GPU, for JavaScript.
#ifndef LATTICE_ADDON_JS_GPU_READINGS_H_
#define LATTICE_ADDON_JS_GPU_READINGS_H_

#include <napi.h>

#include "native/gpu_monitor/gpu_monitor.h"

namespace lattice {

// NativeGpuReadings of src/native/gpu-reading.ts. JS thread.
Napi::Object ToGpuReadings(Napi::Env env, const Result<GpuReading>& reading);

// Of the first usable GPU. The first call starts the monitor of this process; no call waits for the
// driver. Thread-safe.
Result<GpuReading> LatestGpuReading();

}  // namespace lattice

#endif  // LATTICE_ADDON_JS_GPU_READINGS_H_
