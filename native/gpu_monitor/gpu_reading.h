// The state of a GPU at one moment.
#ifndef LATTICE_GPU_MONITOR_GPU_READING_H_
#define LATTICE_GPU_MONITOR_GPU_READING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lattice {

// Which GPU it is.
struct GpuIdentity {
  int index = 0;  // CUDA's ordinal in this process
  std::string name;
  std::string uuid;           // "GPU-..." as nvidia-smi prints it
  std::string bus_id;         // "0000:17:00.0", the same for CUDA, NVML and the kernel
  int numa_node = -1;         // -1: the kernel does not say
  uint64_t memory_bytes = 0;  // according to CUDA
};

// A figure is absent if the GPU, its driver or its mode of use does not report it. With MIG the
// figures are those of the whole GPU, of which the process uses a part.
struct GpuFigures {
  std::optional<uint64_t> memory_total;  // bytes
  std::optional<uint64_t> memory_used;   // bytes, including the driver's own
  std::optional<int> utilisation;        // percent of time in which a kernel ran
  std::optional<int> temperature;        // degrees Celsius
  std::optional<double> power;           // watts
  std::optional<double> power_limit;     // watts
  std::optional<int> sm_clock;           // MHz
  // Memory errors that could not be corrected, since the driver was loaded.
  std::optional<uint64_t> uncorrected_errors;
  std::optional<bool> mig;
  // What limits the clocks: power_cap, thermal, hardware_slowdown, hardware_thermal,
  // power_brake.
  std::vector<std::string> slowed_by;
};

struct GpuReading {
  GpuIdentity identity;
  GpuFigures figures;
  std::optional<double> age_ms;  // of the figures; absent before the first ones
  std::string reason;            // a sentence: why figures are absent or old; "" if none are
};

}  // namespace lattice

#endif  // LATTICE_GPU_MONITOR_GPU_READING_H_
