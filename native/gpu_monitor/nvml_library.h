// NVIDIA's management library, opened at run time. The few functions used here are declared in the
// source file: their C interface has been stable since 2013, so that no header is needed.
#ifndef LATTICE_GPU_MONITOR_NVML_LIBRARY_H_
#define LATTICE_GPU_MONITOR_NVML_LIBRARY_H_

#include <memory>
#include <string>

#include "native/base/status.h"
#include "native/gpu_monitor/gpu_reading.h"

namespace lattice {

// The library's handle of a GPU; valid until the library is shut down.
using NvmlDevice = struct NvmlDeviceBody*;

// Any call may take seconds, or never return, when the driver hangs. For one thread at a time.
class NvmlLibrary {
 public:
  // kGpuUnavailable, with one sentence, if the library is missing or the driver refuses. The
  // library is never closed, because a thread may hang in it.
  static Result<std::unique_ptr<NvmlLibrary>> Open(const std::string& path);
  ~NvmlLibrary();  // shuts the library down
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  // kGpuLost for a GPU that is gone, kGpuUnavailable for other failures.
  Result<NvmlDevice> Find(const std::string& bus_id) const;

  // Fills in the figures that the GPU reports. kGpuLost as soon as a call finds it gone;
  // kGpuUnavailable, with the other figures filled in, if one failed although the GPU has it.
  Status Read(NvmlDevice device, GpuFigures* figures) const;

 private:
  struct Functions;
  explicit NvmlLibrary(std::unique_ptr<Functions> functions);

  const std::unique_ptr<Functions> functions_;
};

}  // namespace lattice

#endif  // LATTICE_GPU_MONITOR_NVML_LIBRARY_H_
