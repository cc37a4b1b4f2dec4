#include "bench/native/gpu_stopwatch.h"

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

Status GpuStopwatch::Mark(const CudaOwned<cudaEvent_t>& event) const {
  return ToStatus(cudaEventRecord(event.get(), stream_.get()), "recording an event");
}

}  // namespace lattice
