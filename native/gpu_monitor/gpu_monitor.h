// Looks at the GPUs again and again on a thread of its own, so that nobody waits for a driver.
#ifndef LATTICE_GPU_MONITOR_GPU_MONITOR_H_
#define LATTICE_GPU_MONITOR_GPU_MONITOR_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "native/base/status.h"
#include "native/gpu_monitor/gpu_reading.h"

namespace lattice {

struct GpuMonitorOptions {
  // The GPUs to look at; called once, on the monitor's thread.
  std::function<Result<std::vector<GpuIdentity>>()> identify;
  // Between two looks.
  std::chrono::milliseconds interval{1'000};
  // A driver that takes longer over one GPU is said to hang.
  std::chrono::milliseconds overdue{3'000};
  // Tests alone name another one.
  std::string library = "libnvidia-ml.so.1";
};

struct GpuReadings {
  std::vector<GpuReading> gpus;  // in the order of the GPUs
  std::string missing;           // why there are none; "" where there are
};

class GpuMonitor {
 public:
  // Starts the thread.
  explicit GpuMonitor(GpuMonitorOptions options);
  // Leaves a thread that hangs in the driver to itself.
  ~GpuMonitor();
  GpuMonitor(const GpuMonitor&) = delete;
  GpuMonitor& operator=(const GpuMonitor&) = delete;

  // The last figures, with their age. Never waits for a driver. Thread-safe.
  //
  // The thread looks at one GPU after the other: while it hangs at one, the figures of all grow
  // old, and say so once they are overdue.
  GpuReadings Latest() const;

 private:
  struct State;
  static void Look(const std::shared_ptr<State>& state);

  const std::shared_ptr<State> state_;  // the thread's too: it may outlive the monitor
  std::thread thread_;
};

}  // namespace lattice

#endif  // LATTICE_GPU_MONITOR_GPU_MONITOR_H_
