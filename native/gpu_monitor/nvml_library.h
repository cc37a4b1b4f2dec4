// NVIDIA's management library, opened at run time. Own declarations of the few functions used here:
// their C interface has been stable since drivers of 2013, and no header of NVIDIA's is needed.
#ifndef LATTICE_GPU_MONITOR_NVML_LIBRARY_H_
#define LATTICE_GPU_MONITOR_NVML_LIBRARY_H_

#include <memory>
#include <string>

#include "native/base/status.h"
#include "native/gpu_monitor/gpu_reading.h"

namespace lattice {

// A GPU as the library names it; valid until the library is shut down.
using NvmlDevice = struct NvmlDeviceBody*;

// Any call may take seconds, or never return, when a driver hangs. Thread-safe, but made for one
// thread.
class NvmlLibrary {
 public:
  // kGpuUnavailable where the library is missing or its driver refuses, in one sentence. The code
  // stays loaded for good: a thread may hang in it.
  static Result<std::unique_ptr<NvmlLibrary>> Open(const std::string& path);
  ~NvmlLibrary();  // tells the library
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  // kGpuLost for a GPU that is gone, kGpuUnavailable else.
  Result<NvmlDevice> Find(const std::string& bus_id) const;

  // Fills in what the GPU tells. kGpuLost as soon as it is found gone; kGpuUnavailable when a
  // figure failed for a reason worth telling, with the other figures there.
  Status Read(NvmlDevice device, GpuFigures* figures) const;

 private:
  struct Functions;
  explicit NvmlLibrary(std::unique_ptr<Functions> functions);

  const std::unique_ptr<Functions> functions_;
};

}  // namespace lattice

#endif  // LATTICE_GPU_MONITOR_NVML_LIBRARY_H_
