// Time that work takes on the GPU, by its own clock.
#ifndef LATTICE_BENCH_GPU_STOPWATCH_H_
#define LATTICE_BENCH_GPU_STOPWATCH_H_

#include <functional>
#include <vector>

#include "native/base/status.h"
#include "native/gpu/cuda/owners.h"

namespace lattice {

// Two marks around work in a stream, which must outlive it.
class GpuStopwatch {
 public:
  // Before the measured ones: what is first done once is not in the figure.
  static constexpr int kWarmRounds = 3;

  explicit GpuStopwatch(const Stream& stream) : stream_(stream) {}

  // Before the first Time, with the stream's GPU as the thread's current one.
  Status Prepare();

  // Calls `work`, which queues into the stream, blocks until that is done and appends its
  // milliseconds. Fails as `work` does.
  Status Time(const std::function<Status()>& work, std::vector<double>* ms) const;

 private:
  Status Mark(const CudaOwned<cudaEvent_t>& event) const;

  const Stream& stream_;
  CudaOwned<cudaEvent_t> start_;
  CudaOwned<cudaEvent_t> end_;
};

}  // namespace lattice

#endif  // LATTICE_BENCH_GPU_STOPWATCH_H_
