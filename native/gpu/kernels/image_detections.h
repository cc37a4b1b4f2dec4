// The last block of the detection kernels, one per image (see suppression.h): candidates of the
// score filter -> the image's result.
#ifndef LATTICE_GPU_KERNELS_IMAGE_DETECTIONS_H_
#define LATTICE_GPU_KERNELS_IMAGE_DETECTIONS_H_

#include "native/base/host_device.h"
#include "native/boxes/source_box.h"
#include "native/gpu/kernels/best_pairs.h"
#include "native/gpu/kernels/suppression.h"

namespace lattice {

// One image's part of the workspace.
struct CandidateList {
  CandidateKey* keys;    // in the filter's order
  CandidateKey* sorted;  // by rank, only if there are more than kPageKeys
  int* count;
};

LATTICE_HOST_DEVICE inline void WriteRow(const DeviceHead& head, const LetterboxTransform& t,
                                         const Box& box, CandidateKey key, float* row) {
  const Box inside = InSource(box, t);
  row[0] = inside.x1;
  row[1] = inside.y1;
  row[2] = inside.x2;
  row[3] = inside.y2;
  row[4] = head.Score(ClassOf(key), AnchorOf(key));
  row[5] = static_cast<float>(ClassOf(key));
}

// Writes `result` and resets the count to 0 for the next run.
template <typename Block>
LATTICE_HOST_DEVICE void DetectInImage(const Block& block, const DeviceHead& head,
                                       const DeviceRequest& request, const CandidateList& list,
                                       SuppressShared* shared, DeviceDetections* result) {
  const int found = SmallerInt(*list.count, head.anchors());
  const int candidates = SmallerInt(found, kMaxCandidates);
  const int asked = SmallerInt(request.max_detections, kMostDetections);
  const int wanted = asked < 0 ? 0 : asked;
  // For a one-to-one head each anchor gives at least one box.
  const int most = head.one_to_one != 0 ? wanted : kMaxCandidates;
  const float iou = request.iou;
  const bool in_order = found > kPageKeys;
  const CandidateKey* keys = in_order ? list.sorted : list.keys;
  block.Step([&](int thread) {
    if (thread != 0) return;
    shared->kept = 0;
    shared->dead[0] = shared->dead[1] = 0;
  });
  if (head.one_to_one != 0) {
    const int anchors = SmallerInt(found, wanted);
    LoadPage(block, keys, SmallerInt(found, kPageKeys), in_order, shared);
    TakeBestPairs(block, head, request, anchors, wanted + 1, shared);
  }
  for (int page = 0; head.one_to_one == 0 && page < candidates && shared->kept <= wanted;
       page += kPageKeys) {
    const int size = SmallerInt(candidates - page, kPageKeys);
    LoadPage(block, keys + page, size, in_order, shared);
    ComputeBoxes(block, head, size, shared);
    for (int group = 0; group < size && shared->kept <= wanted; group += kGroupKeys) {
      SuppressGroup(block, iou, group, size, wanted + 1, shared);
    }
  }
  block.Step([&](int thread) {
    const int count = SmallerInt(shared->kept, wanted);
    if (thread < count) {
      const CandidateKey key = shared->kept_keys[thread];
      WriteRow(head, request.transform, shared->kept_boxes[thread].box, key, result->rows[thread]);
    }
    if (thread != 0) return;
    result->count = count;
    result->truncated = shared->kept > wanted || found > most ? 1 : 0;
    *list.count = 0;
  });
}

}  // namespace lattice

#endif  // LATTICE_GPU_KERNELS_IMAGE_DETECTIONS_H_
