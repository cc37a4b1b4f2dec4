// What one block of the score filter does, in plain C++ (see letterbox_tile.h for `Block`). A block
// looks at 32 anchors; its warps share the classes among them.
//
// Beside Step, `Block` has Increment(counter): adds one and returns what was there, for one thread
// after the other, in any order.
#ifndef LATTICE_CUDA_KERNELS_CANDIDATE_FILTER_H_
#define LATTICE_CUDA_KERNELS_CANDIDATE_FILTER_H_

#include "native/base/host_device.h"
#include "native/cuda/kernels/candidate_key.h"
#include "native/cuda/kernels/device_detections.h"

namespace lattice {

inline constexpr int kFilterAnchors = 32;
inline constexpr int kFilterSlices = 8;
inline constexpr int kFilterThreads = kFilterAnchors * kFilterSlices;
inline constexpr int kScoresAtOnce = 16;  // a slice of 80 classes is ten

// Each slice's best class of each anchor.
struct FilterShared {
  float best[kFilterSlices][kFilterAnchors];
  int best_class[kFilterSlices][kFilterAnchors];  // -1: none above the threshold
};

LATTICE_HOST_DEVICE inline bool IsWanted(const DeviceRequest& request, int class_id) {
  return request.all_classes != 0 ||
         (request.class_mask[class_id / 32] >> (class_id % 32) & 1) != 0;
}

// One slice's share of the classes, lowest first: of equal scores the lowest class wins.
LATTICE_HOST_DEVICE inline void ScanSlice(const HeadView& head, float confidence, int anchor,
                                          int slice, float* best, int* best_class) {
  const int share = (head.classes + kFilterSlices - 1) / kFilterSlices;
  const int begin = slice * share;
  const int end = begin + share < head.classes ? begin + share : head.classes;
  *best = confidence;
  *best_class = -1;
  for (int c = begin; c < end; c += kScoresAtOnce) {
    // Loads first, so that a GPU thread waits for memory once and not for each score.
    float scores[kScoresAtOnce];
    LATTICE_UNROLL
    for (int i = 0; i < kScoresAtOnce; ++i) {
      scores[i] = c + i < end ? head.Score(c + i, anchor) : confidence;
    }
    LATTICE_UNROLL
    for (int i = 0; i < kScoresAtOnce; ++i) {
      if (!(scores[i] > *best)) continue;
      *best = scores[i];
      *best_class = c + i;
    }
  }
}

// Appends the anchors from `first_anchor` on that pass to `keys`, in any order, and counts them in
// `count`. `keys` has room for all anchors.
template <typename Block>
LATTICE_HOST_DEVICE void FilterCandidates(const Block& block, const HeadView& head,
                                          const DeviceRequest& request, int first_anchor,
                                          FilterShared* shared, CandidateKey* keys, int* count) {
  block.Step([&](int thread) {
    const int lane = thread % kFilterAnchors;
    const int slice = thread / kFilterAnchors;
    float best = 0;
    int best_class = -1;
    if (first_anchor + lane < head.anchors) {
      ScanSlice(head, request.confidence, first_anchor + lane, slice, &best, &best_class);
    }
    shared->best[slice][lane] = best;
    shared->best_class[slice][lane] = best_class;
  });
  block.Step([&](int thread) {
    if (thread >= kFilterAnchors) return;
    float best = request.confidence;
    int best_class = -1;
    for (int slice = 0; slice < kFilterSlices; ++slice) {
      if (shared->best_class[slice][thread] < 0 || !(shared->best[slice][thread] > best)) continue;
      best = shared->best[slice][thread];
      best_class = shared->best_class[slice][thread];
    }
    if (best_class < 0 || !IsWanted(request, best_class) || !IsFinite(best)) return;
    const int anchor = first_anchor + thread;
    if (!IsSound(head.BoxAt(anchor))) return;
    const int place = block.Increment(count);
    // Only a count that was not zero at the start could run over.
    if (place < head.anchors) keys[place] = MakeKey(best, anchor, best_class);
  });
}

}  // namespace lattice

#endif  // LATTICE_CUDA_KERNELS_CANDIDATE_FILTER_H_
