#include "bench/native/gpu_stopwatch.h"

#include <algorithm>
#include <utility>

#include "native/base/median.h"
#include "native/gpu/cuda/cuda_status.h"

namespace lattice {

Status GpuStopwatch::Prepare() {
  for (CudaOwned<cudaEvent_t>* event : {&start_, &end_}) {
    cudaEvent_t made = nullptr;
    const Status status = ToStatus(cudaEventCreate(&made), "creating an event");
    if (!status.ok()) return status;
    event->reset(made);
  }
  return {};
}

Status GpuStopwatch::Time(const std::function<Status()>& work, std::vector<double>* ms) const {
  Status status = Mark(start_);
  if (status.ok()) status = work();
  if (status.ok()) status = Mark(end_);
  if (!status.ok()) return status;
  status = ToStatus(cudaEventSynchronize(end_.get()), "waiting for an event");
  if (!status.ok()) return status;
  float elapsed = 0;
  status = ToStatus(cudaEventElapsedTime(&elapsed, start_.get(), end_.get()), "reading a time");
  if (status.ok()) ms->push_back(static_cast<double>(elapsed));
  return status;
}

Result<double> GpuStopwatch::MedianMs(const std::function<Status()>& work, int rounds) {
  std::vector<double> ms;
  Status status = Prepare();
  for (int i = 0; status.ok() && i < kWarmRounds; ++i) status = Time(work, &ms);
  ms.clear();
  for (int i = 0; status.ok() && i < std::max(rounds, 1); ++i) status = Time(work, &ms);
  if (!status.ok()) return status;
  return Median(std::move(ms));
}

Status GpuStopwatch::Mark(const CudaOwned<cudaEvent_t>& event) const {
  return ToStatus(cudaEventRecord(event.get(), stream_.get()), "recording an event");
}

}  // namespace lattice
