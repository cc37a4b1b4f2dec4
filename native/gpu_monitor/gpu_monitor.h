// Reads the figures of this process's GPU regularly, on a thread of its own, so that no caller
// waits for the driver.
#ifndef LATTICE_GPU_MONITOR_GPU_MONITOR_H_
#define LATTICE_GPU_MONITOR_GPU_MONITOR_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "native/base/status.h"
#include "native/gpu_monitor/gpu_reading.h"

namespace lattice {

struct GpuMonitorOptions {
  // Finds the GPU; called once, on the monitor's thread.
  std::function<Result<GpuIdentity>()> identify;
  // Time between two readings.
  std::chrono::milliseconds interval{1'000};
  // A driver that takes longer for a reading is reported as hanging.
  std::chrono::milliseconds overdue{3'000};
  // Another one in tests only.
  std::string library = "libnvidia-ml.so.1";
};

class GpuMonitor {
 public:
  // Starts the thread.
  explicit GpuMonitor(GpuMonitorOptions options);
  // Does not wait for a thread that hangs in the driver.
  ~GpuMonitor();
  GpuMonitor(const GpuMonitor&) = delete;
  GpuMonitor& operator=(const GpuMonitor&) = delete;

  // The last figures with their age, or the failure of `identify`. Never waits for the driver:
  // while that hangs, the figures get older, and the reason says so once they are overdue.
  // Thread-safe.
  Result<GpuReading> Latest() const;

 private:
  struct State;
  static void Run(const std::shared_ptr<State>& state);

  const std::shared_ptr<State> state_;  // shared with the thread, which may outlive the monitor
  std::thread thread_;
};

}  // namespace lattice

#endif  // LATTICE_GPU_MONITOR_GPU_MONITOR_H_
