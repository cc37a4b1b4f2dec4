#include <cstddef>

#include "native/gpu/kernels/detection_blocks.h"
#include "native/gpu/kernels/detection_kernels.h"
#include "native/gpu/kernels/gpu_block.h"

namespace lattice {
namespace {

constexpr int kMostImages = 65'535;  // blocks of a grid's second side

size_t Elements(int a, int b) { return static_cast<size_t>(a) * static_cast<size_t>(b); }

__global__ void __launch_bounds__(kFilterThreads)
    FilterKernel(DeviceHead head, const DeviceRequest* __restrict__ requests,
                 DetectionWorkspace workspace) {
  __shared__ FilterShared shared;
  FilterBlock(GpuBlock(), blockIdx.x, blockIdx.y, head, requests, workspace, &shared);
}

__global__ void __launch_bounds__(kRankThreads)
    RankKernel(int anchors, DetectionWorkspace workspace) {
  __shared__ RankShared shared;
  RankBlock(GpuBlock(), blockIdx.x, blockIdx.y, anchors, workspace, &shared);
}

__global__ void __launch_bounds__(kSuppressThreads)
    DetectKernel(DeviceHead head, const DeviceRequest* __restrict__ requests,
                 DetectionWorkspace workspace, DeviceDetections* __restrict__ results) {
  __shared__ SuppressShared shared;
  DetectBlock(GpuBlock(), blockIdx.x, head, requests, workspace, &shared, results);
}

}  // namespace

size_t DetectionWorkspaceBytes(int batch, int anchors) {
  return 2 * Elements(batch, anchors) * sizeof(CandidateKey) +
         static_cast<size_t>(batch) * sizeof(int);
}

DetectionWorkspace LayOutWorkspace(void* memory, int batch, int anchors) {
  auto* keys = static_cast<CandidateKey*>(memory);
  CandidateKey* sorted = keys + Elements(batch, anchors);
  return {keys, sorted, reinterpret_cast<int*>(sorted + Elements(batch, anchors))};
}

cudaError_t LoadDetectionKernels() {
  cudaFuncAttributes attributes;
  cudaError_t error = cudaFuncGetAttributes(&attributes, FilterKernel);
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, RankKernel);
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, DetectKernel);
  return error;
}

cudaError_t ClearWorkspace(const DetectionWorkspace& workspace, int batch, cudaStream_t stream) {
  return cudaMemsetAsync(workspace.counts, 0, static_cast<size_t>(batch) * sizeof(int), stream);
}

cudaError_t LaunchDetections(const DeviceHead& head, int batch, const DeviceRequest* requests,
                             const DetectionWorkspace& workspace, DeviceDetections* results,
                             cudaStream_t stream) {
  const int anchors = head.anchors();
  if (!IsServed(head.classes, anchors) || batch < 1 || batch > kMostImages) {
    return cudaErrorInvalidValue;
  }
  const auto images = static_cast<unsigned>(batch);
  const auto blocks_for = [&](int keys) {
    return dim3(static_cast<unsigned>((anchors + keys - 1) / keys), images);
  };
  (void)cudaGetLastError();  // an earlier call's failure is none of these launches
  FilterKernel<<<blocks_for(kFilterAnchors), kFilterThreads, 0, stream>>>(head, requests,
                                                                          workspace);
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) return error;
  RankKernel<<<blocks_for(kRankedKeys), kRankThreads, 0, stream>>>(anchors, workspace);
  error = cudaGetLastError();
  if (error != cudaSuccess) return error;
  DetectKernel<<<images, kSuppressThreads, 0, stream>>>(head, requests, workspace, results);
  return cudaGetLastError();
}

}  // namespace lattice
