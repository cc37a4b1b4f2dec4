// The work of each block of the detection kernels, by its place in the grid. Kernels call it with a
// GpuBlock, tests with another one (see letterbox_tile.h for `Block`).
#ifndef LATTICE_GPU_KERNELS_DETECTION_BLOCKS_H_
#define LATTICE_GPU_KERNELS_DETECTION_BLOCKS_H_

#include <cstddef>

#include "native/gpu/kernels/candidate_filter.h"
#include "native/gpu/kernels/candidate_order.h"
#include "native/gpu/kernels/detection_kernels.h"
#include "native/gpu/kernels/image_detections.h"

namespace lattice {

LATTICE_HOST_DEVICE inline CandidateList ListOf(const DetectionWorkspace& workspace, int anchors,
                                                unsigned image) {
  const size_t offset = image * static_cast<size_t>(anchors);
  return {workspace.keys + offset, workspace.sorted + offset, workspace.counts + image};
}

// Block `x` of an image: kFilterAnchors anchors.
template <typename Block>
LATTICE_HOST_DEVICE void FilterBlock(const Block& block, unsigned x, unsigned image,
                                     const DeviceHead& head, const DeviceRequest* requests,
                                     const DetectionWorkspace& workspace, FilterShared* shared) {
  const CandidateList list = ListOf(workspace, head.anchors(), image);
  FilterCandidates(block, head.Of(image), requests[image], static_cast<int>(x) * kFilterAnchors,
                   shared, list.keys, list.count);
}

// Block `x` of an image: kRankedKeys candidates, only if one block cannot sort them all.
template <typename Block>
LATTICE_HOST_DEVICE void RankBlock(const Block& block, unsigned x, unsigned image, int anchors,
                                   const DetectionWorkspace& workspace, RankShared* shared) {
  const CandidateList list = ListOf(workspace, anchors, image);
  const int count = SmallerInt(*list.count, anchors);
  const int first = static_cast<int>(x) * kRankedKeys;
  if (count <= kPageKeys || first >= count) return;
  RankKeys(block, list.keys, count, first, shared, list.sorted);
}

// The one block of an image.
template <typename Block>
LATTICE_HOST_DEVICE void DetectBlock(const Block& block, unsigned image, const DeviceHead& head,
                                     const DeviceRequest* requests,
                                     const DetectionWorkspace& workspace, SuppressShared* shared,
                                     DeviceDetections* results) {
  DetectInImage(block, head.Of(image), requests[image], ListOf(workspace, head.anchors(), image),
                shared, results + image);
}

}  // namespace lattice

#endif  // LATTICE_GPU_KERNELS_DETECTION_BLOCKS_H_
