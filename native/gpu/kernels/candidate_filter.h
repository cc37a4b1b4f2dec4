// The work of one block of the score filter, in plain C++ (see letterbox_tile.h for `Block`). A
// block scans 32 anchors; each of its warps scans a part of the classes, whose logits lie side by
// side for the anchors of a grid. Few pass, and only for those a sigmoid and a box are computed.
//
// `Block` also has Increment(counter): atomically adds one and returns the value before.
#ifndef LATTICE_GPU_KERNELS_CANDIDATE_FILTER_H_
#define LATTICE_GPU_KERNELS_CANDIDATE_FILTER_H_

#include "native/base/host_device.h"
#include "native/boxes/source_box.h"
#include "native/gpu/kernels/candidate_key.h"
#include "native/gpu/kernels/device_detections.h"
#include "native/gpu/kernels/device_head.h"

namespace lattice {

inline constexpr int kFilterAnchors = 32;
inline constexpr int kFilterParts = 8;
inline constexpr int kFilterThreads = kFilterAnchors * kFilterParts;
inline constexpr int kLogitsAtOnce = 16;  // a part of 80 classes has ten

// The best class of each anchor in each part, by its logit.
struct FilterShared {
  float best[kFilterParts][kFilterAnchors];
  int best_class[kFilterParts][kFilterAnchors];  // -1: none above the floor
};

LATTICE_HOST_DEVICE inline bool IsWanted(const DeviceRequest& request, int class_id) {
  return request.all_classes != 0 ||
         (request.class_mask[class_id / 32] >> (class_id % 32) & 1) != 0;
}

// Scans one part of the classes in ascending order: of equal logits the lowest class wins. Of a
// one-to-one head only the wanted classes count, because each of an anchor's classes may be a box.
LATTICE_HOST_DEVICE inline void ScanPart(const DeviceHead& head, const DeviceRequest& request,
                                         int anchor, int part, float* best, int* best_class) {
  const int share = (head.classes + kFilterParts - 1) / kFilterParts;
  const int begin = part * share;
  const int end = begin + share < head.classes ? begin + share : head.classes;
  const HeadCell at = head.CellOf(anchor);
  *best = request.logit_floor;
  *best_class = -1;
  for (int c = begin; c < end; c += kLogitsAtOnce) {
    // Loads all logits first, so that a GPU thread waits for memory once per group.
    float logits[kLogitsAtOnce];
    LATTICE_UNROLL
    for (int i = 0; i < kLogitsAtOnce; ++i) {
      logits[i] = c + i < end ? at.scale.Logit(c + i, at.cell) : request.logit_floor;
    }
    LATTICE_UNROLL
    for (int i = 0; i < kLogitsAtOnce; ++i) {
      if (!(logits[i] > *best)) continue;
      if (head.one_to_one != 0 && !IsWanted(request, c + i)) continue;
      *best = logits[i];
      *best_class = c + i;
    }
  }
}

// Appends those of the anchors from `first_anchor` on that pass, each with its best class, to
// `keys` in any order and counts them in `count`. `keys` must have space for all anchors.
template <typename Block>
LATTICE_HOST_DEVICE void FilterCandidates(const Block& block, const DeviceHead& head,
                                          const DeviceRequest& request, int first_anchor,
                                          FilterShared* shared, CandidateKey* keys, int* count) {
  block.Step([&](int thread) {
    const int column = thread % kFilterAnchors;
    const int part = thread / kFilterAnchors;
    float best = 0;
    int best_class = -1;
    if (first_anchor + column < head.anchors()) {
      ScanPart(head, request, first_anchor + column, part, &best, &best_class);
    }
    shared->best[part][column] = best;
    shared->best_class[part][column] = best_class;
  });
  block.Step([&](int thread) {
    if (thread >= kFilterAnchors) return;
    float best = request.logit_floor;
    int best_class = -1;
    for (int part = 0; part < kFilterParts; ++part) {
      if (shared->best_class[part][thread] < 0 || !(shared->best[part][thread] > best)) continue;
      best = shared->best[part][thread];
      best_class = shared->best_class[part][thread];
    }
    const float score = Sigmoid(best);
    if (best_class < 0 || !(score > request.confidence)) return;
    const int anchor = first_anchor + thread;
    const HeadCell at = head.CellOf(anchor);
    if (head.one_to_one == 0) best_class = at.scale.LowestEqualClass(best_class, at.cell);
    if (!IsWanted(request, best_class)) return;
    if (!IsInSource(at.scale.BoxAt(head.bins, at.stride, at.cell), request.transform)) return;
    const int place = block.Increment(count);
    // Only a count that was not zero at the start could exceed it.
    if (place < head.anchors()) keys[place] = MakeKey(score, anchor, best_class);
  });
}

}  // namespace lattice

#endif  // LATTICE_GPU_KERNELS_CANDIDATE_FILTER_H_
