#include <cstddef>

#include "native/cuda/kernels/detection_blocks.h"
#include "native/cuda/kernels/detection_kernels.h"
#include "native/cuda/kernels/gpu_block.h"

namespace lattice {
namespace {

size_t Elements(int a, int b) { return static_cast<size_t>(a) * static_cast<size_t>(b); }

__global__ void __launch_bounds__(kFilterThreads)
    FilterKernel(const float* __restrict__ head, HeadShape shape,
                 const DeviceRequest* __restrict__ requests, DetectionWorkspace workspace) {
  __shared__ FilterShared shared;
  FilterBlock(GpuBlock(), blockIdx.x, blockIdx.y, head, shape, requests, workspace, &shared);
}

__global__ void __launch_bounds__(kRankThreads)
    RankKernel(HeadShape shape, DetectionWorkspace workspace) {
  __shared__ RankShared shared;
  RankBlock(GpuBlock(), blockIdx.x, blockIdx.y, shape, workspace, &shared);
}

__global__ void __launch_bounds__(kSuppressThreads)
    DetectKernel(const float* __restrict__ head, HeadShape shape,
                 const DeviceRequest* __restrict__ requests, DetectionWorkspace workspace,
                 DeviceDetections* __restrict__ results) {
  __shared__ SuppressShared shared;
  DetectBlock(GpuBlock(), blockIdx.x, head, shape, requests, workspace, &shared, results);
}

}  // namespace

bool IsServed(const HeadShape& shape) {
  return shape.batch > 0 && shape.batch <= 65'535 && shape.classes > 0 &&
         shape.classes <= kMostClasses && shape.anchors > 0 && shape.anchors <= kMostAnchors;
}

size_t DetectionWorkspaceBytes(const HeadShape& shape) {
  return 2 * Elements(shape.batch, shape.anchors) * sizeof(CandidateKey) +
         static_cast<size_t>(shape.batch) * sizeof(int);
}

DetectionWorkspace LayOutWorkspace(void* memory, const HeadShape& shape) {
  auto* keys = static_cast<CandidateKey*>(memory);
  CandidateKey* sorted = keys + Elements(shape.batch, shape.anchors);
  return {keys, sorted, reinterpret_cast<int*>(sorted + Elements(shape.batch, shape.anchors))};
}

cudaError_t LoadDetectionKernels() {
  cudaFuncAttributes attributes;
  cudaError_t error = cudaFuncGetAttributes(&attributes, FilterKernel);
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, RankKernel);
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, DetectKernel);
  return error;
}

cudaError_t ClearWorkspace(const DetectionWorkspace& workspace, const HeadShape& shape,
                           cudaStream_t stream) {
  return cudaMemsetAsync(workspace.counts, 0, static_cast<size_t>(shape.batch) * sizeof(int),
                         stream);
}

cudaError_t LaunchDetections(const float* head, const HeadShape& shape,
                             const DeviceRequest* requests, const DetectionWorkspace& workspace,
                             DeviceDetections* results, cudaStream_t stream) {
  if (!IsServed(shape)) return cudaErrorInvalidValue;
  const auto images = static_cast<unsigned>(shape.batch);
  const auto blocks_for = [&](int keys) {
    return dim3(static_cast<unsigned>((shape.anchors + keys - 1) / keys), images);
  };
  (void)cudaGetLastError();  // an earlier call's failure is none of these launches
  FilterKernel<<<blocks_for(kFilterAnchors), kFilterThreads, 0, stream>>>(head, shape, requests,
                                                                          workspace);
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) return error;
  RankKernel<<<blocks_for(kRankedKeys), kRankThreads, 0, stream>>>(shape, workspace);
  error = cudaGetLastError();
  if (error != cudaSuccess) return error;
  DetectKernel<<<images, kSuppressThreads, 0, stream>>>(head, shape, requests, workspace, results);
  return cudaGetLastError();
}

}  // namespace lattice
