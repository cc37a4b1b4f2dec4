// Raw head output -> boxes on the GPU, for a whole batch: what DecodeDetections gives, float by
// float, for any number of candidates.
#ifndef LATTICE_CUDA_KERNELS_DETECTION_KERNELS_H_
#define LATTICE_CUDA_KERNELS_DETECTION_KERNELS_H_

#include <cuda_runtime_api.h>

#include <cstddef>

#include "native/cuda/kernels/candidate_key.h"
#include "native/cuda/kernels/device_detections.h"

namespace lattice {

// The shape of a batch's head output: [batch][4 + classes][anchors] floats, as
// DecodeDetections takes them for one image.
struct HeadShape {
  int batch, classes, anchors;
};

// Memory of the GPU that the kernels work in, borrowed from the caller. One run at a time uses it.
struct DetectionWorkspace {
  CandidateKey* keys;    // [batch][anchors]
  CandidateKey* sorted;  // [batch][anchors]
  int* counts;           // [batch]
};

// False where the kernels cannot serve the shape: more than 1,024 classes or 32,768 anchors.
bool IsServed(const HeadShape& shape);

// Bytes of a workspace for batches up to `shape.batch`.
size_t DetectionWorkspaceBytes(const HeadShape& shape);

// Lays a workspace out in `memory` (aligned to 8, DetectionWorkspaceBytes long).
DetectionWorkspace LayOutWorkspace(void* memory, const HeadShape& shape);

// Loads the kernels onto the current GPU: before a graph is recorded, since the first launch
// otherwise loads them. cudaErrorNoKernelImageForDevice where this build has no code for the GPU.
cudaError_t LoadDetectionKernels();

// Once before the first run; runs leave the workspace ready for the next.
cudaError_t ClearWorkspace(const DetectionWorkspace& workspace, const HeadShape& shape,
                           cudaStream_t stream);

// Three launches. `head`, `requests` and `results` (`shape.batch` of each of the latter) lie in GPU
// memory; `requests` is read when the kernels run. Allocates nothing, may be recorded;
// cudaErrorInvalidValue for a shape that IsServed refuses.
cudaError_t LaunchDetections(const float* head, const HeadShape& shape,
                             const DeviceRequest* requests, const DetectionWorkspace& workspace,
                             DeviceDetections* results, cudaStream_t stream);

}  // namespace lattice

#endif  // LATTICE_CUDA_KERNELS_DETECTION_KERNELS_H_
