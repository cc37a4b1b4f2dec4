// Convolution outputs of a cut head -> boxes on the GPU, for a whole batch. The arithmetic of
// Decode, for any number of candidates.
#ifndef LATTICE_GPU_KERNELS_DETECTION_KERNELS_H_
#define LATTICE_GPU_KERNELS_DETECTION_KERNELS_H_

#include <cuda_runtime_api.h>

#include <cstddef>

#include "native/gpu/kernels/candidate_key.h"
#include "native/gpu/kernels/device_detections.h"
#include "native/gpu/kernels/device_head.h"

namespace lattice {

// Working memory of the kernels on the GPU, owned by the caller and used by one run at a time.
struct DetectionWorkspace {
  CandidateKey* keys;    // [batch][anchors]
  CandidateKey* sorted;  // [batch][anchors]
  int* counts;           // [batch]
};

// Bytes of a workspace for batches up to `batch`.
size_t DetectionWorkspaceBytes(int batch, int anchors);

// Lays a workspace out in `memory` (aligned to 8, DetectionWorkspaceBytes long).
DetectionWorkspace LayOutWorkspace(void* memory, int batch, int anchors);

// Loads the kernels onto the current GPU. Call it before recording a graph: otherwise the first
// launch loads them. cudaErrorNoKernelImageForDevice if this build has no code for the GPU.
cudaError_t LoadDetectionKernels();

// Call it once before the first run; each run leaves the workspace ready for the next one.
cudaError_t ClearWorkspace(const DetectionWorkspace& workspace, int batch, cudaStream_t stream);

// Three launches. The tensors of `head`, `requests` and `results` (`batch` each of the latter two)
// are in GPU memory; `requests` is read when the kernels run. Allocates nothing and may be
// recorded. cudaErrorInvalidValue for what IsServed refuses.
cudaError_t LaunchDetections(const DeviceHead& head, int batch, const DeviceRequest* requests,
                             const DetectionWorkspace& workspace, DeviceDetections* results,
                             cudaStream_t stream);

}  // namespace lattice

#endif  // LATTICE_GPU_KERNELS_DETECTION_KERNELS_H_
