// The best pairs of anchor and class of a one-to-one head, whose boxes suppress none, in plain C++
// (see letterbox_tile.h for `Block`).
#ifndef LATTICE_GPU_KERNELS_BEST_PAIRS_H_
#define LATTICE_GPU_KERNELS_BEST_PAIRS_H_

#include "native/base/host_device.h"
#include "native/gpu/kernels/candidate_filter.h"
#include "native/gpu/kernels/suppression.h"

namespace lattice {

// Sorts the pairs of the page, of which the best `most` stay.
template <typename Block>
LATTICE_HOST_DEVICE void KeepBestPairs(const Block& block, int most, SuppressShared* shared) {
  const int pairs = shared->pairs;
  const int padded = PowerOfTwoFrom(pairs);
  block.Step([&](int thread) {
    for (int i = pairs + thread; i < padded; i += kSuppressThreads) {
      shared->keys[i] = kNoCandidate;
    }
  });
  SortKeys(block, kSuppressThreads, padded, shared->keys);
  block.Step([&](int thread) {
    if (thread == 0) shared->pairs = SmallerInt(pairs, most);
  });
}

// Keeps the best `most` pairs, of all that pass, with their boxes. The page's first `anchors` keys
// are the anchors of the highest scores: `most - 1` of them, among which the best `most - 1` pairs
// are, or all that there are.
template <typename Block>
LATTICE_HOST_DEVICE void TakeBestPairs(const Block& block, const DeviceHead& head,
                                       const DeviceRequest& request, int anchors, int most,
                                       SuppressShared* shared) {
  block.Step([&](int thread) {
    if (thread == 0) shared->pairs = 0;
    if (thread < anchors) shared->kept_keys[thread] = shared->keys[thread];
  });
  // The pairs are looked at in strips of as many as the page has space for.
  const int all = anchors * head.classes;
  for (int next = 0; next < all;) {
    if (shared->pairs > kPageKeys / 2) KeepBestPairs(block, most, shared);
    const int strip = SmallerInt(kPageKeys - shared->pairs, all - next);
    block.Step([](int) {});  // `pairs` has been read
    block.Step([&](int thread) {
      for (int i = next + thread; i < next + strip; i += kSuppressThreads) {
        const int class_id = i % head.classes;
        if (!IsWanted(request, class_id)) continue;
        const int anchor = AnchorOf(shared->kept_keys[i / head.classes]);
        const float score = head.Score(class_id, anchor);
        if (!(score > request.confidence)) continue;
        shared->keys[block.Increment(&shared->pairs)] = MakeKey(score, anchor, class_id);
      }
    });
    next += strip;
  }
  KeepBestPairs(block, most, shared);
  block.Step([&](int thread) {
    if (thread == 0) shared->kept = shared->pairs;
    if (thread >= shared->pairs) return;
    const CandidateKey key = shared->keys[thread];
    shared->kept_keys[thread] = key;
    shared->kept_boxes[thread].box = head.BoxAt(AnchorOf(key));
  });
}

}  // namespace lattice

#endif  // LATTICE_GPU_KERNELS_BEST_PAIRS_H_
